/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts and the order of ranks for a pattern, against walks through the tables and against all choices
 * that there are. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "random_fabrics_testing.h"

#include <heddle/keyd/key_choose.h>
#include <string.h>

struct job {
	struct hd_fabric *fabric;
	struct hd_routes *routes; /* may be NULL */
	uint32_t *others; /* [isl_count] flows of other jobs; may be NULL */
	struct hd_key_pattern *pattern;
	uint32_t *free, free_count, hosts;
};

static struct hd_key_pattern *pattern_of(const char *text, uint32_t ranks)
{
	struct hd_key_pattern *pattern = NULL;

	CHECK(hd_key_pattern_new(text, ranks, &pattern, &err));
	return pattern;
}

static struct hd_key_choose_request request_of(const struct job *job)
{
	return (struct hd_key_choose_request){.fabric = job->fabric,
					      .routes = job->routes,
					      .others = job->others,
					      .pattern = job->pattern,
					      .free = job->free,
					      .free_count = job->free_count,
					      .host_count = job->hosts,
					      .tries = 200,
					      .seed = 1};
}

/* `count` random hosts, in random order. */
static uint32_t *random_hosts(const struct hd_fabric *fabric, uint32_t count, uint64_t *random)
{
	uint32_t *hosts = calloc(fabric->host_count + 1, sizeof(*hosts));

	for (uint32_t i = 0; i < fabric->host_count; i++) {
		uint32_t at = below(random, i + 1);
		hosts[i] = hosts[at];
		hosts[at] = i;
	}
	assert_true(count <= fabric->host_count);
	return hosts;
}

static void job_end(struct job *job)
{
	hd_key_pattern_free(job->pattern);
	hd_routes_free(job->routes);
	hd_fabric_free(job->fabric);
	free(job->others);
	free(job->free);
}

/* ---- the slow worth ---- */

/* Counts a flow on its links; false: it does not arrive. */
static bool walk(const struct job *job, uint32_t from, uint32_t to, uint32_t *loads)
{
	const struct hd_fabric *fabric = job->fabric;
	uint32_t *switches = calloc(fabric->switch_count + 1, sizeof(*switches)), count = 0;
	uint32_t lid = fabric->lid[fabric->host_port[to]];
	bool arrives = from == to || hd_routes_walk(fabric, job->routes, fabric->host_switch[from],
						    lid, switches, &count) == HD_WALK_ARRIVED;

	for (uint32_t i = 0; arrives && i + 1 < count; i++)
		loads[hd_fabric_find_isl(fabric, switches[i],
					 hd_routes_port(job->routes, switches[i], lid))]++;
	free(switches);
	return arrives;
}

static uint32_t count_leaves(const struct job *job, const uint32_t *host_of)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++)
		for (uint32_t rank = 0; rank < job->pattern->ranks; rank++)
			if (job->fabric->host_switch[host_of[rank]] == sw) {
				count++;
				break;
			}
	return count;
}

static struct hd_key_worth slow_worth(const struct job *job, const uint32_t *host_of)
{
	uint32_t links = job->fabric->isl_count;
	uint32_t *loads = calloc(links + 1, sizeof(*loads));
	struct hd_key_worth worth = {.leaves = count_leaves(job, host_of)};

	for (uint32_t phase = 0; phase < job->pattern->phase_count; phase++) {
		uint32_t most = 0;
		memset(loads, 0, links * sizeof(*loads));
		for (uint32_t i = job->pattern->base[phase]; i < job->pattern->base[phase + 1]; i++)
			worth.lost += !walk(job, host_of[job->pattern->flows[i].source],
					    host_of[job->pattern->flows[i].destination], loads);
		for (uint32_t link = 0; link < links; link++) {
			if (loads[link] && job->others)
				loads[link] += job->others[link];
			worth.shared += loads[link] > 1;
			most = loads[link] > most ? loads[link] : most;
		}
		worth.keys += most > 1;
		worth.contention = most > worth.contention ? most : worth.contention;
	}
	free(loads);
	return worth;
}

/* All but the pods, of which walks know nothing. */
static void assert_worth(struct hd_key_worth worth, const struct hd_key_worth *expected)
{
	worth.pods = expected->pods;
	assert_int_equal(hd_key_worth_compare(&worth, expected), 0);
}

/* ---- random jobs ---- */

/* Flows on every third link. */
static uint32_t *random_others(const struct hd_fabric *fabric, uint64_t *random)
{
	uint32_t *others = calloc(fabric->isl_count + 1, sizeof(*others));

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (!below(random, 3))
			others[link] = 1 + below(random, 3);
	return others;
}

