/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* auto: which engine it takes, and that it keeps its choice; the estimate that it goes by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "load_estimate.h"

/* A tree is dmodk's; on a torus shortest paths load the fullest link less than one root does. */
static void trees_go_to_dmodk_and_tori_to_spf(void **state)
{
	(void)state;
	static const struct {
		const char *kind, *settings, *engine;
	} cases[] = {{"xgft", "children=4,4 parents=1,2", "dmodk"},
		     {"torus", "dims=5,5 hosts=2", "spf"}};
	for (unsigned i = 0; i < 2; i++) {
		struct hd_fabric *fabric = generate(cases[i].kind, cases[i].settings);
		struct hd_routes *chosen = route("auto", "", fabric);
		struct hd_routes *direct = route(cases[i].engine, "", fabric);
		assert_string_equal(chosen->chosen, cases[i].engine);
		assert_string_equal(chosen->engine, "auto");
		assert_true(hd_routes_equal(chosen, direct));
		hd_routes_free(chosen);
		hd_routes_free(direct);
		hd_fabric_free(fabric);
	}
}

/* A choice between updown and spf stays as long as its tables are in place. */
static void the_choice_stays(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=5,5 hosts=2");
	struct hd_routes *updown = route("updown", "", fabric);
	snprintf(updown->chosen, sizeof(updown->chosen), "updown");
	struct hd_routes *again = route_after("auto", "", fabric, updown);
	assert_string_equal(again->chosen, "updown");
	assert_true(hd_routes_equal(updown, again));
	hd_routes_free(updown);
	hd_routes_free(again);
	hd_fabric_free(fabric);
}

/* Without lanes for spf, updown routes. */
static void too_few_lanes_go_to_updown(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=5,5 hosts=2");
	struct hd_routes *routes =
	    route_request("auto", "", &(struct hd_route_request){.fabric = fabric, .lanes = 1});
	struct hd_check_report *report = check(fabric, routes);
	assert_true(hd_check_clean(report));
	assert_int_equal(report->lanes, 1);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Where all paths are single ones, the estimate, the tables and the checker's count agree. */
static void the_estimate_is_exact_on_a_line(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("mesh", "dims=6 hosts=3");
	struct hd_routes *routes = route("spf", "", fabric);
	struct hd_check_report *report = check(fabric, routes);
	double paths = 0, tables = 0;
	assert_int_equal(load_estimate_paths(fabric, NULL, &paths), 0);
	assert_int_equal(load_estimate_tables(fabric, routes, &tables), 0);
	assert_int_equal((uint64_t)(paths + 0.5), report->flows_max);
	assert_int_equal((uint64_t)(tables + 0.5), report->flows_max);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(trees_go_to_dmodk_and_tori_to_spf),
	    cmocka_unit_test(the_choice_stays),
	    cmocka_unit_test(too_few_lanes_go_to_updown),
	    cmocka_unit_test(the_estimate_is_exact_on_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
