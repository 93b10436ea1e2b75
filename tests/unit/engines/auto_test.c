/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* auto: which engine it takes, what it says, and that it keeps its choice; the estimate of loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bisections.h"
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

/* Islands with few cables between them, on one lane: no tree, shortest paths need more lanes, and few
 * switches have hosts. */
static void islands_on_one_lane_go_to_turns(void **state)
{
	(void)state;
	struct hd_fabric *whole =
	    generate("dragonfly-plus", "islands=4 leaves=8 spines=4 hosts=4 global-links=1");
	struct hd_fabric *fabric = NULL;
	assert_int_equal(hd_fabric_remove_links(whole, 10, 1, &fabric, NULL), 0);
	struct hd_routes *chosen = route("auto", "vls=1", fabric);
	struct hd_routes *updown = route("updown", "vls=1", fabric);
	const struct hd_routes *tables[] = {chosen, updown};
	double worth[2];
	assert_string_equal(chosen->chosen, "turns");
	assert_int_equal(bisections_worth(fabric, tables, 2, 1, NULL, worth), 0);
	assert_true(worth[0] > 1.5 * worth[1]);
	hd_fabric_free(whole);
	hd_routes_free(chosen);
	hd_routes_free(updown);
	hd_fabric_free(fabric);
}

/* ---- what it says ---- */

#define LINES_SIZE 8192

static void note(void *context, enum hd_log_level level, const char *line)
{
	char *lines = context;
	size_t used = strlen(lines);

	snprintf(lines + used, LINES_SIZE - used, "%d %s\n", (int)level, line);
}

static struct hd_fabric *damaged_tree(const char *settings, double percent, uint64_t seed)
{
	struct hd_fabric *whole = generate("xgft", settings), *less = NULL;

	assert_int_equal(hd_fabric_remove_links(whole, percent, seed, &less, NULL), 0);
	hd_fabric_free(whole);
	return less;
}

static double worth_of(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	double worth = -1;

	assert_int_equal(bisections_worth(fabric, &routes, 1, 1, NULL, &worth), 0);
	return worth;
}

/* Property: on damaged trees auto is not worse than an engine that it knows, and says why in a line. */
static void damaged_trees_go_to_the_best(void **state)
{
	static const struct {
		const char *settings;
		double percent;
		uint64_t seed;
	} cases[] = {{"children=8,6,4 parents=1,3,4", 12, 3}, {"children=12,8 parents=1,6", 15, 5}};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct hd_fabric *fabric =
		    damaged_tree(cases[i].settings, cases[i].percent, cases[i].seed);
		char lines[LINES_SIZE] = "";
		const struct hd_log log = {note, lines};
		struct hd_routes *chosen = route_request(
		    "auto", "", &(struct hd_route_request){.fabric = fabric, .log = &log});
		struct hd_routes *direct = route("updown", "", fabric);
		struct hd_routes *dmodk = route("dmodk", "", fabric);
		assert_string_equal(chosen->chosen, "updown");
		assert_int_equal(chosen->chosen_for, fabric->isl_count);
		assert_true(hd_routes_equal(chosen, direct));
		assert_true(worth_of(fabric, chosen) > worth_of(fabric, dmodk) + .005);
		assert_non_null(
		    strstr(lines, "auto takes updown: effective bisection bandwidth 0."));
		assert_non_null(strstr(lines, ", dmodk 0."));
		hd_routes_free(chosen);
		hd_routes_free(direct);
		hd_routes_free(dmodk);
		hd_fabric_free(fabric);
	}
}

/* Routes a damaged tree with aggregation nodes under auto. Returns the entries that are missing. */
static uint64_t serve(unsigned percent, unsigned seed, const struct hd_policy *policy,
		      unsigned lanes, char *lines, char *chosen)
{
	const struct hd_log log = {note, lines};
	struct hd_fabric *fabric =
	    with_aggregation(damaged_tree("children=4,4,4 parents=1,4,4", percent, seed));
	const uint64_t io[] = {fabric->node_guid[fabric->switch_count]};
	const struct hd_policy one = {.io_guids = io, .io_count = 1};
	struct hd_route_request request = {
	    .fabric = fabric, .policy = policy ? policy : &one, .lanes = lanes, .log = &log};
	struct hd_routes *routes = route_request("auto", "", &request);
	struct hd_check_report *report = NULL;

	assert_int_equal(hd_check(fabric, routes, NULL, &report, NULL), 0);
	uint64_t missing = report->no_route;
	strcpy(chosen, routes->chosen);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	return missing;
}

