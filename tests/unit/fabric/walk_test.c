/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes from port to port, and ports by the names people give them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "levels_testing.h"

enum { H1_LID = 4, H2_LID = 6, H3_LID = 8 };

/* Everything right: h2's LIDs by one cable each, the others' back by the first. */
static struct hd_routes *right_tables(const struct hd_fabric *fabric)
{
	static const uint8_t rows[2][9] = {{0xFF, 0, 0xFF, 3, 1, 1, 3, 4, 2},
					   {0xFF, 3, 0xFF, 0, 3, 3, 1, 1, 3}};
	struct hd_routes *routes = routes_with_levels(fabric);

	for (uint32_t sw = 0; sw < 2; sw++)
		memcpy(hd_routes_row(routes, sw), rows[sw], sizeof(rows[sw]));
	routes->sl[6] = 2;
	routes->sl[7] = 3;
	routes->sl2vl[3] = 1;
	return routes;
}

static uint32_t port_of(const struct hd_fabric *fabric, const char *text)
{
	uint32_t port = HD_NONE;
	struct hd_error err = {""};

	if (hd_fabric_resolve(fabric, text, HD_RESOLVE_ANY, &port, &err))
		fail_msg("%s", err.text);
	return port;
}

static struct hd_path_set *paths_between(const struct hd_fabric *fabric,
					 const struct hd_routes *routes, const char *source,
					 const char *destination)
{
	struct hd_path_set *set = NULL;
	struct hd_error err = {""};

	if (hd_path_set_new(fabric, routes, port_of(fabric, source), port_of(fabric, destination),
			    &set, &err))
		fail_msg("%s", err.text);
	return set;
}

