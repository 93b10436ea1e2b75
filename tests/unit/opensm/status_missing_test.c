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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(one_by_one)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
