/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Offsets of flows: chosen as by a slow, obvious way; written to an answer and read again; damaged answers. */
#include <keyd_offsets.h>
#include <keyd_paths.h>

#include <errno.h>
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOSTS 24u
#define LEAVES 4u
#define RANKS 30u
#define PHASES 4u
#define FLOWS 60u /* of a phase, at most */
#define TRIALS 3000u
#define FIRST 5u /* offset of the job */

/* ---- a job ---- */

struct job {
	uint32_t host_switch[HOSTS], rank_host[RANKS];
	uint32_t base[PHASES + 1];
	struct hd_rank_flow flows[PHASES * FLOWS];
	struct hd_key keys[PHASES], *key_list[PHASES];
	struct hd_fabric fabric;
	struct hd_key_pattern pattern;
	struct keyd_paths_request request;
};

static void make_flows(struct job *job, uint64_t *random)
{
	struct hd_key_pattern *pattern = &job->pattern;

	*pattern =
	    (struct hd_key_pattern){.ranks = 2 + (uint32_t)hd_random_below(random, RANKS - 1),
				    .phase_count = 1 + (uint32_t)hd_random_below(random, PHASES),
				    .base = job->base,
				    .flows = job->flows};
	for (uint32_t phase = 0; phase < pattern->phase_count; phase++) {
		uint32_t count = (uint32_t)hd_random_below(random, FLOWS);
		uint32_t targets = 1 + (uint32_t)hd_random_below(random, pattern->ranks);

		job->base[phase + 1] = job->base[phase] + count;
		for (uint32_t i = job->base[phase]; i < job->base[phase + 1]; i++) {
			uint32_t source = (uint32_t)hd_random_below(random, pattern->ranks);
			uint32_t other = (uint32_t)hd_random_below(random, targets);
			job->flows[i] = (struct hd_rank_flow){
			    source, other != source ? other : (source + 1) % pattern->ranks};
		}
		job->keys[phase] = (struct hd_key){
		    .contention = 1 + (uint32_t)(hd_random_below(random, 4) > 0),
		    .wanted_offsets = 1 + (uint32_t)(hd_random_below(random, 4) > 0)};
		job->key_list[phase] = &job->keys[phase];
	}
}

static void make_job(struct job *job, uint64_t *random)
{
	memset(job, 0, sizeof(*job));
	for (uint32_t host = 0; host < HOSTS; host++)
		job->host_switch[host] = (uint32_t)hd_random_below(random, LEAVES);
	for (uint32_t rank = 0; rank < RANKS; rank++) /* some hosts have several ranks */
		job->rank_host[rank] = (uint32_t)hd_random_below(random, HOSTS);
	make_flows(job, random);
	job->fabric = (struct hd_fabric){.host_count = HOSTS, .host_switch = job->host_switch};
	job->request = (struct keyd_paths_request){
	    .pattern = &job->pattern,
	    .fabric = &job->fabric,
	    .rank_host = job->rank_host,
	    .keys = job->key_list,
	    .own_offsets = hd_random_below(random, 2),
	    .offsets_max = PHASES + (uint32_t)hd_random_below(random, 12)};
}

static bool crowded(const struct job *job, uint32_t phase)
{
	return job->keys[phase].contention > 1 && job->keys[phase].wanted_offsets > 1;
}

/* Whether a flow leaves its leaf, and goes from a host to a host. */
static bool goes(const struct job *job, uint32_t flow, uint32_t source, uint32_t destination)
{
	uint32_t from = job->rank_host[job->flows[flow].source];
	uint32_t to = job->rank_host[job->flows[flow].destination];

	return from == source && to == destination &&
	       job->host_switch[from] != job->host_switch[to];
}

static bool sends(const struct job *job, uint32_t phase, uint32_t source, uint32_t destination)
{
	bool any = false;

	for (uint32_t i = job->base[phase]; i < job->base[phase + 1]; i++)
		any |= goes(job, i, source, destination);
	return any;
}

/* ---- the slow way ---- */

/* How many hosts before this one, below the same leaf, send to the same host in a phase. */
static uint32_t hosts_before(const struct job *job, uint32_t phase, uint32_t source,
			     uint32_t destination)
{
	uint32_t count = 0;

	for (uint32_t host = 0; host < source; host++)
		count += job->host_switch[host] == job->host_switch[source] &&
			 sends(job, phase, host, destination);
	return count;
}

