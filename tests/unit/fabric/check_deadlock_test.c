/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Credit loops on fabrics of which it is known whether their routes have one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "check_samples.h"

static struct hd_check_report *check(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_check_report *report = NULL;
	struct hd_error err;

	assert_int_equal(hd_check(fabric, routes, NULL, &report, &err), 0);
	return report;
}

static void closed(const struct hd_fabric *fabric, const struct hd_fault *fault)
{
	for (uint32_t i = 0; i < fault->path_length; i++) {
		uint32_t next = fault->path[(i + 1) % fault->path_length];
		assert_int_equal(fabric->isl_to[fault->path[i]], hd_isl_from(fabric, next));
	}
}

static void expect_loop_of(struct hd_fabric *fabric, struct hd_routes *routes, uint32_t length)
{
	struct hd_check_report *report = check(fabric, routes);

	assert_int_equal(report->no_route + report->dead_end + report->loop, 0);
	assert_false(hd_check_clean(report));
	assert_int_equal(report->credit_loops, 1);
	assert_int_equal(report->fault_count, 1);
	assert_int_equal(report->faults[0].kind, HD_FAULT_CREDIT_LOOP);
	assert_int_equal(report->faults[0].path_length, length);
	closed(fabric, &report->faults[0]);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Shortest paths on a ring of five go two hops each way: each direction is one loop of five. */
static void ring_has_a_loop(void **unused)
{
	uint64_t state = 1;
	struct hd_fabric *fabric = sample_ring(5);

	(void)unused;
	expect_loop_of(fabric, sample_shortest(fabric, &state), 5);
}

/* A ring of three has one-hop routes only: no link waits for another. */
static void triangle_has_none(void **unused)
{
	uint64_t state = 1;
	struct hd_fabric *fabric = sample_ring(3);
	struct hd_routes *routes = sample_shortest(fabric, &state);
	struct hd_check_report *report = check(fabric, routes);

	(void)unused;
	assert_true(hd_check_clean(report));
	assert_int_equal(report->lanes, 1);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Left to chance among the shortest, routes on a torus turn every way. */
static void torus_has_a_loop(void **unused)
{
	uint64_t state = 3;
	struct hd_fabric *fabric = sample_torus(5, 5);
	struct hd_routes *routes = sample_shortest(fabric, &state);
	struct hd_check_report *report = check(fabric, routes);

	(void)unused;
	assert_int_equal(report->credit_loops, 1);
	assert_in_range(report->faults[0].path_length, 2, 5);
	closed(fabric, &report->faults[0]);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Between hosts a tree goes up, then down: no loop. Counting switches' own packets, which
 * may go down and up again, there is one. */
static void tree_has_none_between_hosts(void **unused)
{
	uint64_t state = 1;
	struct hd_fabric *fabric = sample_tree(4, 3, 2);
	struct hd_routes *routes = sample_shortest(fabric, &state);
	struct hd_check_options options = {.switch_traffic = true};
	struct hd_check_report *report = check(fabric, routes);

	(void)unused;
	assert_true(hd_check_clean(report));
	assert_true(report->max_stretch == 1.0);
	assert_int_equal(report->routes, 8 * 7);
	hd_check_report_free(report);
	assert_int_equal(hd_check(fabric, routes, &options, &report, NULL), 0);
	assert_int_equal(report->credit_loops, 1);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static uint32_t position(const struct hd_fabric *fabric, uint32_t lid)
{
	uint32_t sw = HD_NONE;
	uint8_t port;

	assert_true(hd_fabric_lid_destination(fabric, lid, &sw, &port));
	return sw;
}

/* Shortest routes on a ring of odd length, those that pass between the last switch and the first
 * on level 1. */
static struct hd_routes *dateline(const struct hd_fabric *fabric)
{
	uint64_t state = 1;
	struct hd_routes *routes = sample_shortest(fabric, &state);

	routes->sl = calloc((size_t)routes->switch_count, routes->stride);
	routes->sl2vl[1] = 1;
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint32_t to = position(fabric, lid), apart = sw > to ? sw - to : to - sw;
			routes->sl[(size_t)sw * routes->stride + lid] =
			    apart > fabric->switch_count / 2;
		}
	return routes;
}

/* A ring has a loop on one lane, and none when the routes that pass the dateline have a lane of
 * their own. */
static void second_lane_breaks_the_ring(void **unused)
{
	struct hd_fabric *fabric = sample_ring(7);
	struct hd_routes *routes = dateline(fabric);
	struct hd_check_report *report = check(fabric, routes);

	(void)unused;
	assert_true(hd_check_clean(report));
	assert_int_equal(report->lanes, 2);
	hd_check_report_free(report);
	routes->sl2vl[1] = 0;
	report = check(fabric, routes);
	assert_int_equal(report->lanes, 1);
	hd_check_report_free(report);
	expect_loop_of(fabric, routes, 7);
}

static struct hd_routes *one_way_round(const struct hd_fabric *fabric)
{
	struct hd_routes *routes = hd_routes_new(fabric);
	uint32_t to;
	uint8_t port;

	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			assert_true(hd_fabric_lid_destination(fabric, lid, &to, &port));
			hd_routes_row(routes, sw)[lid] = sw == to ? port : 1;
		}
	return routes;
}

/* On a ring of seven walked one way round each link that way carries the routes of one hop or
 * more from the next switch, two or more from the one after ...; the other way it is idle. */
static void flows_and_stretch_of_one_way_round(void **unused)
{
	struct hd_fabric *fabric = sample_ring(7);
	struct hd_routes *routes = one_way_round(fabric);
	struct hd_check_report *report = check(fabric, routes);

	(void)unused;
	assert_int_equal(report->flows_max, 1 + 2 + 3 + 4 + 5 + 6);
	assert_int_equal(report->flows_min, 0);
	assert_true(report->flows_mean == 21.0 / 2);
	assert_int_equal(fabric->isl_port[report->busiest_link], 1);
	assert_int_equal(report->routes, 7 * 6);
	assert_true(report->mean_hops == 21.0 / 6);
	assert_true(report->mean_shortest == 2.0);
	assert_int_equal(report->max_hops, 6);
	assert_true(report->max_stretch == 6.0);
	assert_int_equal(report->longer_routes, 7 * 3);
	hd_check_report_free(report);
	expect_loop_of(fabric, routes, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ring_has_a_loop),
	    cmocka_unit_test(triangle_has_none),
	    cmocka_unit_test(torus_has_a_loop),
	    cmocka_unit_test(tree_has_none_between_hosts),
	    cmocka_unit_test(second_lane_breaks_the_ring),
	    cmocka_unit_test(flows_and_stretch_of_one_way_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
