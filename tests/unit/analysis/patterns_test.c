/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each pattern is made of. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "testing.h"

struct scene {
	struct hd_fabric *fabric;
	struct hd_ranks *ranks;
};

/* `hosts` on one switch. */
static struct scene scene_of(unsigned hosts)
{
	char settings[32];

	snprintf(settings, sizeof(settings), "k=%u n=1", hosts);
	struct scene scene = {.fabric = generate("kary-ntree", settings)};
	scene.ranks = all_ranks(scene.fabric);
	assert_int_equal(scene.ranks->count, hosts);
	return scene;
}

static void scene_end(struct scene *scene)
{
	hd_ranks_free(scene->ranks);
	hd_fabric_free(scene->fabric);
}

/* Flows of a round as "0>1 1>2 ..." in the order they come. */
static const char *round_text(const struct scene *scene, const struct hd_pattern *pattern,
			      uint32_t round)
{
	static char text[4096];
	struct hd_error err = {""};
	struct hd_flow flows[256];
	uint32_t count = 0;
	size_t used = 0;

	assert_true(pattern->round_max <= 256);
	CHECK(hd_pattern_draw(pattern, scene->ranks, HD_MAP_IDENTITY, 1, 0, round, flows, &count,
			      &err));
	assert_true(count <= pattern->round_max);
	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u>%u", i ? " " : "",
					 flows[i].source, flows[i].destination);
	return text;
}

/* rounds: one string a round, NULL at the end. */
static void assert_rounds(unsigned hosts, const char *kind, const char *settings,
			  const char *const *rounds)
{
	struct scene scene = scene_of(hosts);
	struct hd_pattern *pattern = pattern_of(kind, settings, scene.ranks);
	uint32_t count = 0;

	for (; rounds[count]; count++)
		assert_string_equal(round_text(&scene, pattern, count), rounds[count]);
	assert_int_equal(pattern->rounds, count);
	hd_pattern_free(pattern);
	scene_end(&scene);
}

#define ROUNDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void one_round_permutations_are_what_they_say(void **state)
{
	(void)state;
	assert_rounds(4, "shift", "distance=3", ROUNDS("0>3 1>0 2>1 3>2"));
	assert_rounds(3, "ring", "", ROUNDS("0>1 1>2 2>0"));
	assert_rounds(3, "pipeline", "", ROUNDS("0>1 1>2"));
	assert_rounds(5, "complement", "", ROUNDS("0>4 1>3 3>1 4>0"));
	assert_rounds(9, "bit-reversal", "", ROUNDS("1>4 3>6 4>1 6>3"));
	assert_rounds(5, "transpose", "", ROUNDS("1>2 2>1"));
}

static void collectives_have_their_rounds(void **state)
{
	(void)state;
	assert_rounds(3, "all-to-all", "", ROUNDS("0>1 1>2 2>0", "0>2 1>0 2>1"));
	assert_rounds(3, "pairwise", "", ROUNDS("0>1 1>0", "0>2 2>0", "1>2 2>1"));
	assert_rounds(5, "dissemination", "",
		      ROUNDS("0>1 1>2 2>3 3>4 4>0", "0>2 1>3 2>4 3>0 4>1", "0>4 1>0 2>1 3>2 4>3"));
	assert_rounds(7, "tree", "", ROUNDS("0>1", "0>2 1>3", "0>4 1>5 2>6"));
	assert_rounds(4, "recursive-doubling", "", ROUNDS("0>1 1>0 2>3 3>2", "0>2 1>3 2>0 3>1"));
	assert_rounds(5, "recursive-doubling", "",
		      ROUNDS("4>0", "0>1 1>0 2>3 3>2", "0>2 1>3 2>0 3>1", "0>4"));
	assert_rounds(3, "gather", "root=1", ROUNDS("0>1 2>1"));
	assert_rounds(3, "scatter", "root=2", ROUNDS("2>0 2>1"));
}

static void neighbours_form_grids(void **state)
{
	(void)state;
	assert_rounds(4, "neighbours", "dimensions=1", ROUNDS("0>1 0>3 1>2 1>0 2>3 2>1 3>0 3>2"));
	assert_rounds(4, "neighbours", "dimensions=1 periodic=no",
		      ROUNDS("0>1 1>2 1>0 2>3 2>1 3>2"));
	assert_rounds(5, "neighbours", "dimensions=2", ROUNDS("0>1 0>2 1>0 1>3 2>3 2>0 3>2 3>1"));
	assert_rounds(5, "neighbours", "dimensions=2 grid=auto",
		      ROUNDS("0>1 0>2 1>0 1>3 2>3 2>0 3>2 3>1"));
	assert_rounds(6, "neighbours", "grid=2,1,2", ROUNDS("0>1 0>2 1>0 1>3 2>3 2>0 3>2 3>1"));
}