/* How many offsets a phase takes if each flow has its own. */
static uint32_t offsets_of_flows(const struct job *job, uint32_t phase)
{
	uint32_t most = 1;

	for (uint32_t host = 0; crowded(job, phase) && host < HOSTS; host++)
		for (uint32_t other = 0; other < HOSTS; other++)
			if (sends(job, phase, host, other) &&
			    hosts_before(job, phase, host, other) >= most)
				most = hosts_before(job, phase, host, other) + 1;
	return most;
}

/* Whether two hosts of a leaf send to one host in a crowded phase. */
static bool clash(const struct job *job, uint32_t host, uint32_t other)
{
	bool any = false;

	if (job->host_switch[host] != job->host_switch[other])
		return false;
	for (uint32_t phase = 0; phase < job->pattern.phase_count; phase++)
		for (uint32_t to = 0; crowded(job, phase) && to < HOSTS; to++)
			any |= sends(job, phase, host, to) && sends(job, phase, other, to);
	return any;
}

/* Hosts take the lowest offset that no host before has with which they clash. Returns how many there are. */
static uint32_t offsets_of_hosts(const struct job *job, uint32_t offset[HOSTS])
{
	uint32_t most = 1;

	for (uint32_t host = 0; host < HOSTS; host++) {
		bool free = false;

		for (offset[host] = 0; !free; offset[host] += !free) {
			free = true;
			for (uint32_t other = 0; other < host; other++)
				free &= offset[other] != offset[host] || !clash(job, host, other);
		}
		most = offset[host] + 1 > most ? offset[host] + 1 : most;
	}
	return most;
}

/* What each flow is to have, and each phase. Returns whether all flows of a rank have one offset. */
static bool expect(const struct job *job, uint32_t of_host[HOSTS], uint32_t counts[PHASES])
{
	const struct keyd_paths_request *request = &job->request;
	uint32_t phases = job->pattern.phase_count;
	uint32_t spare = request->offsets_max - (request->own_offsets ? phases : 1);
	uint32_t hosts = offsets_of_hosts(job, of_host);
	const bool by_host = !request->own_offsets && hosts <= request->offsets_max;

	for (uint32_t phase = 0; phase < phases; phase++) {
		counts[phase] = by_host ? hosts : offsets_of_flows(job, phase);
		if (counts[phase] - 1 > spare)
			counts[phase] = 1;
		else if (request->own_offsets)
			spare -= counts[phase] - 1;
	}
	return by_host;
}

static void check_choice(const struct job *job, const struct keyd_paths *paths)
{
	uint32_t of_host[HOSTS], counts[PHASES], all = 0, most = 1;
	const bool by_host = expect(job, of_host, counts);

	for (uint32_t phase = 0; phase < job->pattern.phase_count; phase++) {
		assert_int_equal(keyd_paths_count(paths, phase), counts[phase]);
		if (paths)
			assert_int_equal(paths->phases[phase].first,
					 job->request.own_offsets ? all : 0);
		all += counts[phase];
		most = counts[phase] > most ? counts[phase] : most;
		for (uint32_t i = job->base[phase]; i < job->base[phase + 1]; i++) {
			const struct hd_rank_flow *flow = &job->flows[i];
			uint32_t from = job->rank_host[flow->source],
				 to = job->rank_host[flow->destination];
			uint32_t wanted = by_host ? of_host[from]
					  : goes(job, i, from, to)
					      ? hosts_before(job, phase, from, to)
					      : 0;
			assert_int_equal(
			    keyd_paths_offset(paths, phase, flow->source, flow->destination),
			    counts[phase] > 1 ? wanted : 0);
		}
	}
	if (paths)
		assert_int_equal(paths->offsets, job->request.own_offsets ? all : most);
}

static struct keyd_paths *choose(const struct job *job)
{
	struct keyd_paths *paths;

	assert_int_equal(keyd_paths_choose(&job->request, &paths), 0);
	return paths;
}

/* Flows from one leaf to one host have different offsets, and those are the ones of the slow way. */
static void test_choices(void **state)
{
	uint64_t random = 1;
	unsigned kinds[3] = {0};

	(void)state;
	for (unsigned trial = 0; trial < TRIALS; trial++) {
		static struct job job;
		struct keyd_paths *paths;

		make_job(&job, &random);
		paths = choose(&job);
		check_choice(&job, paths);
		kinds[!paths ? 0 : paths->of_rank ? 1 : 2]++;
		keyd_paths_free(paths);
	}
	assert_true(kinds[0] > 100 && kinds[1] > 100 && kinds[2] > 100);
}

