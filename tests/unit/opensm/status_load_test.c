/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads of links are those that the checker counts, also in tables with holes, dead ends and loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "generated.h"
#include "status_load.h"
#include "variants.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/fabric/check.h>
#include <math.h>

static struct hd_routes *route(const char *engine, const struct hd_fabric *fabric)
{
	struct hd_route_request request = {.fabric = fabric};
	struct hd_routes *routes = NULL;

	return hd_engine_route(hd_engine_find(engine), &request, &routes, NULL) ? NULL : routes;
}

static void assert_as_checked(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_check_report *report;
	struct status_load load;

	assert_int_equal(hd_check(fabric, routes, NULL, &report, NULL), 0);
	assert_int_equal(status_load_count(fabric, routes, &load, NULL), 0);
	assert_int_equal(load.largest, report->flows_max);
	assert_true(fabs(load.mean - report->flows_mean) < 1e-9 * (1 + load.mean));
	if (fabric->isl_count)
		assert_int_equal(report->link_flows[load.link], load.largest);
	assert_int_equal(load.lanes, report->lanes_used);
	hd_check_report_free(report);
}

static void damage_entries(const struct hd_fabric *fabric, struct hd_routes *routes, uint64_t seed)
{
	uint64_t random = seed;

	for (unsigned i = 0; i < 40; i++) {
		uint32_t sw = (uint32_t)hd_random_below(&random, fabric->switch_count);
		uint32_t lid = 1 + (uint32_t)hd_random_below(&random, fabric->lid_count - 1);
		uint8_t port = (uint8_t)hd_random_below(&random, hd_node_ports(fabric, sw) + 1);

		routes->lft[(size_t)sw * routes->stride + lid] = i % 5 ? port : HD_NO_PORT;
	}
}

static void test_as_the_checker(void **state)
{
	(void)state;
	static const char *const fabrics[][3] = {
	    {"xgft", "children=4,4,4 parents=1,4,4", "dmodk"},
	    {"torus", "dims=4,4 hosts=2", "spf"},
	    {"torus", "dims=5,5 hosts=1", "updown"},
	    {"irregular", "switches=20 radix=8 cycles=12 hosts=3", "updown"}};

	for (unsigned i = 0; i < 4; i++) {
		struct hd_fabric *whole, *fabric;
		unsigned routed = 0;

		assert_int_equal(generated_fabric(fabrics[i][0], fabrics[i][1], &whole, NULL), 0);
		for (uint64_t seed = 1; seed <= 10; seed++) {
			if (variants_damaged(whole, (unsigned)seed % 4, seed, &fabric, NULL))
				continue;
			struct hd_routes *routes = route(fabrics[i][2], fabric);
			if (routes) {
				assert_as_checked(fabric, routes);
				damage_entries(fabric, routes, seed);
				assert_as_checked(fabric, routes);
				routed++;
			}
			hd_routes_free(routes);
			hd_fabric_free(fabric);
		}
		assert_true(routed > 2);
		hd_fabric_free(whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_the_checker)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
