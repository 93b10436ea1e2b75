/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibdiagnet's .lst: both ends of a cable on one line. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read_testing.h"

#define SW(guid, lid, port)                                                                        \
	"{ SW Ports:24 SystemGUID:00000000000000aa NodeGUID:" guid " PortGUID:" guid               \
	" VenID:0002C9 DevID:C738 Rev:000000A1 {leaf {1} a} LID:" lid " PN:" port " } "
#define CA(guid, port_guid, lid, port)                                                             \
	"{ CA-SM Ports:02 SystemGUID:00000000000000bb NodeGUID:" guid " PortGUID:" port_guid       \
	" VenID:000002C9 DevID:10030000 Rev:00000000 {node1 HCA-1} LID:" lid " PN:" port " } "
#define LEAF SW("0000000000001000", "00A1", "12")
#define HOST CA("0000000000002000", "0000000000002002", "000C", "02")

static void both_ends_are_read_in_hexadecimal(void **state)
{
	(void)state;
	struct hd_fabric *f = parse(LEAF HOST "PHY=4x LOG=ACT SPD=14\n");
	assert_int_equal(f->host_count, 1);
	assert_int_equal(hd_node_ports(f, 0), 0x24);
	assert_string_equal(f->node_name[0], "leaf {1} a");
	assert_int_equal(f->host_switch_port[0], 0x12);
	assert_int_equal(f->lid[hd_port_index(f, 0, 0)], 0xA1);
	uint32_t host = hd_port_index(f, 1, 2);
	assert_int_equal(f->lid[host], 0xC);
	assert_true(f->port_guid[host] == 0x2002 && f->system_guid[1] == 0xbb);
	assert_int_equal(f->width[host], 4);
	assert_int_equal(f->speed[host], HD_SPEED_FDR);
	hd_fabric_free(f);
}

static void cables_listed_from_both_ends_and_from_one_are_the_same(void **state)
{
	(void)state;
	struct hd_fabric *one = parse(LEAF HOST "PHY=4x LOG=ACT SPD=10\n");
	struct hd_fabric *two = parse("\xEF\xBB\xBF" LEAF HOST "PHY=4x LOG=ACT SPD=10\r\n" HOST LEAF
				      "PHY=4x LOG=INI SPD=10\r\n");
	assert_same_fabric(one, two);
	hd_fabric_free(one);
	hd_fabric_free(two);
}

static void lines_without_a_speed_and_cables_that_are_down_are_understood(void **state)
{
	(void)state;
	struct hd_fabric *f =
	    parse(LEAF HOST "PHY=12x LOG=ACT\n" SW("0000000000001000", "00A1", "13")
		      SW("0000000000001100", "00A2", "01") "PHY=4x LOG=DWN SPD=2.5\n");
	assert_int_equal(f->speed[hd_port_index(f, 0, 0x12)], HD_SPEED_UNKNOWN);
	assert_int_equal(f->width[hd_port_index(f, 0, 0x12)], 12);
	assert_int_equal(f->switch_count, 2);
	assert_int_equal(f->isl_count, 0);
	hd_fabric_free(f);
}

static void what_cannot_be_right_is_refused(void **state)
{
	(void)state;
	assert_parse_refused(LEAF "{ CA Ports:02 System", -EINVAL, "topo:1",
			     "expected { TYPE Ports:..");
	assert_parse_refused(LEAF HOST "PHY=4x LOG=A", -EINVAL, "topo:1", "cut off?");
	assert_parse_refused(LEAF HOST "PHY=4x LOG=ACT SPD=1", -EINVAL, "topo:1",
			     "expected a newline after the line of a cable");
	assert_parse_refused(LEAF HOST
			     "PHY=4x LOG=ACT\n" LEAF CA("0000000000002000", "0000000000002001",
							"000D", "01") "PHY=4x LOG=ACT\n",
			     -EEXIST, "topo:2", "topo:1: it is cabled to 'node1 HCA-1'[2]");
	assert_parse_refused(LEAF HOST
			     "PHY=4x LOG=ACT\n"
			     "{ SW Ports:08 SystemGUID:0 NodeGUID:0000000000001000 PortGUID:1000 "
			     "VenID:1 DevID:1 Rev:1 {x} LID:00A1 PN:01 } " HOST "PHY=4x LOG=ACT\n",
			     -EINVAL, "topo:2", "duplicate GUID 0x0000000000001000: on line 1");
	assert_parse_refused(SW("0000000000001000", "00A1", "25") HOST "PHY=4x LOG=ACT\n", -ERANGE,
			     "topo:1", "port 37");
	assert_parse_refused(SW("0000000000001000", "00A1", "FFF") HOST "PHY=4x LOG=ACT\n", -EINVAL,
			     "topo:1", "expected at most 254 ports");
	assert_parse_refused(
	    LEAF CA("0000000000002000", "0000000000002002", "00A1", "02") "PHY=4x LOG=ACT\n",
	    -EINVAL, "topo:1", "LID 161 belongs to");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_ends_are_read_in_hexadecimal),
	    cmocka_unit_test(cables_listed_from_both_ends_and_from_one_are_the_same),
	    cmocka_unit_test(lines_without_a_speed_and_cables_that_are_down_are_understood),
	    cmocka_unit_test(what_cannot_be_right_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