/* The paths of a rank are those that a look at all of them finds. */
static void test_paths_of_a_rank(void **state)
{
	uint64_t random = 2;

	(void)state;
	for (unsigned trial = 0; trial < TRIALS / 10; trial++) {
		static struct job job;
		struct keyd_paths *paths;

		make_job(&job, &random);
		paths = choose(&job);
		for (uint32_t phase = 0; phase < job.pattern.phase_count; phase++) {
			uint32_t all, met = 0, count;
			const struct keyd_path *list = keyd_paths_of(paths, phase, HD_NONE, &all);

			for (uint32_t rank = 0; rank < job.pattern.ranks; rank++) {
				const struct keyd_path *own =
				    keyd_paths_of(paths, phase, rank, &count);
				for (uint32_t i = 0; i < count; i++, met++)
					assert_true(own[i].source == rank && own + i == list + met);
			}
			assert_int_equal(met, all);
		}
		keyd_paths_free(paths);
	}
}

/* ---- answers ---- */

/* As in an answer to a placement. */
static char *write_answer(const struct keyd_paths *paths)
{
	struct keyd_writer writer = {0};

	keyd_write(&writer, "{");
	keyd_paths_write_ranks(&writer, paths, FIRST);
	keyd_write_name(&writer, "keys");
	keyd_write(&writer, "[");
	for (uint32_t phase = 0; phase < paths->phase_count; phase++) {
		keyd_write_comma(&writer);
		keyd_write(&writer, "{");
		keyd_write_name(&writer, "offset");
		keyd_write_number(&writer, FIRST + paths->phases[phase].first);
		keyd_paths_write(&writer, paths, phase, FIRST + paths->phases[phase].first);
		keyd_write(&writer, "}");
	}
	keyd_write(&writer, "]}");
	struct keyd_text *text = keyd_writer_end(&writer);
	char *copy = strdup(text->bytes);
	keyd_text_release(text);
	return copy;
}

static void check_same(const struct keyd_paths *paths, const struct keyd_paths *other)
{
	assert_int_equal(paths->offsets, other->offsets);
	assert_int_equal(paths->phase_count, other->phase_count);
	assert_int_equal(!paths->of_rank, !other->of_rank);
	if (paths->of_rank)
		assert_memory_equal(paths->of_rank, other->of_rank, paths->rank_count);
	for (uint32_t phase = 0; phase < paths->phase_count; phase++) {
		uint32_t count, others;
		const struct keyd_path *list = keyd_paths_of(paths, phase, HD_NONE, &count);
		const struct keyd_path *read = keyd_paths_of(other, phase, HD_NONE, &others);

		assert_int_equal(paths->phases[phase].first, other->phases[phase].first);
		assert_int_equal(paths->phases[phase].count, other->phases[phase].count);
		assert_int_equal(count, others);
		if (count)
			assert_memory_equal(list, read, count * sizeof(*list));
	}
}

/* An answer is read as it was written, also if some phases have one offset after all. */
static void test_answers_are_read(void **state)
{
	uint64_t random = 3;
	unsigned written = 0;

	(void)state;
	for (unsigned trial = 0; trial < TRIALS / 3; trial++) {
		static struct job job;
		struct keyd_paths *paths, *read;

		make_job(&job, &random);
		paths = choose(&job);
		if (paths && !paths->of_rank)
			keyd_paths_drop(paths,
					(uint32_t)hd_random_below(&random, paths->phase_count));
		if (paths && keyd_paths_settle(paths, job.request.own_offsets)) {
			char *answer = write_answer(paths);
			assert_int_equal(keyd_paths_read(answer, FIRST, job.pattern.ranks,
							 job.request.own_offsets, &read),
					 0);
			check_same(paths, read);
			written++;
			keyd_paths_free(read);
			free(answer);
		}
		keyd_paths_free(paths);
	}
	assert_true(written > 100);
}

static void test_answers_without_paths(void **state)
{
	static const char *const answers[] = {
	    "", "no JSON", "{}", "{\"keys\":[{\"offset\":5}]}",
	    "{\"keys\":[{\"offset\":5,\"offsets\":1,\"paths\":[]}]}x"};
	struct keyd_paths *paths;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(keyd_paths_read(answers[i], FIRST, 4, false, &paths), 0);
		assert_null(paths);
	}
	assert_int_equal(keyd_paths_read(answers[4], FIRST, 4, false, &paths), -EINVAL);
}

#define KEY(offsets, paths)                                                                        \
	"{\"keys\":[{\"offset\":5,\"offsets\":" offsets ",\"paths\":" paths "}]}"
#define RANKS_OF(list, second)                                                                     \
	"{\"rank_offsets\":" list ",\"keys\":[{\"offset\":5,\"offsets\":3},{\"offset\":5" second   \
	"}]}"