/* 64 = 4 * 4 * 4 and 120 = 4 * 5 * 6 ranks are all used; of 106 it takes 4 * 5 * 5, as 3 * 5 * 7
 * is no longer near a cube. */
static void a_grid_is_near_a_cube_and_leaves_few_ranks_idle(void **state)
{
	(void)state;
	const unsigned hosts[] = {64, 120, 106}, used[] = {64, 120, 100};
	for (unsigned i = 0; i < 3; i++) {
		struct scene scene = scene_of(hosts[i]);
		struct hd_pattern *pattern = pattern_of("neighbours", "", scene.ranks);
		assert_int_equal(pattern->number[0] * pattern->number[1] * pattern->number[2],
				 used[i]);
		hd_pattern_free(pattern);
		scene_end(&scene);
	}
}

/* ---- random ones ---- */

static uint32_t draw(const struct scene *scene, const struct hd_pattern *pattern, uint64_t index,
		     struct hd_flow *flows)
{
	struct hd_error err = {""};
	uint32_t count = 0;

	CHECK(hd_pattern_draw(pattern, scene->ranks, HD_MAP_RANDOM, 5, index, 0, flows, &count,
			      &err));
	return count;
}

/* Four ranks have 4! / 2! = 12 bisections when the order of pairs does not count; each must come
 * up as often as the others: chi-square with 11 degrees of freedom below its 0.9999 quantile. */
static void bisections_are_drawn_uniformly(void **state)
{
	(void)state;
	enum { DRAWS = 24000 };
	struct scene scene = scene_of(4);
	struct hd_pattern *pattern = pattern_of("bisect", "", scene.ranks);
	unsigned seen[256] = {0}, different = 0;
	double chi_square = 0;
	for (uint64_t index = 0; index < DRAWS; index++) {
		struct hd_flow flows[4];
		assert_int_equal(draw(&scene, pattern, index, flows), 2);
		unsigned first = flows[0].source * 4 + flows[0].destination;
		unsigned second = flows[1].source * 4 + flows[1].destination;
		seen[first < second ? first * 16 + second : second * 16 + first]++;
	}
	for (unsigned i = 0; i < 256; i++) {
		double off = (double)seen[i] - DRAWS / 12.0;
		different += seen[i] > 0;
		chi_square += seen[i] ? off * off / (DRAWS / 12.0) : 0;
	}
	assert_int_equal(different, 12);
	assert_true(chi_square < 37.4);
	hd_pattern_free(pattern);
	scene_end(&scene);
}

static void a_bisection_has_each_rank_once_and_an_odd_one_out(void **state)
{
	(void)state;
	struct scene scene = scene_of(21);
	struct hd_pattern *pattern = pattern_of("bisect", "", scene.ranks);
	unsigned idle[21] = {0};
	for (uint64_t index = 0; index < 2000; index++) {
		struct hd_flow flows[21];
		unsigned met[21] = {0};
		assert_int_equal(draw(&scene, pattern, index, flows), 10);
		for (unsigned i = 0; i < 10; i++) {
			met[flows[i].source]++;
			met[flows[i].destination]++;
		}
		for (unsigned rank = 0; rank < 21; rank++) {
			assert_true(met[rank] <= 1);
			idle[rank] += !met[rank];
		}
	}
	for (unsigned rank = 0; rank < 21; rank++)
		assert_in_range(idle[rank], 55, 140);
	hd_pattern_free(pattern);
	scene_end(&scene);
}

static void random_patterns_never_send_to_themselves(void **state)
{
	(void)state;
	const char *kinds[] = {"permutation", "uniform", "hot-spot", "incast"};
	struct scene scene = scene_of(20);
	for (unsigned kind = 0; kind < 4; kind++) {
		struct hd_pattern *pattern = pattern_of(kinds[kind], "", scene.ranks);
		for (uint64_t index = 0; index < 200; index++) {
			struct hd_flow flows[20];
			uint32_t count = draw(&scene, pattern, index, flows);
			for (uint32_t i = 0; i < count; i++) {
				assert_true(flows[i].source != flows[i].destination);
				assert_true(flows[i].destination < 20);
			}
		}
		hd_pattern_free(pattern);
	}
	scene_end(&scene);
}