static void random_job(struct job *job, uint64_t *random, uint32_t hosts_max)
{
	static const char *const patterns[] = {
	    "ring",	 "alltoall", "stencil2d",	"transpose",
	    "stencil1d", "random:3", "halving-doubling"};
	uint32_t per_host = 1 + !below(random, 3);

	*job = (struct job){.fabric = random_fabric(random, 1)};
	uint32_t most = job->fabric->host_count;
	if (most > hosts_max)
		most = hosts_max;
	job->routes = random_routes(job->fabric, random, !below(random, 4), 1);
	if (!below(random, 3))
		job->others = random_others(job->fabric, random);
	job->free_count = 2 + below(random, most - 1);
	job->hosts = 2 + below(random, job->free_count - 1);
	job->free = random_hosts(job->fabric, job->free_count, random);
	job->pattern = pattern_of(patterns[below(random, 7)], job->hosts * per_host);
}

static void assert_valid(const struct job *job, const struct hd_key_choice *choice)
{
	uint32_t *uses = calloc(job->fabric->host_count, sizeof(*uses)), used = 0;
	uint32_t per_host = job->pattern->ranks / job->hosts;

	assert_int_equal(choice->ranks, job->pattern->ranks);
	assert_int_equal(choice->host_count, job->hosts);
	for (uint32_t rank = 0; rank < choice->ranks; rank++)
		uses[choice->host_of[rank]]++;
	for (uint32_t i = 0; i < job->free_count; i++) {
		uint32_t count = uses[job->free[i]];
		assert_true(count == 0 || count == per_host);
		used += count;
	}
	assert_int_equal(used, choice->ranks); /* so no rank is on a host that is not free */
	for (uint32_t i = 0; i < choice->host_count; i++) {
		assert_int_equal(uses[choice->hosts[i]], per_host);
		uses[choice->hosts[i]] = 0; /* each once */
	}
	free(uses);
}

static struct hd_key_choice *choose(const struct hd_key_choose_request *request)
{
	struct hd_key_choice *choice = NULL;

	CHECK(hd_key_choose(request, &choice, &err));
	return choice;
}

/* Property: the worth of any ranks on any hosts is what walks through the tables count. */
static void worth_is_what_walks_count(void **state)
{
	uint64_t random = 11;

	(void)state;
	for (unsigned trial = 0; trial < 400; trial++) {
		struct hd_key_worth worth;
		struct job job;
		random_job(&job, &random, 40);
		uint32_t *host_of = calloc(job.pattern->ranks, sizeof(*host_of));
		for (uint32_t rank = 0; rank < job.pattern->ranks; rank++)
			host_of[rank] = job.free[below(&random, job.free_count)];
		struct hd_key_choose_request request = request_of(&job);
		CHECK(hd_key_worth_of(&request, host_of, &worth, &err));
		assert_worth(slow_worth(&job, host_of), &worth);
		free(host_of);
		job_end(&job);
	}
}

/* Property: on any fabric with any tables, also broken ones, or without: each rank has a host that is
 * free, the hosts have equally many, the worth is that of these hosts and never less than that of
 * the hosts as given, and the same request gives the same answer. */
static void never_worse_than_given(void **state)
{
	uint64_t random = 5;
	unsigned better = 0;

	(void)state;
	for (unsigned trial = 0; trial < 400; trial++) {
		struct hd_key_worth worth;
		struct job job;
		random_job(&job, &random, 40);
		struct hd_key_choose_request request = request_of(&job);
		if (!below(&random, 4))
			request.routes = NULL;
		struct hd_key_choice *choice = choose(&request), *again = choose(&request);
		assert_valid(&job, choice);
		CHECK(hd_key_worth_of(&request, choice->host_of, &worth, &err));
		assert_int_equal(hd_key_worth_compare(&worth, &choice->chosen), 0);
		if (request.routes)
			assert_worth(slow_worth(&job, choice->host_of), &choice->chosen);
		int order = hd_key_worth_compare(&choice->chosen, &choice->given);
		assert_true(order <= 0);
		better += order < 0;
		assert_memory_equal(choice->host_of, again->host_of,
				    choice->ranks * sizeof(uint32_t));
		hd_key_choice_free(choice);
		hd_key_choice_free(again);
		job_end(&job);
	}
	print_message("%u of 400 are better than given\n", better);
	assert_true(better > 150);
}

/* ---- all choices ---- */

struct search {
	const struct job *job;
	struct hd_key_worth best;
	uint32_t host_of[8];
	bool used[8];
	bool any;
};

static void search_all(struct search *search, uint32_t rank)
{
	const struct job *job = search->job;

	if (rank == job->hosts) {
		struct hd_key_worth worth = slow_worth(job, search->host_of);
		if (!search->any || hd_key_worth_compare(&worth, &search->best) < 0)
			search->best = worth;
		search->any = true;
		return;
	}
	for (uint32_t i = 0; i < job->free_count; i++) {
		if (search->used[i])
			continue;
		search->used[i] = true;
		search->host_of[rank] = job->free[i];
		search_all(search, rank + 1);
		search->used[i] = false;
	}
}