/* Each mistake is found. Four ranks; the job begins at offset 5. */
static void test_damaged_answers(void **state)
{
	static const char *const good[] = {KEY("2", "[[0,3,6],[2,3,6]]"),
					   RANKS_OF("[[1,6],[3,7]]", ",\"offsets\":3"),
					   RANKS_OF("[[1,6],[3,7]]", "")};
	static const char *const bad[] = {
	    "\"paths\"",
	    "{\"paths\":[]}",
	    "{\"keys\":[],\"paths\":[]}",
	    "{\"keys\":{},\"paths\":[]}",
	    KEY("1", "[[0,3,6]]"),
	    KEY("-1", "[[0,3,6]]"),
	    KEY("128", "[[0,3,6]]"),
	    KEY("4294967298", "[[0,3,6]]"),
	    KEY("\"2\"", "[[0,3,6]]"),
	    KEY("2", "[[0,3,7]]"), /* above the offsets of the phase */
	    KEY("2", "[[0,3,4]]"), /* below them */
	    KEY("2", "[[4,3,6]]"),
	    KEY("2", "[[0,4,6]]"),
	    KEY("2", "[[-1,3,6]]"),
	    KEY("2", "[[0,3]]"),
	    KEY("2", "[0,3,6]"),
	    KEY("2", "[[0,3,6.0]]"),
	    KEY("2", "[[0,3,6],[0,3,6]]"),
	    KEY("2", "[[2,3,6],[0,3,6]]"),
	    RANKS_OF("[[1,6],[3,8]]", ",\"offsets\":3"),
	    RANKS_OF("[[4,6]]", ",\"offsets\":3"),
	    RANKS_OF("[[1,4]]", ",\"offsets\":3"),
	    RANKS_OF("[[1]]", ",\"offsets\":3"),
	    RANKS_OF("[1,6]", ",\"offsets\":3"),
	    RANKS_OF("[[1,6],[3,7]]", ",\"offsets\":2"), /* rank 3 would be beyond */
	};
	struct keyd_paths *paths;

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(keyd_paths_read(good[i], FIRST, 4, false, &paths), 0);
		assert_non_null(paths);
		keyd_paths_free(paths);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (keyd_paths_read(bad[i], FIRST, 4, false, &paths) != -EINVAL)
			fail_msg("%s", bad[i]);
		assert_null(paths);
	}
}

/* All that can be asked about answers that are believed is in range. */
static void check_range(const struct keyd_paths *paths, uint32_t ranks)
{
	for (uint32_t phase = 0; phase < paths->phase_count; phase++) {
		uint32_t count;
		const struct keyd_path *list = keyd_paths_of(paths, phase, HD_NONE, &count);

		assert_true(paths->phases[phase].count < KEYD_OFFSETS_LIMIT);
		for (uint32_t i = 0; i < count; i++)
			assert_true(list[i].source < ranks && list[i].destination < ranks);
		for (uint32_t rank = 0; rank < ranks; rank++)
			for (uint32_t other = 0; other < ranks; other++)
				assert_true(keyd_paths_offset(paths, phase, rank, other) <
					    paths->phases[phase].count);
	}
}

/* Answers with some bytes changed, taken away or doubled are refused, or are sound. */
static void test_random_damage(void **state)
{
	static const char bytes[] = "0123456789[]{},:-\"e.";
	uint64_t random = 4;
	unsigned refused = 0, believed = 0;

	(void)state;
	for (unsigned trial = 0; trial < TRIALS; trial++) {
		static struct job job;
		struct keyd_paths *paths, *read;
		char *answer;

		make_job(&job, &random);
		paths = choose(&job);
		if (!paths)
			continue;
		answer = write_answer(paths);
		for (uint64_t changes = 1 + hd_random_below(&random, 3); changes; changes--) {
			char *at = answer + hd_random_below(&random, strlen(answer));
			if (hd_random_below(&random, 3))
				*at = bytes[hd_random_below(&random, sizeof(bytes) - 1)];
			else
				memmove(at, at + 1, strlen(at));
		}
		int rc = keyd_paths_read(answer, FIRST, job.pattern.ranks, job.request.own_offsets,
					 &read);
		assert_true(rc == 0 || rc == -EINVAL);
		refused += rc != 0;
		believed += read != NULL;
		if (read)
			check_range(read, job.pattern.ranks);
		keyd_paths_free(read);
		keyd_paths_free(paths);
		free(answer);
	}
	assert_true(refused > 100 && believed > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_choices),	     cmocka_unit_test(test_paths_of_a_rank),
	    cmocka_unit_test(test_answers_are_read), cmocka_unit_test(test_answers_without_paths),
	    cmocka_unit_test(test_damaged_answers),  cmocka_unit_test(test_random_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
