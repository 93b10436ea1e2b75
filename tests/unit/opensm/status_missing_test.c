/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Missing entries are counted one by one here: those of a switch that reaches the LID's switch by
 * cables. Tables of damaged fabrics, and tables from which entries were taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "generated.h"
#include "status_missing.h"
#include "status_report.h"
#include "variants.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <string.h>

/* Marks the switches that cables connect with `sw`. */
static void reach(const struct hd_fabric *fabric, uint32_t sw, bool *reached)
{
	reached[sw] = true;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (!reached[fabric->isl_to[link]])
			reach(fabric, fabric->isl_to[link], reached);
}

static struct status_missing count_slowly(const struct hd_fabric *fabric,
					  const struct hd_routes *routes)
{
	struct status_missing missing = {0};
	bool *reached = malloc(fabric->switch_count);

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		memset(reached, 0, fabric->switch_count);
		reach(fabric, sw, reached);
		for (uint32_t lid = 1, to; lid < fabric->lid_count; lid++) {
			uint8_t port;
			if (!hd_fabric_lid_destination(fabric, lid, &to, &port) || !reached[to] ||
			    hd_routes_port(routes, sw, lid) != HD_NO_PORT)
				continue;
			if (!missing.count++) {
				missing.sw = sw;
				missing.lid = lid;
			}
		}
	}
	free(reached);
	return missing;
}

static void assert_counted(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct status_missing missing, slow = count_slowly(fabric, routes);

	assert_int_equal(status_missing_count(fabric, routes, &missing, NULL), 0);
	assert_int_equal(missing.count, slow.count);
	assert_int_equal(missing.sw, slow.sw);
	assert_int_equal(missing.lid, slow.lid);
}

static void take_entries(const struct hd_fabric *fabric, struct hd_routes *routes, uint64_t random)
{
	for (uint64_t left = hd_random_below(&random, 30); left; left--) {
		uint32_t sw = (uint32_t)hd_random_below(&random, fabric->switch_count);
		hd_routes_row(routes, sw)[hd_random_below(&random, fabric->lid_count)] = HD_NO_PORT;
	}
}

static void one_by_one(void **state)
{
	(void)state;
	struct hd_fabric *whole, *fabric;
	uint64_t missing = 0;

	assert_int_equal(generated_fabric("xgft", "children=3,3,3 parents=1,3,3", &whole, NULL), 0);
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct hd_route_request request = {0};
		struct hd_routes *routes = NULL;
		assert_int_equal(variants_damaged(whole, (unsigned)seed, seed, &fabric, NULL), 0);
		request.fabric = fabric;
		if (!hd_engine_route(hd_engine_find("updown"), &request, &routes, NULL)) {
			assert_counted(fabric, routes);
			take_entries(fabric, routes, seed);
			assert_counted(fabric, routes);
			missing += count_slowly(fabric, routes).count;
		}
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	assert_true(missing > 40);
	hd_fabric_free(whole);
}

/* What a report says of tables from which so many entries of the second switch were taken. */
static void assert_reported(uint32_t taken, const char *fault)
{
	struct hd_fabric *fabric;
	struct hd_routes *routes = NULL;
	struct status_missing missing;
	struct status_report report;
	struct status_answer answer;
	char number[48];

	assert_int_equal(generated_fabric("xgft", "children=2,2 parents=1,2", &fabric, NULL), 0);
	assert_int_equal(hd_engine_route(hd_engine_find("dmodk"),
					 &(struct hd_route_request){.fabric = fabric}, &routes,
					 NULL),
			 0);
	for (uint32_t host = 0; host < taken; host++)
		hd_routes_row(routes, 1)[fabric->lid[fabric->host_port[host]]] = HD_NO_PORT;
	assert_int_equal(status_missing_count(fabric, routes, &missing, NULL), 0);
	assert_int_equal(status_report_begin(&report, NULL), 0);
	status_report_section(&report, "load");
	status_missing_report(fabric, &missing, &report);
	assert_int_equal(status_report_end(&report, &answer, NULL), 0);
	snprintf(number, sizeof(number), "\"missing_entries\":%u", taken);
	assert_non_null(strstr(answer.json, number));
	snprintf(number, sizeof(number), "heddle_missing_entries %u\n", taken);
	assert_non_null(strstr(answer.metrics, number));
	assert_non_null(strstr(answer.json, fault));
	free(answer.json);
	free(answer.metrics);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* The number is in the report and its metric; if it is not 0, there is a fault, which names the first. */
static void the_first_is_named(void **state)
{
	(void)state;
	assert_reported(0, "\"fault_count\":0");
	assert_reported(
	    1, "\"1 entry is missing in the switches; the first is that of 'S1_1' for LID ");
	assert_reported(
	    2, "\"2 entries are missing in the switches; the first is that of 'S1_1' for LID ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(one_by_one),
					   cmocka_unit_test(the_first_is_named)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