/* Property: on tiny fabrics the choice is never better than the best of all choices, and nearly
 * always as good. */
static void nearly_the_best_of_all(void **state)
{
	uint64_t random = 3;
	unsigned trials = 150, best_keys = 0, best = 0;

	(void)state;
	for (unsigned trial = 0; trial < trials; trial++) {
		struct job job;
		do {
			random_job(&job, &random, 6);
			if (job.pattern->ranks == job.hosts)
				break;
			job_end(&job);
		} while (true);
		struct hd_key_choose_request request = request_of(&job);
		struct hd_key_choice *choice = choose(&request);
		struct search search = {.job = &job};
		search_all(&search, 0);
		struct hd_key_worth worth = choice->chosen;
		worth.pods = 0;
		int order = hd_key_worth_compare(&worth, &search.best);
		assert_true(order >= 0);
		best += !order;
		best_keys += worth.lost == search.best.lost && worth.keys == search.best.keys;
		hd_key_choice_free(choice);
		job_end(&job);
	}
	print_message("%u of %u need as few keys as can be, %u are the best of all\n", best_keys,
		      trials, best);
	assert_true(best_keys >= trials * 95 / 100);
	assert_true(best >= trials * 85 / 100);
}

/* ---- known answers ---- */

/* XGFT(3; 6,6,6): 36 leaves of 6 hosts in 6 pods. `free`: all hosts in random order. */
static void tree_job(struct job *job, const char *pattern, uint32_t hosts, uint64_t seed)
{
	*job = (struct job){.fabric = generate("xgft", "children=6,6,6 parents=1,6,6"),
			    .free_count = 216,
			    .hosts = hosts};
	job->routes = route("dmodk", job->fabric);
	job->free = random_hosts(job->fabric, 216, &seed);
	job->pattern = pattern_of(pattern, hosts);
}

static void assert_no_keys(const char *pattern, uint32_t hosts, uint32_t leaves, uint32_t pods)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct job job;
		tree_job(&job, pattern, hosts, seed);
		struct hd_key_choose_request request = request_of(&job);
		request.tries = 0;
		struct hd_key_choice *choice = choose(&request);
		assert_true(choice->given.leaves > leaves);
		assert_int_equal(choice->chosen.keys, 0);
		assert_int_equal(choice->chosen.leaves, leaves);
		assert_int_equal(choice->chosen.pods, pods);
		hd_key_choice_free(choice);
		job_end(&job);
	}
}

/* Property: in an empty tree a job gets whole leaves of as few pods as there can be, or leaves with
 * equally many hosts, in an order in which D-mod-K's routes keep its flows apart. No luck is needed. */
static void an_empty_tree_needs_no_keys(void **state)
{
	(void)state;
	assert_no_keys("ring", 9, 2, 1);
	assert_no_keys("alltoall", 15, 3, 1);
	assert_no_keys("alltoall", 16, 4, 1);
	assert_no_keys("alltoall", 48, 8, 2);
	assert_no_keys("ring", 36, 6, 1);
	assert_no_keys("ring", 72, 12, 2);
	assert_no_keys("alltoall", 36, 6, 1);
	assert_no_keys("stencil2d:6x6", 36, 6, 1);
	assert_no_keys("stencil2d:12x6", 72, 12, 2);
}

/* Property: a job that fits into a leaf gets the one that is left the fullest. */
static void a_small_job_takes_the_fullest_leaf(void **state)
{
	struct job job;

	(void)state;
	tree_job(&job, "ring", 4, 1);
	uint32_t count = 0;
	for (uint32_t host = 0; host < 216; host++) /* leaf n has n % 6 + 1 free hosts */
		if (host % 6 <= host / 6 % 6 && host / 6 != 3)
			job.free[count++] = host;
	job.free_count = count;
	struct hd_key_choose_request request = request_of(&job);
	struct hd_key_choice *choice = choose(&request);
	assert_int_equal(choice->chosen.leaves, 1);
	assert_int_equal(choice->chosen.keys, 0);
	assert_int_equal(choice->hosts[0] / 6 % 6, 3);
	hd_key_choice_free(choice);
	job_end(&job);
}

/* Property: without tables each leaf counts as one link: a ring leaves each only once. */
static void without_tables(void **state)
{
	struct job job;

	(void)state;
	tree_job(&job, "ring", 30, 9);
	struct hd_key_choose_request request = request_of(&job);
	request.routes = NULL;
	struct hd_key_choice *choice = choose(&request);
	assert_int_equal(choice->chosen.keys, 0);
	assert_int_equal(choice->chosen.leaves, 5);
	assert_true(choice->given.keys == 1 && choice->given.contention >= 2);
	hd_key_choice_free(choice);
	job_end(&job);
}

