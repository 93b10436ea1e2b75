/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JSON when memory is short: complete or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalogue.h"
#include "check_report.h"
#include "compare_report.h"
#include "json_value.h"
#include "mcast_report.h"
#include "message.h"
#include "paths_report.h"
#include "survive.h"

#include <stdlib.h>
#include <string.h>

static unsigned allocations, failing; /* the one that fails, counted from 1; 0 = none */

static void *allocate(size_t size)
{
	return ++allocations == failing ? NULL : malloc(size);
}

static void allocate_badly(unsigned number)
{
	allocations = 0;
	failing = number;
}

typedef json_t *make_fn(const void *context);

/* Makes the value again while each of its allocations fails in turn: it is refused, or it is the
 * same as with enough memory. */
static void assert_whole_or_nothing(make_fn *make, const void *context)
{
	allocate_badly(0);
	json_t *whole = make(context);
	unsigned needed = allocations, refused = 0;
	assert_non_null(whole);
	for (unsigned number = 1; number <= needed; number++) {
		allocate_badly(number);
		json_t *value = make(context);
		allocate_badly(0);
		refused += !value;
		if (value && !json_equal(value, whole))
			fail_msg("allocation %u of %u failed and the value is a part", number,
				 needed);
		json_decref(value);
	}
	assert_true(refused > needed / 2);
	json_decref(whole);
}

static const struct hd_option option_table[] = {
    {.name = "passes",
     .summary = "rounds",
     .type = HD_OPTION_INT,
     .fallback = "3",
     .minimum = 1,
     .maximum = 16},
    {.name = "cost", .summary = "of a link", .type = HD_OPTION_CHOICE, .choices = "hops|rate"},
};

static unsigned count_one(void)
{
	return 1;
}

static struct catalogue_entry one_entry(unsigned index)
{
	(void)index;
	return (struct catalogue_entry){"spf", "shortest paths", option_table, 2};
}

static json_t *make_described(const void *context)
{
	const struct catalogue catalogue = {"engine", count_one, one_entry};

	(void)context;
	return catalogue_json(&catalogue, NULL);
}

static void option_tables_are_whole(void **state)
{
	(void)state;
	assert_whole_or_nothing(make_described, NULL);
}

/* ---- a report with both kinds of faults ---- */

static struct hd_fabric *ring_of_four(void)
{
	struct hd_error err = {""};
	struct hd_fabric *fabric = NULL;
	const struct hd_generator *torus = hd_generator_find("torus");
	struct hd_options *options = hd_options_new(torus->options, torus->option_count);

	if (hd_options_set(options, "dims", "4", &err) || torus->generate(options, &fabric, &err))
		fail_msg("%s", err.text);
	hd_options_free(options);
	return fabric;
}

/* All LIDs leave by the first link of each switch, round the ring, except one entry. */
static struct hd_routes *round_the_ring(const struct hd_fabric *fabric)
{
	struct hd_routes *routes = hd_routes_new(fabric);

	assert_non_null(routes);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
			uint32_t exit;
			uint8_t port;
			assert_true(hd_fabric_lid_destination(fabric, lid, &exit, &port));
			hd_routes_row(routes, sw)[lid] =
			    exit == sw ? port : fabric->isl_port[fabric->isl_base[sw]];
		}
	}
	hd_routes_row(routes, 0)[fabric->lid[fabric->host_port[2]]] = HD_NO_PORT;
	return routes;
}

static json_t *make_report(const void *context)
{
	return check_json(context);
}