/* Property: all aggregation nodes are served, on one lane as on two. What that costs an engine counts:
 * paths between hosts make room for them on one lane. So they are where a policy file keeps these where
 * they are. */
static void aggregation_nodes_are_served(void **state)
{
	(void)state;
	const struct hd_policy none = {0};
	char chosen[64];
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		char lines[LINES_SIZE] = "";
		assert_int_equal(serve(20, 1, &none, lanes, lines, chosen), 0);
		assert_string_equal(chosen, lanes == 1 ? "updown" : "spf");
	}
	char lines[LINES_SIZE] = "";
	assert_int_equal(serve(15, 6, NULL, 1, lines, chosen), 0);
}

/* Property: auto never recommends auto, not even where updown is far worse than spf, which has no part
 * because a root is given. */
static void nobody_recommends_auto_to_its_users(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    generate("dragonfly-plus", "islands=4 leaves=4 spines=4 hosts=4");
	const struct hd_policy policy = {.root_guids = &fabric->node_guid[0], .root_count = 1};
	char lines[LINES_SIZE] = "", others[LINES_SIZE] = "";
	const struct hd_log log = {note, lines}, other_log = {note, others};
	struct hd_route_request request = {.fabric = fabric, .policy = &policy, .log = &log};
	struct hd_routes *routes = route_request("auto", "", &request);
	request.log = &other_log;
	struct hd_routes *updown = route_request("updown", "", &request);
	assert_string_equal(routes->chosen, "updown");
	assert_null(strstr(lines, "take auto"));
	assert_non_null(strstr(lines, "dmodk refuses: "));
	assert_non_null(strstr(others, "take auto"));
	hd_routes_free(routes);
	hd_routes_free(updown);
	hd_fabric_free(fabric);
}

/* Property: a policy's GUIDs are found in the comparison without aggregation nodes, too: the engine and
 * its tables are those of a comparison by hand. */
static void guids_are_known_without_aggregation_nodes(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    with_aggregation(damaged_tree("children=4,4,4 parents=1,4,4", 10, 2));
	const uint64_t roots[] = {fabric->node_guid[fabric->switch_count - 1]};
	const uint64_t hosts[] = {fabric->node_guid[fabric->switch_count]};
	const uint64_t nodes[] = {fabric->port_guid[fabric->aside_port[0]]};
	const struct hd_policy policies[] = {{.root_guids = roots, .root_count = 1},
					     {.cn_guids = hosts, .cn_count = 1},
					     {.order_guids = hosts, .order_count = 1},
					     {.aggregation_guids = nodes, .aggregation_count = 1}};
	for (unsigned i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		char lines[LINES_SIZE] = "";
		const struct hd_log log = {note, lines};
		struct hd_routes *routes =
		    route_request("auto", "",
				  &(struct hd_route_request){
				      .fabric = fabric, .policy = &policies[i], .log = &log});
		struct hd_routes *direct = route_policy(routes->chosen, "", fabric, &policies[i]);
		assert_true(hd_routes_equal(routes, direct));
		assert_null(strstr(lines, "not in the fabric"));
		hd_routes_free(routes);
		hd_routes_free(direct);
	}
	hd_fabric_free(fabric);
}

/* Property: a line of the log says so if the tables in place were better. */
static void better_tables_in_place_are_named(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    generate("dragonfly-plus", "islands=4 leaves=4 spines=4 hosts=4");
	const struct hd_policy policy = {.root_guids = &fabric->node_guid[0], .root_count = 1};
	struct hd_routes *spf = route("spf", "", fabric);
	struct hd_routes *same = route_policy("updown", "", fabric, &policy);
	for (unsigned better = 0; better < 2; better++) {
		char lines[LINES_SIZE] = "";
		const struct hd_log log = {note, lines};
		struct hd_routes *routes =
		    route_request("auto", "",
				  &(struct hd_route_request){.fabric = fabric,
							     .policy = &policy,
							     .in_place = better ? spf : same,
							     .log = &log});
		assert_int_equal(
		    strstr(lines, "the tables in place were better: effective ") != NULL, better);
		assert_true(hd_routes_equal(routes, same));
		hd_routes_free(routes);
	}
	hd_routes_free(spf);
	hd_routes_free(same);
	hd_fabric_free(fabric);
}

