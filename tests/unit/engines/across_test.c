/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* issr and isfr: which engine makes the tables of a subnet with routers, and that paths to router
 * ports are on one lane. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engines_testing.h"

static const char *const engines[] = {"issr", "isfr"};

static void check_choice(const char *kind, const char *settings, const char *engine)
{
	struct hd_fabric *fabric = generate(kind, settings);
	struct hd_routes *direct = route(engine, "", fabric);

	for (unsigned i = 0; i < 2; i++) {
		struct hd_routes *chosen = route(engines[i], "", fabric);
		assert_string_equal(chosen->engine, engines[i]);
		assert_string_equal(chosen->chosen, engine);
		assert_true(hd_routes_equal(chosen, direct));
		hd_routes_free(chosen);
	}
	hd_routes_free(direct);
	hd_fabric_free(fabric);
}

/* A tree with routers at its top, and one without, are dmodk's; a torus is updown's. */
static void trees_go_to_dmodk_and_all_else_to_updown(void **state)
{
	(void)state;
	check_choice("interconnect", "subnets=2 part=1", "dmodk");
	check_choice("xgft", "children=4,4 parents=1,2", "dmodk");
	check_choice("torus", "dims=5,5 hosts=2", "updown");
}

/* Also where all lanes are to be used; and every path arrives, without a credit loop. */
static void paths_to_routers_use_one_lane(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("interconnect", "subnets=2 part=1");
	for (unsigned i = 0; i < 2; i++) {
		struct hd_routes *routes = route(engines[i], "spread=all", fabric);
		struct hd_check_report *report = check(fabric, routes);
		assert_true(hd_check_clean(report));
		assert_int_equal(report->lanes, 1);
		assert_int_equal(hd_routes_router_lanes(fabric, routes), 1);
		hd_check_report_free(report);
		hd_routes_free(routes);
	}
	hd_fabric_free(fabric);
}

/* hd_routes_router_lanes() sees lanes of an engine that uses several, and only those to routers. */
static void other_engines_use_more_lanes(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("interconnect", "subnets=2 part=1");
	struct hd_routes *routes = route("dmodk", "spread=all", fabric);
	uint16_t lanes = hd_routes_router_lanes(fabric, routes);
	assert_true(lanes & (lanes - 1));
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	fabric = generate("xgft", "children=4,4 parents=1,2");
	routes = route("dmodk", "spread=all", fabric);
	assert_int_equal(hd_routes_router_lanes(fabric, routes), 0);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(trees_go_to_dmodk_and_all_else_to_updown),
	    cmocka_unit_test(paths_to_routers_use_one_lane),
	    cmocka_unit_test(other_engines_use_more_lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