static void reports_are_whole(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_fabric *fabric = ring_of_four();
	struct hd_routes *routes = round_the_ring(fabric);
	struct hd_check_report *report = NULL;
	if (hd_check(fabric, routes, &(struct hd_check_options){.threads = 1}, &report, &err))
		fail_msg("%s", err.text);
	assert_true(report->credit_loops && report->no_route);
	char text[] = "a.lft:1: rows are missing";
	struct hd_table_defect one = {HD_DEFECT_INCOMPLETE, text};
	struct hd_table_defects defects = {.list = &one, .kept = 1, .room = 1, .count = 1};
	assert_whole_or_nothing(
	    make_report,
	    &(struct check_view){"ring", fabric, routes, report, &defects, 20, NULL, {2, 1}});
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* ---- paths and trees ---- */

static json_t *make_paths(const void *context)
{
	return paths_report_json(context);
}

static void paths_are_whole(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_fabric *fabric = ring_of_four();
	struct hd_routes *routes = round_the_ring(fabric);
	for (uint32_t to = 1; to < 3; to++) { /* one that arrives, one that does not */
		struct hd_path_set *set = NULL;
		if (hd_path_set_new(fabric, routes, fabric->host_port[0], fabric->host_port[to],
				    &set, &err))
			fail_msg("%s", err.text);
		assert_int_equal(set->arrived, to == 1);
		assert_whole_or_nothing(make_paths,
					&(struct paths_view){fabric, routes, set, "ring"});
		hd_path_set_free(set);
	}
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static json_t *make_mcast(const void *context)
{
	return mcast_report_json(context);
}

/* Ports 1 (its host), 2 and 3 at every switch of the ring: a loop. */
static void multicast_trees_are_whole(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_fabric *fabric = ring_of_four();
	struct hd_mft_entry entries[4];
	const struct hd_mft_group group = {.entries = entries, .entry_count = 4, .source = HD_NONE};
	struct hd_mft_report *report = NULL;
	struct mcast_tree tree;
	for (uint32_t sw = 0; sw < 4; sw++)
		entries[sw] = (struct hd_mft_entry){0xC000, sw, {{1 << 1 | 1 << 2 | 1 << 3}}};
	if (hd_mft_check(fabric, &group, &report, &err))
		fail_msg("%s", err.text);
	assert_int_equal(report->fault_count, 1);
	assert_int_equal(mcast_tree_make(fabric, &group, HD_NONE, &tree), 0);
	assert_whole_or_nothing(make_mcast,
				&(struct mcast_view){fabric, 0xC000, &group, report, &tree});
	mcast_tree_release(&tree);
	hd_mft_report_free(report);
	hd_fabric_free(fabric);
}

/* ---- reports of bandwidth ---- */

struct bench {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct processes alone;
	struct workload workload;
	struct workload_on on;
	struct hd_congestion_report *report;
	struct ebb_broken broken;
};

static void bench_begin(struct bench *bench)
{
	struct hd_error err = {""};

	*bench = (struct bench){.fabric = ring_of_four(), .alone = {.parts = 1}};
	bench->routes = round_the_ring(bench->fabric);
	assert_int_equal(workload_init(&bench->workload, &bench->alone), 0);
	bench->workload.count = 20;
	bench->workload.threads = 1;
	if (workload_place(&bench->workload, bench->fabric, &bench->on, &err) ||
	    hd_broken_routes(bench->routes, bench->on.ranks, 1, bench->broken.routes,
			     bench->broken.list, EBB_BROKEN_SHOWN, &bench->broken.listed, &err))
		fail_msg("%s", err.text);
	struct hd_congestion_request request =
	    workload_request(&bench->workload, &bench->on, bench->routes);
	request.link_flows = true;
	if (hd_congestion_run(&request, &bench->report, &err))
		fail_msg("%s", err.text);
	assert_true(bench->broken.listed > 0);
}

static void bench_end(struct bench *bench)
{
	hd_congestion_report_free(bench->report);
	workload_on_release(&bench->on);
	workload_release(&bench->workload);
	hd_routes_free(bench->routes);
	hd_fabric_free(bench->fabric);
}

static json_t *make_ebb(const void *context)
{
	return ebb_json(context);
}

static void bandwidths_are_whole(void **state)
{
	(void)state;
	struct bench bench;
	bench_begin(&bench);
	assert_whole_or_nothing(make_ebb, &(struct ebb_view){.fabric_path = "ring",
							     .tables_name = "round",
							     .workload = &bench.workload,
							     .on = &bench.on,
							     .report = bench.report,
							     .broken = &bench.broken,
							     .hot = 3});
	bench_end(&bench);
}

static json_t *make_compare(const void *context)
{
	return compare_json(context);
}

static void comparisons_are_whole(void **state)
{
	(void)state;
	struct bench bench;
	uint32_t worse[] = {2, 0};
	bench_begin(&bench);
	const struct compare_side sides[] = {
	    {.name = "round", .report = bench.report, .broken = bench.broken},
	    {.name = "again", .report = bench.report, .worse = worse, .worse_count = 2},
	};
	assert_whole_or_nothing(make_compare, &(struct compare_view){.fabric_path = "ring",
								     .workload = &bench.workload,
								     .on = &bench.on,
								     .sides = sides,
								     .count = 2});
	bench_end(&bench);
}

static json_t *make_survive(const void *context)
{
	return survive_json(context);
}

static void survivals_are_whole(void **state)
{
	(void)state;
	struct bench bench;
	const struct survive_share shares[] = {
	    {.percent = 1, .trials = 3, .routed = 2, .sum = 1.5, .worst = 0.5, .changed = 7},
	    {.percent = 2, .trials = 3, .refusal = "no path"},
	};
	struct survive_repair list[] = {
	    {.lost = "cable 'a'[1] - 'b'[2]", .entries = 7, .switches = 2, .plan_ms = 0.5},
	    {.lost = "switch 'a'", .is_switch = true, .refusal = "no path", .loop = 3},
	};
	const struct survive_repairs repairs = {.each = 1, .count = 2, .list = list};
	bench_begin(&bench);
	assert_whole_or_nothing(make_survive, &(struct survive_view){.fabric_path = "ring",
								     .engine = "spf",
								     .workload = &bench.workload,
								     .on = &bench.on,
								     .intact = 0.75,
								     .shares = shares,
								     .count = 2,
								     .repairs = &repairs});
	bench_end(&bench);
}

/* ---- printing ---- */

static void what_cannot_be_made_or_printed_is_an_error(void **state)
{
	(void)state;
	allocate_badly(0);
	json_t *list = json_value_append(json_array(), json_integer(1));
	assert_int_equal(json_value_print(json_incref(list), STATUS_FAULTS), STATUS_FAULTS);
	allocate_badly(0);
	assert_int_equal(json_value_print(json_incref(list), STATUS_CLEAN), STATUS_CLEAN);
	unsigned needed = allocations;
	assert_true(needed > 0);
	for (unsigned number = 1; number <= needed; number++) {
		allocate_badly(number);
		assert_int_equal(json_value_print(json_incref(list), STATUS_CLEAN), STATUS_BAD);
	}
	allocate_badly(0);
	json_decref(list);
	assert_int_equal(json_value_print(NULL, STATUS_CLEAN), STATUS_BAD);
}

static void a_missing_part_takes_the_whole_along(void **state)
{
	(void)state;
	assert_null(json_value_append(json_array(), NULL));
	assert_null(json_value_append(NULL, json_integer(1)));
	assert_null(json_value_set(json_object(), "key", NULL));
	assert_null(json_value_set(NULL, "key", json_integer(1)));
	json_t *object = json_value_set(json_object(), "key", json_integer(7));
	assert_int_equal(json_integer_value(json_object_get(object, "key")), 7);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_missing_part_takes_the_whole_along),
	    cmocka_unit_test(option_tables_are_whole),
	    cmocka_unit_test(reports_are_whole),
	    cmocka_unit_test(paths_are_whole),
	    cmocka_unit_test(multicast_trees_are_whole),
	    cmocka_unit_test(bandwidths_are_whole),
	    cmocka_unit_test(comparisons_are_whole),
	    cmocka_unit_test(survivals_are_whole),
	    cmocka_unit_test(what_cannot_be_made_or_printed_is_an_error),
	};

	json_set_alloc_funcs(allocate, free);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
