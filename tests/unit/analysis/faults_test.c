/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a run makes of broken routes, and which requests it refuses. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "testing.h"

#include "random_tables.h"
#include "scene.h"

/* All offsets of random LIDs are in use: cut one and some flows break, cut none and none does. */
static void random_lids_use_every_offset(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	struct hd_fabric *fabric = NULL;
	uint64_t random = 1;
	CHECK(hd_fabric_assign_lids(scene.fabric, 2, &fabric, &err));
	struct hd_routes *routes = random_tables(fabric, &random, false);
	struct hd_ranks *ranks = all_ranks(fabric);
	for (unsigned cut = 0; cut < 5; cut++) {
		struct hd_congestion_request request = scene.request;
		request.fabric = fabric;
		request.ranks = ranks;
		request.routes = routes;
		request.lids = HD_LIDS_RANDOM;
		uint32_t host_lid = fabric->lid[fabric->host_port[0]] + (cut - 1);
		uint8_t *entry = &hd_routes_row(routes, fabric->host_switch[3])[cut ? host_lid : 0];
		uint8_t kept = *entry;
		*entry = HD_NO_PORT;
		struct hd_congestion_report *report = run(&request);
		*entry = kept;
		if (cut)
			assert_true(report->broken > 0);
		else
			assert_int_equal(report->broken, 0);
		hd_congestion_report_free(report);
	}
	hd_ranks_free(ranks);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	scene_end(&scene);
}

static void a_table_without_any_route_is_refused(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	memset(scene.routes->lft, HD_NO_PORT,
	       (size_t)scene.routes->switch_count * scene.routes->stride);
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no flow arrives in 1000 patterns (2000 flows"));
	scene_end(&scene);
}

/* One entry taken out of a leaf's and one of a top switch's table, one turned back. */
static void broken_routes_are_counted_and_listed(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct scene scene = scene_of("xgft", "children=3,2 parents=1,1", "bisect", "");
	const struct hd_fabric *fabric = scene.fabric;
	struct hd_broken_route list[8];
	uint64_t routes[HD_BROKEN_KINDS];
	uint32_t listed = 9, leaf = fabric->host_switch[0], other = fabric->host_switch[3];
	CHECK(hd_broken_routes(scene.routes, scene.ranks, 1, routes, list, 8, &listed, &err));
	assert_int_equal(listed + routes[0] + routes[1] + routes[2], 0);
	uint32_t lid[6];
	for (uint32_t host = 0; host < 6; host++)
		lid[host] = fabric->lid[fabric->host_port[host]];
	hd_routes_row(scene.routes, leaf)[lid[4]] = HD_NO_PORT;
	hd_routes_row(scene.routes, leaf)[lid[1]] = fabric->host_switch_port[0];
	hd_routes_row(scene.routes, other)[lid[5]] = 4;
	CHECK(hd_broken_routes(scene.routes, scene.ranks, 1, routes, list, 8, &listed, &err));
	assert_int_equal(routes[HD_BROKEN_NO_ENTRY], 3);
	/* Two neighbours and the three of the other leaf find host 1 at host 0's port. */
	assert_int_equal(routes[HD_BROKEN_DEAD_END], 5);
	/* Host 5 is sent up again by its own leaf. */
	assert_int_equal(routes[HD_BROKEN_LOOP], 5);
	assert_int_equal(listed, 5);
	assert_int_equal(list[0].source, leaf);
	assert_int_equal(list[0].host, 1);
	assert_int_equal(list[0].lid, lid[1]);
	assert_int_equal(list[0].kind, HD_BROKEN_DEAD_END);
	assert_int_equal(list[1].kind, HD_BROKEN_NO_ENTRY);
	scene_end(&scene);
}

/* Counts and list are the same for any number of threads. */
static void threads_change_no_broken_route(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct scene scene = scene_of("irregular", "switches=40 radix=12", "bisect", "");
	struct hd_broken_route list[5][20];
	uint64_t routes[5][HD_BROKEN_KINDS], random = 5;
	uint32_t listed[5];
	struct hd_routes *holes = random_tables(scene.fabric, &random, true);
	for (unsigned threads = 1; threads < 5; threads++) {
		CHECK(hd_broken_routes(holes, scene.ranks, threads, routes[threads], list[threads],
				       20, &listed[threads], &err));
		assert_int_equal(listed[threads], 20);
		assert_memory_equal(routes[threads], routes[1], sizeof(routes[1]));
		assert_memory_equal(list[threads], list[1], sizeof(list[1]));
	}
	assert_true(routes[1][HD_BROKEN_NO_ENTRY] > 0 && routes[1][HD_BROKEN_DEAD_END] > 0);
	hd_routes_free(holes);
	scene_end(&scene);
}

static void tables_of_another_fabric_are_refused(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	struct scene other = scene_of("kary-ntree", "k=2 n=3", "bisect", "");
	scene.request.routes = other.routes;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "tables of 12 switches"));
	scene.request.routes = scene.routes;
	scene.request.ranks = other.ranks;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	scene.request.ranks = scene.ranks;
	scene.request.patterns = 0;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	scene_end(&other);
	scene_end(&scene);
}

static int stop(void *context, const struct hd_congestion_progress *progress)
{
	*(uint64_t *)context = progress->patterns;
	return -1;
}

static int enough(void *context, const struct hd_congestion_progress *progress)
{
	*(uint64_t *)context = progress->patterns;
	return HD_CONGESTION_ENOUGH;
}

/* Beyond, sums over patterns would overflow. With one less it runs, until it is stopped. */
static void patterns_that_sums_cannot_hold_are_refused(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;
	uint64_t told = 0;
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	scene.request.progress = stop;
	scene.request.progress_context = &told;
	scene.request.patterns = (uint64_t)UINT32_MAX + 1;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "4294967296 patterns, expected 4294967295 or fewer"));
	assert_int_equal(told, 0);
	scene.request.patterns = UINT32_MAX;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -ECANCELED);
	scene_end(&scene);
}

static void progress_can_stop_the_run(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;
	uint64_t told = 0;
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	scene.request.patterns = 1000000;
	scene.request.progress = stop;
	scene.request.progress_context = &told;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -ECANCELED);
	assert_true(told > 0 && told < 1000000);
	scene_end(&scene);
}

/* The report is that of a run with so few patterns. */
static void progress_can_end_the_run(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_congestion_report *early, *whole;
	uint64_t told = 0;
	struct scene scene = scene_of("kary-ntree", "k=2 n=3", "bisect", "");
	scene.request.patterns = 1000000;
	scene.request.progress = enough;
	scene.request.progress_context = &told;
	assert_int_equal(hd_congestion_run(&scene.request, &early, &err), 0);
	assert_true(early->partial && early->patterns == told && told < 1000000);
	scene.request.patterns = told;
	assert_int_equal(hd_congestion_run(&scene.request, &whole, &err), 0);
	assert_true(!whole->partial && whole->patterns == told);
	assert_true(whole->mean == early->mean && whole->half_width == early->half_width);
	hd_congestion_report_free(early);
	hd_congestion_report_free(whole);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_lids_use_every_offset),
	    cmocka_unit_test(a_table_without_any_route_is_refused),
	    cmocka_unit_test(broken_routes_are_counted_and_listed),
	    cmocka_unit_test(threads_change_no_broken_route),
	    cmocka_unit_test(tables_of_another_fabric_are_refused),
	    cmocka_unit_test(patterns_that_sums_cannot_hold_are_refused),
	    cmocka_unit_test(progress_can_stop_the_run),
	    cmocka_unit_test(progress_can_end_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