static void incast_has_groups_with_one_receiver(void **state)
{
	(void)state;
	struct scene scene = scene_of(20);
	struct hd_pattern *pattern = pattern_of("incast", "senders=4", scene.ranks);
	struct hd_flow flows[20];
	unsigned received[20] = {0};
	assert_int_equal(draw(&scene, pattern, 0, flows), 16);
	for (unsigned i = 0; i < 16; i++)
		received[flows[i].destination]++;
	for (unsigned rank = 0; rank < 20; rank++)
		assert_true(received[rank] == 0 || received[rank] == 4);
	hd_pattern_free(pattern);
	scene_end(&scene);
}

static void all_flows_of_a_full_hot_spot_go_there(void **state)
{
	(void)state;
	struct scene scene = scene_of(20);
	struct hd_pattern *pattern = pattern_of("hot-spot", "percent=100 spots=1", scene.ranks);
	struct hd_flow flows[20];
	assert_int_equal(draw(&scene, pattern, 3, flows), 19);
	for (unsigned i = 1; i < 19; i++)
		assert_int_equal(flows[i].destination, flows[0].destination);
	hd_pattern_free(pattern);
	scene_end(&scene);
}

/* A random mapping is a permutation of the hosts, another one for each pattern. */
static void mappings_are_permutations(void **state)
{
	(void)state;
	struct scene scene = scene_of(50);
	struct hd_pattern *pattern = pattern_of("ring", "", scene.ranks);
	struct hd_flow first[50], second[50];
	bool met[50] = {false};
	assert_int_equal(draw(&scene, pattern, 0, first), 50);
	assert_int_equal(draw(&scene, pattern, 1, second), 50);
	for (unsigned i = 0; i < 50; i++) {
		assert_false(met[first[i].source]);
		met[first[i].source] = true;
		assert_int_equal(first[i].destination, first[(i + 1) % 50].source);
	}
	assert_memory_not_equal(first, second, sizeof(first));
	hd_pattern_free(pattern);
	scene_end(&scene);
}

/* ---- from files ---- */

static void assert_refused(const char *kind, const char *text, const char *expected)
{
	char path[32], setting[64];
	struct hd_error err = {""};
	struct hd_pattern *pattern = NULL;
	struct scene scene = scene_of(4);

	write_file(path, text);
	snprintf(setting, sizeof(setting), "file=%s", path);
	assert_true(pattern_try(kind, setting, scene.ranks, &pattern, &err) < 0);
	assert_null(pattern);
	if (!strstr(err.text, expected))
		fail_msg("'%s' does not say '%s'", err.text, expected);
	unlink(path);
	scene_end(&scene);
}

static void files_give_rounds_of_hosts_and_ranks(void **state)
{
	(void)state;
	char path[32], setting[64];
	write_file(path,
		   "\xEF\xBB\xBF# two rounds\r\n0 1\r\n\r\n2 3 # and back\nround\nround\n1 0\n");
	snprintf(setting, sizeof(setting), "file=%s", path);
	assert_rounds(4, "ranks", setting, ROUNDS("0>1 2>3", "1>0"));
	unlink(path);
	write_file(path, "H_0 \"H_1\"\n0x100021 4\nround\n");
	snprintf(setting, sizeof(setting), "file=%s", path);
	struct scene scene = scene_of(4);
	struct hd_error err = {""};
	uint32_t port;
	CHECK(hd_fabric_resolve(scene.fabric, "4", HD_RESOLVE_HOSTS, &port, &err));
	char expected[64];
	snprintf(expected, sizeof(expected), "0>1 2>%u", hd_fabric_find_host(scene.fabric, port));
	assert_rounds(4, "pairs", setting, ROUNDS(expected));
	scene_end(&scene);
	unlink(path);
}

/* Property: rounds of a trace, without small messages, messages to oneself and double ones. */
static void traces_give_rounds(void **state)
{
	(void)state;
	char path[32], setting[64];
	write_file(path, "num_ranks 3\nrank 0 {\nsend 9b to 2\nsend 9b to 1\nsend 9b to 2\n"
			 "send 1b to 0\n}\nrank 1 {\na: recv 9b from 0\nb: send 2b to 2\n"
			 "b requires a\n}\nrank 2 {\na: recv 2b from 1\nb: send 9b to 0\n"
			 "b requires a\n}\n");
	snprintf(setting, sizeof(setting), "file=%s", path);
	assert_rounds(4, "goal", setting, ROUNDS("0>1 0>2", "1>2", "2>0"));
	snprintf(setting, sizeof(setting), "file=%s least=3", path);
	assert_rounds(4, "goal", setting, ROUNDS("0>1 0>2", "2>0"));
	unlink(path);
}

