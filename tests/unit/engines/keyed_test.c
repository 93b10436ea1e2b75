/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ark and nrk: offline they have the tables of dmodk, with all its options, and take keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engines_testing.h"

static const char *const engines[] = {"ark", "nrk"};

static void check_tables(const char *kind, const char *settings, const char *options)
{
	struct hd_fabric *fabric = generate(kind, settings);
	struct hd_routes *direct = route("dmodk", options, fabric);

	for (unsigned i = 0; i < 2; i++) {
		struct hd_routes *routes = route(engines[i], options, fabric);
		assert_string_equal(routes->engine, engines[i]);
		assert_string_equal(routes->chosen, "dmodk");
		assert_true(hd_routes_equal(routes, direct));
		hd_routes_free(routes);
	}
	hd_routes_free(direct);
	hd_fabric_free(fabric);
}

static void tables_are_those_of_dmodk(void **state)
{
	(void)state;
	check_tables("xgft", "children=4,4 parents=1,2", "");
	check_tables("xgft", "children=4,4,3 parents=1,2,2", "method=balanced passes=2");
}

/* The plugin and heddle-keyd ask this fact, never a name. */
static void only_they_take_keys(void **state)
{
	unsigned count;
	const struct hd_engine *const *all = hd_engines(&count);

	(void)state;
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(all[i]->takes_keys, all[i] == hd_engine_find("ark") ? HD_TAKES_KEYS
						     : all[i] == hd_engine_find("nrk")
							 ? HD_TAKES_SHIFTED_KEYS
							 : HD_TAKES_NO_KEYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_those_of_dmodk),
					   cmocka_unit_test(only_they_take_keys)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
