/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* opensm-lfts.dump: the form OpenSM writes, and that reading it back gives the same tables. */
#include <errno.h>
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "read_testing.h"

/* Two switches with a host each; the first switch's GUID comes second in network byte order. */
static struct hd_fabric *pair(void)
{
	return parse("Switch 4 \"S-0000000000200001\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
		     "[1] \"H-0000000000100000\"[1](100001) # \"h1\" lid 4 4xEDR\n"
		     "[3] \"S-0000000000300000\"[3] # \"leaf2\" lid 2 4xEDR\n"
		     "Switch 4 \"S-0000000000300000\" # \"leaf2\" base port 0 lid 2 lmc 0\n"
		     "[1] \"R-0000000000100002\"[1](100003) # \"r2\" lid 6 4xEDR\n"
		     "[3] \"S-0000000000200001\"[3] # \"leaf1\" lid 1 4xEDR\n"
		     "Ca 1 \"H-0000000000100000\" # \"h1\"\n"
		     "[1](100001) \"S-0000000000200001\"[1] # lid 4 lmc 1 \"leaf1\" lid 1 4xEDR\n"
		     "Rt 1 \"R-0000000000100002\" # \"r2\"\n"
		     "[1](100003) \"S-0000000000300000\"[1] # lid 6 lmc 0 \"leaf2\" lid 2 4xEDR\n");
}

static void the_form_is_opensms(void **state)
{
	(void)state;
	struct hd_fabric *fabric = pair();
	struct hd_routes *routes = hd_routes_new(fabric);
	static const uint8_t rows[2][7] = {{0xFF, 0, 3, 4, 1, 1, 0xFF},
					   {0xFF, 3, 0, 0xFF, 3, 5, 1}};
	for (uint32_t sw = 0; sw < 2; sw++)
		memcpy(hd_routes_row(routes, sw), rows[sw], 7);
	char *text = dump_of(fabric, routes);
	assert_string_equal(
	    text, "Unicast lids [0-6] of switch Lid 2 guid 0x0000000000300000 ('leaf2'):\n"
		  "0x0001 003 # Switch portguid 0x0000000000200001: 'leaf1'\n"
		  "0x0002 000 # Switch portguid 0x0000000000300000: 'leaf2'\n"
		  "0x0004 003 # Channel Adapter portguid 0x0000000000100001: 'h1'\n"
		  "0x0006 001 # Router portguid 0x0000000000100003: 'r2'\n"
		  "6 lids dumped\n"
		  "Unicast lids [0-6] of switch Lid 1 guid 0x0000000000200001 ('leaf1'):\n"
		  "0x0001 000 # Switch portguid 0x0000000000200001: 'leaf1'\n"
		  "0x0002 003 # Switch portguid 0x0000000000300000: 'leaf2'\n"
		  "0x0003 004 # unknown node and type\n"
		  "0x0004 001 # Channel Adapter portguid 0x0000000000100001: 'h1'\n"
		  "0x0005 001 # Channel Adapter portguid 0x0000000000100001: 'h1'\n"
		  "6 lids dumped\n");
	free(text);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void blocks_have_two_digits_an_entry(void **state)
{
	(void)state;
	struct hd_fabric *fabric = pair();
	struct hd_routes *routes = hd_routes_new(fabric);
	static const uint8_t row[7] = {0xFF, 0, 3, 4, 1, 1, 0xFF};
	memcpy(hd_routes_row(routes, 0), row, 7);
	char *text = written(hd_routes_write_blocks, fabric, routes);
	assert_string_equal(text, "Blocks of switch Lid 1 guid 0x0000000000200001 ('leaf1'):\n"
				  "block 0x0000 ff0003040101ff\n"
				  "5 entries dumped\n"
				  "Blocks of switch Lid 2 guid 0x0000000000300000 ('leaf2'):\n"
				  "0 entries dumped\n");
	free(text);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Any port, and no port, for every LID that is somebody's. */
static void fill_at_random(const struct hd_fabric *fabric, struct hd_routes *routes, uint64_t seed)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			if (fabric->lid_owner[lid] != HD_NONE && hd_random_below(&seed, 10))
				hd_routes_row(routes, sw)[lid] =
				    (uint8_t)hd_random_below(&seed, hd_node_ports(fabric, sw) + 1);
}

static void what_is_written_is_read_back(void **state)
{
	static const char *const fabrics[][2] = {{"xgft", "children=6,6 parents=1,6"},
						 {"torus", "dims=3,3,3"},
						 {"irregular", "switches=30 radix=8 seed=7"}};

	(void)state;
	for (uint64_t i = 0; i < sizeof(fabrics) / sizeof(*fabrics) * 3; i++) {
		struct hd_fabric *fabric = NULL;
		struct hd_fabric *made = generate(fabrics[i / 3][0], fabrics[i / 3][1]);
		assert_int_equal(hd_fabric_assign_lids(made, (unsigned)(i % 3), &fabric, NULL), 0);
		struct hd_routes *routes = hd_routes_new(fabric), *back = NULL;
		fill_at_random(fabric, routes, i);
		char *text = dump_of(fabric, routes);
		struct hd_error err = {""};
		if (hd_routes_parse(text, strlen(text), "lfts", fabric, NULL, &back, &err))
			fail_msg("%s", err.text);
		assert_true(hd_routes_equal(routes, back));
		free(text);
		hd_routes_free(back);
		text = written(hd_routes_write_blocks, fabric, routes);
		if (hd_routes_parse(text, strlen(text), "blocks", fabric, NULL, &back, &err))
			fail_msg("%s", err.text);
		assert_true(hd_routes_equal(routes, back));
		free(text);
		hd_routes_free(back);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
		hd_fabric_free(made);
	}
}

static void a_stream_that_fails_is_said(void **state)
{
	static routes_writer *const writers[] = {hd_routes_write_dump, hd_routes_write_blocks};
	struct hd_fabric *fabric = pair();
	struct hd_routes *routes = hd_routes_new(fabric);

	(void)state;
	for (unsigned i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
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
	    cmocka_unit_test(the_form_is_opensms),
	    cmocka_unit_test(blocks_have_two_digits_an_entry),
	    cmocka_unit_test(what_is_written_is_read_back),
	    cmocka_unit_test(a_stream_that_fails_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