static void bad_files_are_refused_with_line_and_reason(void **state)
{
	(void)state;
	assert_refused("goal", "num_ranks 2\nsend\n", ":2: expected num_ranks or rank");
	assert_refused("goal", "num_ranks 5\nrank 4 {\nsend 1b to 0\n}\n",
		       "has 5 ranks, but only 4 take part");
	assert_refused("goal", "num_ranks 2\nrank 1 {\nsend 1b to 1\n}\n",
		       "no message of 0 bytes or more");
	assert_refused("goal", "num_ranks 2\nrank 1 {\nl7: recv 1b from 0\n}\n",
		       "the first is rank 1, l7");
	assert_refused("pairs", "H_0 H_1\nH_0 nobody\n",
		       ":2: 'nobody' is not a host of the fabric");
	assert_refused("pairs", "H_0 H_0\n", ":1: 'H_0' sends to itself");
	assert_refused("ranks", "0 1\n\n0 4\n", ":3: rank '4' is out of range, expected 0..3");
	assert_refused("ranks", "0 -1\n", ":1: rank '-1' is out of range");
	assert_refused("ranks", "0 1 2\n", ":1: expected `SOURCE DESTINATION`");
	assert_refused("ranks", "0 1 2 3 4 5\n", ":1: expected `SOURCE DESTINATION`");
	assert_refused("ranks", "\"0 1\n", ":1: a quote is not closed");
	assert_refused("ranks", "# nothing\nround\n", "the file has no flow");
}

static void options_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	struct scene scene = scene_of(4);
	const char *bad[][3] = {
	    {"gather", "root=4", "rank 4 is out of range, expected 0..3"},
	    {"shift", "distance=8", "a multiple of the 4 ranks"},
	    {"incast", "senders=4", "more than 4 ranks"},
	    {"hot-spot", "spots=5", "5 among 4 ranks"},
	    {"neighbours", "grid=3,2", "6 points for 4 ranks"},
	    {"neighbours", "grid=1,1,1,1", "4 sides, expected 3 or fewer"},
	    {"pairs", "", "option 'file' is missing"},
	    {"pairs", "file=/nowhere/pairs", "/nowhere/pairs: cannot open: No such file"},
	};
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hd_error err = {""};
		struct hd_pattern *pattern = NULL;
		assert_true(pattern_try(bad[i][0], bad[i][1], scene.ranks, &pattern, &err) < 0);
		if (!strstr(err.text, bad[i][2]))
			fail_msg("'%s' does not say '%s'", err.text, bad[i][2]);
	}
	scene_end(&scene);
}

static void one_rank_makes_no_pattern(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct scene scene = scene_of(2);
	struct hd_pattern *pattern = NULL;
	scene.ranks->count = 1;
	assert_int_equal(pattern_try("ring", "", scene.ranks, &pattern, &err), -EINVAL);
	assert_non_null(strstr(err.text, "1 rank, expected 2 or more"));
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_round_permutations_are_what_they_say),
	    cmocka_unit_test(collectives_have_their_rounds),
	    cmocka_unit_test(neighbours_form_grids),
	    cmocka_unit_test(a_grid_is_near_a_cube_and_leaves_few_ranks_idle),
	    cmocka_unit_test(bisections_are_drawn_uniformly),
	    cmocka_unit_test(a_bisection_has_each_rank_once_and_an_odd_one_out),
	    cmocka_unit_test(random_patterns_never_send_to_themselves),
	    cmocka_unit_test(incast_has_groups_with_one_receiver),
	    cmocka_unit_test(all_flows_of_a_full_hot_spot_go_there),
	    cmocka_unit_test(mappings_are_permutations),
	    cmocka_unit_test(files_give_rounds_of_hosts_and_ranks),
	    cmocka_unit_test(traces_give_rounds),
	    cmocka_unit_test(bad_files_are_refused_with_line_and_reason),
	    cmocka_unit_test(options_that_do_not_fit_are_refused),
	    cmocka_unit_test(one_rank_makes_no_pattern),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