/* ---- keeping the choice ---- */

/* Routes after tables that another engine made, as if auto had chosen it for so many links. */
static void assert_choice_after(const struct hd_fabric *fabric, const char *engine,
				uint32_t chosen_for, const char *expected, bool silent)
{
	char lines[LINES_SIZE] = "";
	const struct hd_log log = {note, lines};
	struct hd_routes *previous = route(engine, "", fabric);

	snprintf(previous->chosen, sizeof(previous->chosen), "%s", engine);
	previous->chosen_for = chosen_for;
	struct hd_routes *again = route_request(
	    "auto", "",
	    &(struct hd_route_request){.fabric = fabric, .previous = previous, .log = &log});
	assert_string_equal(again->chosen, expected);
	assert_int_equal(again->chosen_for, silent && chosen_for ? chosen_for : fabric->isl_count);
	assert_int_equal(!strstr(lines, "effective bisection bandwidth"), silent);
	if (!strcmp(engine, expected))
		assert_true(hd_routes_equal(previous, again));
	hd_routes_free(previous);
	hd_routes_free(again);
}

/* Properties: few links more or less change nothing, and nothing is compared. Many do if the gain is large
 * enough. An unknown number of links changes nothing. */
static void the_engine_changes_with_need_only(void **state)
{
	(void)state;
	struct hd_fabric *torus = generate("torus", "dims=5,5 hosts=2");
	uint32_t links = torus->isl_count;
	assert_choice_after(torus, "updown", links, "updown", true);
	assert_choice_after(torus, "updown", links + 2, "updown", true);
	assert_choice_after(torus, "updown", 0, "updown", true);
	assert_choice_after(torus, "updown", links + links / 10, "spf", false);
	hd_fabric_free(torus);
	struct hd_fabric *tree = damaged_tree("children=12,8 parents=1,6", 15, 5);
	assert_choice_after(tree, "dmodk", tree->isl_count * 2, "dmodk", false); /* .008 */
	hd_fabric_free(tree);
}

/* Property: with the links of the baseline comes the engine of the baseline, and all its entries. */
static void the_baseline_is_home(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=5,5 hosts=2");
	struct hd_routes *home = route("auto", "", fabric);
	struct hd_routes *away = route("updown", "", fabric);
	snprintf(away->chosen, sizeof(away->chosen), "updown");
	away->chosen_for = fabric->isl_count + 20;
	struct hd_routes *back = route_request(
	    "auto", "",
	    &(struct hd_route_request){.fabric = fabric, .previous = away, .baseline = home});
	assert_string_equal(home->chosen, "spf");
	assert_string_equal(back->chosen, "spf");
	assert_int_equal(back->chosen_for, fabric->isl_count);
	assert_int_equal(hd_routes_count_changes(home, back), 0);
	hd_routes_free(home);
	hd_routes_free(away);
	hd_routes_free(back);
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
	    cmocka_unit_test(aggregation_nodes_are_served),
	    cmocka_unit_test(guids_are_known_without_aggregation_nodes),
	    cmocka_unit_test(damaged_trees_go_to_the_best),
	    cmocka_unit_test(nobody_recommends_auto_to_its_users),
	    cmocka_unit_test(better_tables_in_place_are_named),
	    cmocka_unit_test(the_choice_stays),
	    cmocka_unit_test(islands_on_one_lane_go_to_turns),
	    cmocka_unit_test(the_engine_changes_with_need_only),
	    cmocka_unit_test(the_baseline_is_home),
	    cmocka_unit_test(too_few_lanes_go_to_updown),
	    cmocka_unit_test(the_estimate_is_exact_on_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
