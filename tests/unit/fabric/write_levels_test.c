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

/* Node GUIDs and all LIDs of hosts; h3 is cabled to the switch of h1 and uses the same SLs. */
static void paths_are_written_for_each_node(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes = routes_with_levels(fabric);
	routes->sl[6] = 15;
	routes->sl[routes->stride + 4] = 2;
	char *text = written(hd_routes_write_psl, fabric, routes);
	assert_string_equal(text, "0x0000000000100000 4 0\n0x0000000000100000 5 0\n"
				  "0x0000000000100000 6 15\n0x0000000000100000 7 0\n"
				  "0x0000000000100000 8 0\n"
				  "0x0000000000100002 4 2\n0x0000000000100002 5 0\n"
				  "0x0000000000100002 6 0\n0x0000000000100002 7 0\n"
				  "0x0000000000100002 8 0\n"
				  "0x0000000000100004 4 0\n0x0000000000100004 5 0\n"
				  "0x0000000000100004 6 15\n0x0000000000100004 7 0\n"
				  "0x0000000000100004 8 0\n");
	free(text);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static const char two_ports[] =
    "Switch 2 \"S-0000000000200000\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"h1\" lid 3 4xEDR\n"
    "Switch 2 \"S-0000000000200001\" # \"leaf2\" base port 0 lid 2 lmc 0\n"
    "[1] \"H-0000000000100000\"[2](100002) # \"h1\" lid 4 4xEDR\n"
    "Ca 2 \"H-0000000000100000\" # \"h1\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 3 lmc 0 \"leaf1\" lid 1 4xEDR\n"
    "[2](100002) \"S-0000000000200001\"[1] # lid 4 lmc 0 \"leaf2\" lid 2 4xEDR\n";

static void a_node_with_two_sls_for_a_lid_cannot_be_told_to_ibdmchk(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(two_ports);
	struct hd_routes *routes = routes_with_levels(fabric);
	struct hd_error err = {""};
	FILE *sink = fopen("/dev/null", "w");
	assert_non_null(sink);
	assert_int_equal(hd_routes_write_psl(fabric, routes, sink, &err), 0);
	routes->sl[routes->stride + 4] = 3;
	assert_int_equal(hd_routes_write_psl(fabric, routes, sink, &err), -ENOTSUP);
	assert_says(err.text, "'h1' 0x0000000000100000 sends LID 4 on SL 0 by one port and on SL 3 "
			      "by port 2");
	fclose(sink);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void lanes_are_written_for_each_pair_of_cabled_ports(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(two_ports);
	struct hd_routes *routes = routes_with_levels(fabric);
	routes->sl2vl[2] = 14;
	char *text = written(hd_routes_write_slvl, fabric, routes);
	assert_string_equal(text,
			    "0x0000000000200000 1 1 0x01 0xe3 0x45 0x67 0x89 0xab 0xcd 0xef\n"
			    "0x0000000000200001 1 1 0x01 0xe3 0x45 0x67 0x89 0xab 0xcd 0xef\n");
	free(text);
	hd_fabric_free(fabric);
	fabric = parse(levels_topology);
	text = written(hd_routes_write_slvl, fabric, routes);
	unsigned lines = 0;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 4 * 4 + 3 * 3);
	free(text);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void a_stream_that_fails_is_said(void **state)
{
	(void)state;
	static routes_writer *const writers[] = {hd_routes_write_levels, hd_routes_write_psl,
						 hd_routes_write_slvl};
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
	    cmocka_unit_test(paths_are_written_for_each_node),
	    cmocka_unit_test(a_node_with_two_sls_for_a_lid_cannot_be_told_to_ibdmchk),
	    cmocka_unit_test(lanes_are_written_for_each_pair_of_cabled_ports),
	    cmocka_unit_test(a_stream_that_fails_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
