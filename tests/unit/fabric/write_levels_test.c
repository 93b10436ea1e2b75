/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service levels as they are written: our own dump, and ibdmchk's two files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "levels_testing.h"

static void runs_are_those_of_hosts_lids(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes = routes_with_levels(fabric);
	/* a switch's LIDs in between break no run and show no level */
	static const uint8_t levels[2][9] = {{0, 9, 9, 0, 1, 1, 2, 1, 1},
					     {0, 9, 0, 9, 3, 3, 3, 3, 3}};
	for (uint32_t sw = 0; sw < 2; sw++)
		memcpy(routes->sl + sw * routes->stride, levels[sw], sizeof(levels[sw]));
	char *text = written(hd_routes_write_levels, fabric, routes);
	assert_string_equal(text, "SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
				  "Service levels at switch guid 0x0000000000200000 ('leaf1'):\n"
				  "0x0004-0x0005 1\n"
				  "0x0006 2\n"
				  "0x0007-0x0008 1\n"
				  "3 runs dumped\n"
				  "Service levels at switch guid 0x0000000000200001 ('leaf2'):\n"
				  "0x0004-0x0008 3\n"
				  "1 runs dumped\n"
				  "2 switches dumped\n");
	free(text);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void tables_without_levels_have_the_map_alone(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes = hd_routes_new(fabric);
	char *text = written(hd_routes_write_levels, fabric, routes);
	assert_string_equal(text, "SL to VL: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
				  "0 switches dumped\n");
	free(text);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void a_stream_that_fails_is_said(void **state)
{
	(void)state;
	static levels_writer *const writers[] = {hd_routes_write_levels};
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes = routes_with_levels(fabric);
	for (size_t i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
		FILE *full = fopen("/dev/full", "w");
		struct hd_error err = {""};
		assert_non_null(full);
		assert_int_equal(writers[i](fabric, routes, full, &err), -ENOSPC);
		assert_says(err.text, "cannot write: No space left on device");
		fclose(full);
	}
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(runs_are_those_of_hosts_lids),
	    cmocka_unit_test(tables_without_levels_have_the_map_alone),
	    cmocka_unit_test(a_stream_that_fails_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
