/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lanes that depend on ports: the checker against the oracle, and the files. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "check_samples.h"
#include "levels_testing.h"
#include "oracle_maps.h"
#include <heddle/fabric/stored_tables.h>

static struct hd_check_report *check(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_check_report *report = NULL;
	struct hd_error err = {""};

	if (hd_check(fabric, routes, NULL, &report, &err))
		fail_msg("%s", err.text);
	return report;
}

/* Each pair of ports of each switch gets one of a few random maps. */
static void random_maps(const struct hd_fabric *fabric, struct hd_routes *routes, unsigned lanes,
			unsigned count, uint64_t *state)
{
	uint8_t map[HD_LANE_LEVELS];
	uint16_t number;

	memset(map, 0, sizeof(map));
	routes->maps = hd_lane_maps_new(fabric, map);
	for (unsigned i = 0; i < count; i++) {
		for (unsigned level = 0; level < HD_LANE_LEVELS; level++)
			map[level] = (uint8_t)sample_random(state, lanes);
		assert_int_equal(hd_lane_maps_number(routes->maps, map, &number), 0);
	}
	for (size_t i = 0; i < routes->maps->base[fabric->switch_count]; i++)
		routes->maps->map[i] = (uint16_t)sample_random(state, routes->maps->count);
}

/* Each link of the cycle waits for the next on its lane, and the last for the first. */
static void cycle_is_real(const struct oracle_maps *oracle, const struct hd_fault *fault)
{
	const struct hd_fabric *fabric = oracle->fabric;

	assert_int_equal(fault->vl, fault->lanes[0]);
	for (uint32_t i = 0; i < fault->path_length; i++) {
		const uint32_t j = (i + 1) % fault->path_length;
		const uint32_t link = fault->path[i], next = fault->path[j];

		assert_true(oracle_maps_depends(
		    oracle,
		    hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]),
		    fault->lanes[i],
		    hd_port_index(fabric, hd_isl_from(fabric, next), fabric->isl_port[next]),
		    fault->lanes[j]));
	}
}

static bool compare(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct oracle_maps *oracle = oracle_maps_new(fabric, routes);
	struct hd_check_report *report = check(fabric, routes);
	const bool loop = oracle->loop;

	assert_int_equal(report->credit_loops > 0, loop);
	assert_int_equal(report->lanes_used, oracle->lanes);
	for (uint32_t i = 0; i < report->fault_count; i++)
		if (report->faults[i].kind == HD_FAULT_CREDIT_LOOP)
			cycle_is_real(oracle, &report->faults[i]);
	hd_check_report_free(report);
	oracle_maps_free(oracle);
	return loop;
}

