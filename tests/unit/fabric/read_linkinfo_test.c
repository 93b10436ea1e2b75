/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* iblinkinfo: what its output says about nodes, cables, LIDs and speeds; what it does not say is
 * refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "read_testing.h"

#define LEAF                                                                                       \
	"Switch: 0x0000000000200000 leaf: one:\n"                                                  \
	"           3    1[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       9    2[  ] "    \
	"\"node \"1\" HCA\" (Could be 12X Could be 53.125 Gbps)\n"                                 \
	"           3    2[  ] ==( 4X 10.0 Gbps (FDR10) Active/  LinkUp) (HOQ:0 VL_Stall:7)==>   " \
	"  "                                                                                       \
	"  4    1[ 7] \"spine\" ( )\n"                                                             \
	"           3    3[  ] ==(                Down/ Polling)==>             [  ] \"\" ( )\n"
#define SPINE                                                                                      \
	"Switch: 0x0000000000200010 spine:\n"                                                      \
	"           4    1[ 7] ==( 4X 10.0 Gbps (FDR10) Active/  LinkUp)==>       3    2[  ] "     \
	"\"leaf: one\" ( )\n"                                                                      \
	"           4    2[  ] ==(                Down/Disabled)==>    \"Port not available\"\n"
#define HOST                                                                                       \
	"CA: node \"1\" HCA:\n"                                                                    \
	"      0x0000000000100001      9    1[  ] ==(                Down/ Polling)==>           " \
	"  "                                                                                       \
	"[  ] \"\" ( )\n"                                                                          \
	"      0x0000000000100002      9    2[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>  " \
	"  "                                                                                       \
	"   3    1[  ] \"leaf: one\" ( )\n"

static void nodes_cables_lids_and_speeds_are_read(void **state)
{
	(void)state;
	struct remarks remarks = {""};
	struct hd_fabric *fabric = parse_remarked("$ iblinkinfo\n" LEAF SPINE HOST, &remarks);
	assert_size(fabric, 1, 2, 1);
	assert_cabled(fabric, "leaf: one", 1, "node \"1\" HCA", 2);
	assert_cabled(fabric, "leaf: one", 2, "spine", 1);
	uint32_t leaf = node_named(fabric, "leaf: one"),
		 host = node_named(fabric, "node \"1\" HCA");
	assert_int_equal(hd_node_ports(fabric, leaf), 3);
	assert_int_equal(hd_node_ports(fabric, host), 2);
	assert_true(fabric->node_guid[leaf] == 0x200000 && fabric->node_guid[host] == 0x100001);
	assert_true(fabric->port_guid[hd_port_index(fabric, host, 2)] == 0x100002);
	assert_int_equal(fabric->lid[hd_port_index(fabric, leaf, 0)], 3);
	assert_int_equal(fabric->lid[hd_port_index(fabric, host, 2)], 9);
	assert_int_equal(fabric->lid[hd_port_index(fabric, host, 1)], 0);
	assert_int_equal(fabric->speed[hd_port_index(fabric, leaf, 1)], HD_SPEED_EDR);
	assert_int_equal(fabric->speed[hd_port_index(fabric, leaf, 2)], HD_SPEED_FDR10);
	assert_int_equal(fabric->width[hd_port_index(fabric, leaf, 2)], 4);
	assert_says(remarks.text, "1 line");
	hd_fabric_free(fabric);
}

/* Property: every speed that the tool prints is the one that it means. */
static void speeds_are_told_apart(void **state)
{
	static const struct {
		const char *text;
		enum hd_speed speed;
	} rates[] = {{"2.5 Gbps", HD_SPEED_SDR},	 {"5.0 Gbps", HD_SPEED_DDR},
		     {"10.0 Gbps", HD_SPEED_QDR},	 {"10.0 Gbps (FDR10)", HD_SPEED_FDR10},
		     {"14.0625 Gbps", HD_SPEED_FDR},	 {"25.78125 Gbps", HD_SPEED_EDR},
		     {"53.125 Gbps", HD_SPEED_HDR},	 {"106.25 Gbps", HD_SPEED_NDR},
		     {"undefined (7)", HD_SPEED_UNKNOWN}};

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		char *text;
		assert_true(
		    asprintf(
			&text,
			"Switch: 0x200000 a:\n 1 1[  ] ==( 2X %18s Active/  LinkUp)==> 2 1[  ] "
			"\"b\" ( )\nSwitch: 0x200010 b:\n 2 1[  ] ==( 2X %18s Active/  "
			"LinkUp)==> 1 1[  ] \"a\" ( )\n",
			rates[i].text, rates[i].text) > 0);
		struct hd_fabric *fabric = parse(text);
		assert_int_equal(fabric->speed[hd_port_index(fabric, 0, 1)], rates[i].speed);
		assert_int_equal(fabric->width[hd_port_index(fabric, 0, 1)], 2);
		hd_fabric_free(fabric);
		free(text);
	}
}

static void what_does_not_say_enough_is_refused(void **state)
{
	(void)state;
	assert_parse_refused(LEAF SPINE, -EINVAL,
			     "topo:2: ", "LID 9 port 2, has no line in the file");
	assert_parse_refused(LEAF HOST, -EINVAL,
			     "topo:3: ", "LID 4 port 1, has no line in the file");
	assert_parse_refused(
	    "Switch: 0x200000 a:\n 0 1[  ] ==( 4X 2.5 Gbps Active/ LinkUp)==> 0 1[  ] "
	    "\"b\" ( )\n",
	    -EINVAL, "topo:2: ", "LID 0");
	assert_parse_refused(
	    "0x0000000000100051 \"   H_2_1\"      6    1[  ] ==( 4X 25.78125 Gbps "
	    "Active/  LinkUp)==>  0x0000000000200020      9    2[  ] \"S1_2\" ( )\n",
	    -EINVAL, "topo:1: ", "without -l");
}

static void wrong_lines_are_refused_by_number(void **state)
{
	static const char *const bad[] = {
	    " x    1[  ] ==( 4X 2.5 Gbps Active/ LinkUp)==> 2 1[  ] \"b\" ( )\n",
	    " 1    1 ==( 4X 2.5 Gbps Active/ LinkUp)==> 2 1[  ] \"b\" ( )\n",
	    " 1    1[  ] ==( 4X 2.5 Gbps Active/ LinkUp)==> 2 1[  ] b ( )\n",
	    " 1    1[  ] ==( 4X 2.5 Gbps Active/ LinkUp)==> 2 1[  ] \"b\n",
	    " 1    1[  ] ==( 4X 2.5 Gbps Active/ LinkUp)==> 2\n",
	    " 0x7  1 1[  ] ==( 4X 2.5 Gbps Active/ LinkUp)==> 2 1[  ] \"b\" ( )\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char *text;
		assert_true(asprintf(&text, "Switch: 0x200000 a:\n%s", bad[i]) > 0);
		assert_parse_refused(text, -EINVAL, "topo:2: ", "expected LID PORT[EXT]");
		free(text);
	}
	assert_parse_refused(" 1 1[  ] ==( 4X 2.5 Gbps Active/ LinkUp)==> 2 1[  ] \"b\" ( )\n",
			     -EINVAL, "topo:1: ", "a port line before any node");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nodes_cables_lids_and_speeds_are_read),
	    cmocka_unit_test(speeds_are_told_apart),
	    cmocka_unit_test(what_does_not_say_enough_is_refused),
	    cmocka_unit_test(wrong_lines_are_refused_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