static void each_lid_has_its_path_and_level(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes = right_tables(fabric);
	struct hd_path_set *set = paths_between(fabric, routes, "h1", "h2");
	assert_int_equal(set->count, 2);
	assert_int_equal(set->arrived, 2);
	assert_int_equal(set->distinct, 2);
	assert_int_equal(set->links, 2);
	assert_int_equal(set->shared, 0);
	for (uint32_t i = 0; i < 2; i++) {
		const struct hd_path *path = &set->paths[i];
		assert_int_equal(path->lid, H2_LID + i);
		assert_int_equal(path->end, HD_WALK_ARRIVED);
		assert_int_equal(path->switch_count, 2);
		assert_int_equal(path->switches[0], 0);
		assert_int_equal(path->switches[1], 1);
		assert_int_equal(fabric->isl_port[path->links[0]], 3 + i);
		assert_int_equal(path->sl, 2 + i);
		assert_int_equal(path->vl, i ? 1 : 2);
		assert_int_equal(path->same_as, i);
	}
	hd_path_set_free(set);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void equal_paths_count_once_and_share_nothing_with_themselves(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes = right_tables(fabric);
	struct hd_path_set *set = paths_between(fabric, routes, "h2", "h1");
	assert_int_equal(set->distinct, 1);
	assert_int_equal(set->links, 1);
	assert_int_equal(set->shared, 0);
	assert_int_equal(set->paths[1].same_as, 0);
	assert_int_equal(set->paths[0].sl, 0);
	hd_path_set_free(set);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Two ways from s1 to s4, by s2 and s3, that part behind the first link: s0 - s1. */
static void links_of_different_paths_are_shared(void **state)
{
	static const char topology[] =
	    "Switch 4 \"S-0000000000000001\" # \"s0\" base port 0 lid 11 lmc 0\n"
	    "[1] \"H-000000000000000a\"[1](b) # \"a\" lid 1 4xEDR\n[2] \"S-0000000000000002\"[1] # "
	    "\"s1\" lid 12 4xEDR\n"
	    "Switch 4 \"S-0000000000000002\" # \"s1\" base port 0 lid 12 lmc 0\n"
	    "[1] \"S-0000000000000001\"[2] # \"s0\" lid 11 4xEDR\n[2] \"S-0000000000000003\"[1] # "
	    "\"s2\" lid 13 4xEDR\n"
	    "[3] \"S-0000000000000004\"[1] # \"s3\" lid 14 4xEDR\n"
	    "Switch 4 \"S-0000000000000003\" # \"s2\" base port 0 lid 13 lmc 0\n"
	    "[1] \"S-0000000000000002\"[2] # \"s1\" lid 12 4xEDR\n[2] \"S-0000000000000005\"[2] # "
	    "\"s4\" lid 15 4xEDR\n"
	    "Switch 4 \"S-0000000000000004\" # \"s3\" base port 0 lid 14 lmc 0\n"
	    "[1] \"S-0000000000000002\"[3] # \"s1\" lid 12 4xEDR\n[2] \"S-0000000000000005\"[3] # "
	    "\"s4\" lid 15 4xEDR\n"
	    "Switch 4 \"S-0000000000000005\" # \"s4\" base port 0 lid 15 lmc 0\n"
	    "[1] \"H-000000000000000c\"[1](d) # \"c\" lid 4 4xEDR\n[2] \"S-0000000000000003\"[2] # "
	    "\"s2\" lid 13 4xEDR\n"
	    "[3] \"S-0000000000000004\"[2] # \"s3\" lid 14 4xEDR\n"
	    "Ca 1 \"H-000000000000000a\" # \"a\"\n[1](b) \"S-0000000000000001\"[1] # lid 1 lmc 0 "
	    "\"s0\" lid 11 4xEDR\n"
	    "Ca 1 \"H-000000000000000c\" # \"c\"\n[1](d) \"S-0000000000000005\"[1] # lid 4 lmc 2 "
	    "\"s4\" lid 15 4xEDR\n";
	static const uint8_t entries[5][4] = {
	    {2, 2, 2, 2}, {2, 3, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}, {1, 1, 1, 3}};

	(void)state;
	struct hd_fabric *fabric = parse(topology);
	struct hd_routes *routes = hd_routes_new(fabric);
	for (uint32_t sw = 0; sw < 5; sw++)
		memcpy(hd_routes_row(routes, sw) + 4, entries[sw], 4);
	struct hd_path_set *set = paths_between(fabric, routes, "a", "c");
	assert_int_equal(set->count, 4);
	assert_int_equal(set->arrived, 3);
	assert_int_equal(set->distinct, 2);
	assert_int_equal(set->links, 5);
	assert_int_equal(set->shared, 1);
	assert_int_equal(set->link_uses[set->paths[0].links[0]], 2);
	assert_int_equal(set->paths[2].same_as, 0);
	/* back from s4 to s3, and again to s4: the walk ends where it was before */
	const struct hd_path *loop = &set->paths[3];
	assert_int_equal(loop->end, HD_WALK_LOOP);
	assert_int_equal(loop->switch_count, 6);
	assert_int_equal(loop->switches[3], loop->switches[5]);
	hd_path_set_free(set);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void a_walk_says_how_it_ends(void **state)
{
	static const struct {
		uint8_t first, second; /* entries for h2's LID */
		enum hd_walk_end end;
		uint32_t count;
	} cases[] = {{3, 1, HD_WALK_ARRIVED, 2},     {0xFF, 1, HD_WALK_NO_ROUTE, 1},
		     {3, 0xFF, HD_WALK_NO_ROUTE, 2}, {1, 1, HD_WALK_DEAD_END, 1},
		     {0, 1, HD_WALK_DEAD_END, 1},    {3, 2, HD_WALK_DEAD_END, 2},
		     {9, 1, HD_WALK_DEAD_END, 1},    {3, 3, HD_WALK_LOOP, 3}};
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes = right_tables(fabric);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t switches[3], count;
		hd_routes_row(routes, 0)[H2_LID] = cases[i].first;
		hd_routes_row(routes, 1)[H2_LID] = cases[i].second;
		assert_int_equal(hd_routes_walk(fabric, routes, 0, H2_LID, switches, &count),
				 cases[i].end);
		assert_int_equal(count, cases[i].count);
	}
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void switches_are_ends_too_and_have_no_level(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes = right_tables(fabric);
	struct hd_path_set *set = paths_between(fabric, routes, "leaf1", "h2");
	assert_int_equal(set->arrived, 2);
	assert_int_equal(set->paths[0].sl, 0);
	hd_path_set_free(set);
	set = paths_between(fabric, routes, "h1", "leaf2");
	assert_int_equal(set->count, 1);
	assert_int_equal(set->arrived, 1);
	hd_path_set_free(set);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void ends_that_cannot_be_are_refused(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes = right_tables(fabric);
	struct hd_path_set *set = NULL;
	struct hd_error err = {""};
	uint32_t host = port_of(fabric, "h1");
	assert_int_equal(hd_path_set_new(fabric, routes, host, fabric->port_count, &set, &err),
			 -EINVAL);
	assert_int_equal(hd_path_set_new(fabric, routes, 1, host, &set, &err), -EINVAL);
	assert_says(err.text, "'leaf1' 0x0000000000200000[1]: expected port 0 of a switch");
	assert_null(set);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	fabric = parse("Switch 2 \"S-0000000000000001\" # \"s\" base port 0 lid 1 lmc 0\n"
		       "[1] \"H-0000000000000002\"[1](3) # \"h\" lid 0 4xEDR\n"
		       "Ca 1 \"H-0000000000000002\" # \"h\"\n[1](3) \"S-0000000000000001\"[1] # "
		       "lid 0 lmc 0 \"s\" lid 1 4xEDR\n");
	routes = hd_routes_new(fabric);
	assert_int_equal(hd_path_set_new(fabric, routes, 0, port_of(fabric, "h"), &set, &err),
			 -EINVAL);
	assert_says(err.text, "'h' 0x0000000000000002[1] has no LID");
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_lid_has_its_path_and_level),
	    cmocka_unit_test(equal_paths_count_once_and_share_nothing_with_themselves),
	    cmocka_unit_test(links_of_different_paths_are_shared),
	    cmocka_unit_test(a_walk_says_how_it_ends),
	    cmocka_unit_test(switches_are_ends_too_and_have_no_level),
	    cmocka_unit_test(ends_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