/* Property: a job keeps off the links of others. Two hosts of one leaf send to two of another pod; all
 * links upwards of that leaf carry flows of others, so the ranks go where no link is shared. */
static void others_are_avoided(void **state)
{
	struct job job;

	(void)state;
	tree_job(&job, "ring", 12, 1);
	for (uint32_t host = 0; host < 216; host++)
		job.free[host] = host;
	job.others = calloc(job.fabric->isl_count, sizeof(*job.others));
	struct hd_key_choose_request request = request_of(&job);
	struct hd_key_choice *alone = choose(&request);
	assert_int_equal(alone->chosen.keys, 0);
	for (uint32_t link = 0; link < job.fabric->isl_count; link++)
		if (hd_isl_from(job.fabric, link) == job.fabric->host_switch[alone->hosts[0]])
			job.others[link] = 1;
	struct hd_key_choice *choice = choose(&request);
	struct hd_key_worth worth;
	CHECK(hd_key_worth_of(&request, alone->host_of, &worth, &err));
	assert_true(worth.keys == 1 && worth.contention == 2 && worth.shared == 1);
	assert_int_equal(choice->chosen.keys, 0);
	request.routes = NULL; /* then links are not known, and others do not count */
	CHECK(hd_key_worth_of(&request, alone->host_of, &worth, &err));
	assert_int_equal(worth.keys, 0);
	hd_key_choice_free(alone);
	hd_key_choice_free(choice);
	job_end(&job);
}

static bool ask_some_times(void *context)
{
	unsigned *left = context;

	return *left && (*left)--;
}

/* Property: a search that is stopped gives the best that it has found, also if that is what was given. */
static void a_stopped_search_has_a_result(void **state)
{
	struct hd_key_worth last;
	struct job job;
	unsigned left, times[] = {0, 1, 5, 50, 1000000};

	(void)state;
	tree_job(&job, "alltoall", 40, 7);
	struct hd_key_choose_request request = request_of(&job);
	request.go_on = (struct hd_go_on){ask_some_times, &left};
	for (unsigned i = 0; i < 5; i++) {
		left = times[i];
		struct hd_key_choice *choice = choose(&request);
		assert_valid(&job, choice);
		assert_int_equal(choice->stopped, i < 4);
		assert_true(i || !hd_key_worth_compare(&choice->chosen, &choice->given));
		assert_true(!i || hd_key_worth_compare(&choice->chosen, &last) <= 0);
		last = choice->chosen;
		hd_key_choice_free(choice);
	}
	assert_true(left > 999000);
	job_end(&job);
}

static void assert_error(const struct hd_key_choose_request *request, int rc, const char *reason)
{
	struct hd_key_choice *choice = NULL;
	struct hd_error err = {""};

	assert_int_equal(hd_key_choose(request, &choice, &err), rc);
	assert_null(choice);
	assert_non_null(strstr(err.text, reason));
}

/* Property: requests that make no sense are refused with the reason. */
static void bad_requests(void **state)
{
	struct job job;
	struct hd_key_worth worth;
	struct hd_error err = {""};
	uint32_t far[36] = {216};

	(void)state;
	tree_job(&job, "ring", 36, 1);
	struct hd_key_choose_request request = request_of(&job);
	request.host_count = 0;
	assert_error(&request, -EINVAL, "needs a host");
	request.host_count = 35;
	assert_error(&request, -EINVAL, "35 hosts cannot share 36 ranks evenly");
	request.host_count = 36;
	request.free_count = 35;
	assert_error(&request, -ERANGE, "36 hosts are wanted, and 35 are free");
	request.free_count = 36;
	job.free[7] = job.free[3];
	assert_error(&request, -EINVAL, "twice");
	job.free[7] = 216;
	assert_error(&request, -EINVAL, "free host 216: the fabric has 216 hosts");
	assert_int_equal(hd_key_worth_of(&request, far, &worth, &err), -EINVAL);
	job_end(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(worth_is_what_walks_count),
	    cmocka_unit_test(never_worse_than_given),
	    cmocka_unit_test(nearly_the_best_of_all),
	    cmocka_unit_test(an_empty_tree_needs_no_keys),
	    cmocka_unit_test(a_small_job_takes_the_fullest_leaf),
	    cmocka_unit_test(without_tables),
	    cmocka_unit_test(others_are_avoided),
	    cmocka_unit_test(a_stopped_search_has_a_result),
	    cmocka_unit_test(bad_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