static void checker_finds_what_the_oracle_finds(void **unused)
{
	uint64_t state = 28;
	unsigned loops = 0;

	(void)unused;
	for (unsigned round = 0; round < 150; round++) {
		struct hd_fabric *fabric = round % 2 ? sample_random_fabric(&state, 8)
						     : sample_ring(3 + sample_random(&state, 6));
		struct hd_routes *routes = sample_shortest(fabric, &state);

		sample_service_levels(routes, 1 + sample_random(&state, 5), &state);
		random_maps(fabric, routes, 1 + sample_random(&state, 4), 4, &state);
		loops += compare(fabric, routes);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	assert_in_range(loops, 20, 130);
}

/* With maps that are the same everywhere, tables have the report of tables without them. */
static void equal_maps_change_nothing(void **unused)
{
	uint64_t state = 5;

	(void)unused;
	for (unsigned round = 0; round < 40; round++) {
		struct hd_fabric *fabric = sample_random_fabric(&state, 8);
		struct hd_routes *routes = sample_shortest(fabric, &state);

		sample_service_levels(routes, 3, &state);
		struct hd_check_report *without = check(fabric, routes);
		routes->maps = hd_lane_maps_new(fabric, routes->sl2vl);
		struct hd_check_report *with = check(fabric, routes);
		assert_int_equal(without->credit_loops > 0, with->credit_loops > 0);
		hd_check_report_free(with);
		hd_check_report_free(without);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Packets from hosts are on lane 0, packets that come from another switch on lane 1, or also on lane 0. */
static struct hd_routes *by_hops(const struct hd_fabric *fabric, uint8_t later)
{
	uint64_t state = 1;
	struct hd_routes *routes = sample_shortest(fabric, &state);
	uint8_t lanes[HD_LANE_LEVELS] = {0}, other[HD_LANE_LEVELS];
	uint16_t number;

	memset(other, later, sizeof(other));
	routes->maps = hd_lane_maps_new(fabric, lanes);
	assert_int_equal(hd_lane_maps_number(routes->maps, other, &number), 0);
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		const uint32_t sw = fabric->isl_to[link];
		const uint32_t in = fabric->isl_port[fabric->isl_reverse[link]];
		for (uint32_t out = 1; out < routes->maps->ports[sw]; out++)
			routes->maps->map[hd_lane_maps_place(routes->maps, sw, in, out)] = number;
	}
	return routes;
}

/* Shortest paths on a ring of five have two hops at most: with a lane for each hop nothing goes round. */
static void a_lane_for_each_hop_breaks_the_ring(void **unused)
{
	struct hd_fabric *fabric = sample_ring(5);

	(void)unused;
	for (uint8_t later = 0; later < 2; later++) {
		struct hd_routes *routes = by_hops(fabric, later);
		struct hd_check_report *report = check(fabric, routes);

		assert_int_equal(hd_check_clean(report), later);
		assert_int_equal(report->lanes, later + 1);
		hd_check_report_free(report);
		hd_routes_free(routes);
	}
	hd_fabric_free(fabric);
}

static struct hd_routes *read_back(const struct hd_fabric *fabric, const char *const *texts,
				   unsigned count)
{
	char paths[2][64];
	const char *names[2];
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	for (unsigned i = 0; i < count; i++) {
		snprintf(paths[i], sizeof(paths[i]), "lane_maps_test.%d.%u", (int)getpid(), i);
		FILE *file = fopen(paths[i], "w");
		assert_non_null(file);
		fputs(texts[i], file);
		fclose(file);
		names[i] = paths[i];
	}
	if (hd_routes_read(names, count, fabric, NULL, &routes, &err))
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < count; i++)
		unlink(paths[i]);
	return routes;
}

/* On links between switches, which alone can close a loop, both have the same lanes for levels in use. */
static void same_lanes(const struct hd_fabric *fabric, const struct hd_routes *a,
		       const struct hd_routes *b)
{
	assert_non_null(b->maps);
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		const uint32_t sw = hd_isl_from(fabric, link), out = fabric->isl_port[link];
		for (uint32_t in = 1; in < a->maps->ports[sw]; in++)
			if (fabric->peer[hd_port_index(fabric, sw, in)] != HD_NONE)
				assert_memory_equal(hd_lane_maps_get(a->maps, sw, in, out),
						    hd_lane_maps_get(b->maps, sw, in, out),
						    HD_LANE_LEVELS);
	}
}

static void files_keep_the_lanes(void **unused)
{
	uint64_t state = 9;

	(void)unused;
	for (unsigned round = 0; round < 20; round++) {
		struct hd_fabric *fabric = sample_torus(3, 4);
		struct hd_routes *routes = sample_shortest(fabric, &state);

		sample_service_levels(routes, 4, &state);
		for (unsigned level = 0; level < HD_LANE_LEVELS; level++)
			routes->sl2vl[level] &= 7;
		random_maps(fabric, routes, 3, 1 + round % 5, &state);
		char *tables = written(hd_routes_write_dump, fabric, routes);
		char *levels = written(hd_routes_write_levels, fabric, routes);
		const char *const texts[] = {tables, levels};
		struct hd_routes *back = read_back(fabric, texts, 2);
		same_lanes(fabric, routes, back);
		free(levels);
		levels = written(hd_routes_write_levels, fabric, back);
		struct hd_routes *again =
		    read_back(fabric, (const char *const[]){tables, levels}, 2);
		assert_true(hd_routes_equal(back, again));
		hd_routes_free(again);
		hd_routes_free(back);
		free(levels);
		free(tables);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

#define LANES_01 " 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1\n"
#define LANES_10 " 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0\n"
#define SL_TO_VL "SL to VL:" LANES_01
#define AT(guid) "Virtual lanes at switch guid 0x" guid " ('s'):\n"
#define WHOLE(guid) AT(guid) "* 1 :" LANES_01 "* 2 :" LANES_10 "2 runs dumped\n"
#define DUMPED "0 switches dumped\n"

/* A dump of a ring of two switches; its ports 1 and 2 lead to the other. */
static int read_dump(const struct hd_fabric *fabric, const char *lanes, struct hd_routes **routes,
		     struct hd_error *err)
{
	uint64_t state = 1;
	struct hd_routes *some = sample_shortest(fabric, &state);
	char *tables = written(hd_routes_write_dump, fabric, some);
	char text[4096];

	snprintf(text, sizeof(text), "%s" SL_TO_VL "%s" DUMPED, tables, lanes);
	free(tables);
	hd_routes_free(some);
	return hd_routes_parse(text, strlen(text), "levels", fabric, NULL, routes, err);
}

/* Each switch has each pair of ports once, if any has. */
static void a_dump_without_some_lanes_is_refused(void **unused)
{
	static const struct {
		const char *lanes, *expected;
	} dumps[] = {
	    {"", "'%s' has no virtual lanes of pairs of ports"},
	    {AT("%s") "* 1 :" LANES_01 "1 runs dumped\n", "from port 0 to port 2"},
	    {AT("%s") "* 1 :" LANES_01 "0 2 :" LANES_10 "1 2 :" LANES_10 "2 2 :" LANES_10
		      "4 runs dumped\n",
	     "from port 3 to port 2"},
	    {AT("%s") "* 1 :" LANES_01 "3 1 :" LANES_01 "* 2 :" LANES_10 "3 runs dumped\n",
	     "on an earlier line already"},
	    {WHOLE("%s") WHOLE("%s"), "came before already"},
	    {AT("%s") "4294967295 1 :" LANES_01 "* 2 :" LANES_10 "2 runs dumped\n",
	     "expected two ports"},
	    {AT("%s") "0x0001 1\n", "a run of LIDs among virtual lanes"},
	    {AT("%s") "* 9 :" LANES_01 "1 runs dumped\n", "no such port"},
	};
	struct hd_fabric *fabric = sample_ring(2);
	char whole[1024], first[1024], guid[2][32];
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	(void)unused;
	for (unsigned sw = 0; sw < 2; sw++)
		snprintf(guid[sw], sizeof(guid[sw]), "%016" PRIx64, fabric->node_guid[sw]);
	snprintf(whole, sizeof(whole), WHOLE("%s") WHOLE("%s"), guid[0], guid[1]);
	if (read_dump(fabric, whole, &routes, &err))
		fail_msg("%s", err.text);
	assert_int_equal(hd_lane_maps_get(routes->maps, 1, 3, 2)[0], 1);
	hd_routes_free(routes);
	for (size_t i = 0; i < sizeof(dumps) / sizeof(*dumps); i++) {
		char expected[128];

		snprintf(whole, sizeof(whole), WHOLE("%s"), guid[1]);
		snprintf(first, sizeof(first), dumps[i].lanes, guid[0], guid[0]);
		strcat(whole, first);
		snprintf(expected, sizeof(expected), dumps[i].expected, fabric->node_name[0]);
		routes = NULL;
		assert_int_equal(read_dump(fabric, whole, &routes, &err), -EINVAL);
		assert_says(err.text, expected);
		assert_null(routes);
	}
	hd_fabric_free(fabric);
}

/* Tables of a switch that had fewer ports can be written: the other ports have map 0. */
static void ports_that_are_new_are_written(void **unused)
{
	uint64_t state = 4;
	struct hd_fabric *fabric = sample_ring(2);
	struct hd_routes *routes = sample_shortest(fabric, &state);
	const uint32_t ports[] = {2, 2};
	const uint8_t lanes[HD_LANE_LEVELS] = {1};

	(void)unused;
	routes->maps = hd_lane_maps_new_for(ports, 2, lanes);
	char *tables = written(hd_routes_write_dump, fabric, routes);
	char *levels = written(hd_routes_write_levels, fabric, routes);
	struct hd_routes *back = read_back(fabric, (const char *const[]){tables, levels}, 2);
	same_lanes(fabric, back, routes);
	hd_routes_free(back);
	free(levels);
	free(tables);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* A file with the lanes of each pair of ports, as ibdmchk and OpenSM have it. */
static void other_files_keep_the_lanes(void **unused)
{
	uint64_t state = 4;
	struct hd_fabric *fabric = sample_torus(4, 3);
	struct hd_routes *routes = sample_shortest(fabric, &state);

	(void)unused;
	random_maps(fabric, routes, 3, 4, &state);
	char *tables = written(hd_routes_write_dump, fabric, routes);
	char *lanes = written(hd_routes_write_slvl, fabric, routes);
	struct hd_routes *back = read_back(fabric, (const char *const[]){tables, lanes}, 2);
	same_lanes(fabric, routes, back);
	hd_routes_free(back);
	free(lanes);
	free(tables);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void copies_are_equal(void **unused)
{
	uint64_t state = 3;
	struct hd_fabric *fabric = sample_torus(3, 3);
	struct hd_routes *routes = sample_shortest(fabric, &state), *copy;

	(void)unused;
	random_maps(fabric, routes, 3, 4, &state);
	copy = hd_routes_copy(routes);
	assert_true(hd_routes_equal(routes, copy));
	assert_memory_equal(hd_lane_maps_get(copy->maps, 1, 200, 200), copy->maps->lanes[0],
			    HD_LANE_LEVELS);
	copy->maps->map[hd_lane_maps_place(copy->maps, 2, 1, 3)] ^= 1;
	assert_false(hd_routes_equal(routes, copy));
	hd_routes_free(copy);
	struct hd_error err;
	assert_int_equal(hd_routes_rebase(fabric, routes, fabric, &copy, &err), 0);
	assert_true(hd_lane_maps_equal(routes->maps, copy->maps));
	hd_routes_free(copy);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* A file of stored tables with these lanes; *size bytes, to be freed. */
static char *store(const struct hd_fabric *fabric, struct hd_routes *routes, size_t *size)
{
	struct hd_stored_state state = {.count = 1};
	char *bytes = NULL;
	FILE *stream = open_memstream(&bytes, size);

	assert_int_equal(hd_stored_tables_name(fabric, &state.sets[0], NULL), 0);
	state.sets[0]->routes = routes;
	assert_int_equal(hd_stored_state_write(&state, stream, NULL), 0);
	state.sets[0]->routes = NULL;
	hd_stored_state_release(&state);
	fclose(stream);
	return bytes;
}

static void stored_tables_keep_the_lanes(void **unused)
{
	uint64_t state = 17;
	struct hd_fabric *fabric = sample_torus(3, 4);
	struct hd_routes *routes = sample_shortest(fabric, &state), *back;
	struct hd_stored_state read;
	struct hd_error err = {""};
	size_t size;

	(void)unused;
	sample_service_levels(routes, 4, &state);
	for (unsigned level = 0; level < HD_LANE_LEVELS; level++)
		routes->sl2vl[level] &= 7;
	random_maps(fabric, routes, 3, 5, &state);
	char *bytes = store(fabric, routes, &size);
	if (hd_stored_state_read(bytes, size, &read, &err))
		fail_msg("%s", err.text);
	assert_int_equal(hd_stored_tables_get(read.sets[0], fabric, &back, &err), 0);
	assert_true(hd_lane_maps_equal(routes->maps, back->maps));
	hd_routes_free(back);
	hd_stored_state_release(&read);
	assert_int_equal(hd_stored_state_read(bytes, size - 2, &read, &err), -EINVAL);
	free(bytes);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Those that take a path to have one lane refuse the tables by name. */
static void one_lane_is_not_taken_for_granted(void **unused)
{
	uint64_t state = 17;
	struct hd_fabric *fabric = sample_torus(3, 4);
	struct hd_routes *routes = sample_shortest(fabric, &state);
	const struct hd_certificate_change_request request = {
	    .fabric = fabric, .before = routes, .after = routes};
	struct hd_certificate_change *change = NULL;
	struct hd_error err = {""};

	(void)unused;
	assert_int_equal(hd_routes_refuse_maps(routes, "songs", &err), 0);
	random_maps(fabric, routes, 2, 2, &state);
	assert_int_equal(hd_routes_refuse_maps(routes, "songs", &err), -ENOTSUP);
	assert_says(err.text, "no songs for routes that change their virtual lane");
	assert_int_equal(hd_certificate_change_new(&request, &change, &err), -ENOTSUP);
	assert_says(err.text, "no certificates of changes");
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(checker_finds_what_the_oracle_finds),
	    cmocka_unit_test(equal_maps_change_nothing),
	    cmocka_unit_test(a_lane_for_each_hop_breaks_the_ring),
	    cmocka_unit_test(files_keep_the_lanes),
	    cmocka_unit_test(a_dump_without_some_lanes_is_refused),
	    cmocka_unit_test(ports_that_are_new_are_written),
	    cmocka_unit_test(other_files_keep_the_lanes),
	    cmocka_unit_test(copies_are_equal),
	    cmocka_unit_test(stored_tables_keep_the_lanes),
	    cmocka_unit_test(one_lane_is_not_taken_for_granted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
