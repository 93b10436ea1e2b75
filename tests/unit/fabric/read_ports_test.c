/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibnetdiscover -p: port lines, whose ports they are, and what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read_testing.h"

#define SW "0x0000000000200000"

static void ports_and_their_unlinked_neighbours_are_read(void **state)
{
	(void)state;
	struct remarks remarks = {""};
	struct hd_fabric *f = parse_remarked(
	    "[root@fe ~]# ibnetdiscover -p\n"
	    "DR path slid 0; dlid 0; 0 -> new Channel Adapter {0011750000790cd4} portnum 1 lid 0-0 "
	    "\"\"\n"
	    "CA   182  1 0x001175000077d284 4x QDR - SW    18 18 " SW
	    " ( 'node179 HCA-1' - 'L - 112' )\n"
	    "SW    18 36 " SW " 4x SDR                                    'L - 112'\r\n"
	    "SW    18 18 " SW
	    " 4x QDR - CA   182  1 0x001175000077d284 ( 'L - 112' - 'node179 HCA-1' )\n",
	    &remarks);
	assert_int_equal(f->node_count, 2);
	assert_int_equal(hd_node_ports(f, 0), 36);
	assert_int_equal(f->lid[hd_port_index(f, 0, 0)], 18);
	assert_int_equal(f->lid[hd_port_index(f, 1, 1)], 182);
	assert_int_equal(f->speed[hd_port_index(f, 1, 1)], HD_SPEED_QDR);
	assert_int_equal(f->speed[hd_port_index(f, 0, 36)], HD_SPEED_UNKNOWN);
	assert_string_equal(f->node_name[0], "L - 112");
	assert_string_equal(f->node_name[1], "node179 HCA-1");
	assert_says(remarks.text, "skipped 1 line with");
	hd_fabric_free(f);
}

/* Port lines of one adapter, its two ports given by GUID and name. */
static struct hd_fabric *two_ports(const char *guid_1, const char *name_1, const char *guid_2,
				   const char *name_2)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "CA     4  2 %s 4x SDR - SW     2  2 " SW " ( '%s' - 'S1' )\n"
		 "CA     1  1 %s 4x SDR - SW     2  1 " SW " ( '%s' - 'S1' )\n"
		 "SW     2  2 " SW " 4x SDR - CA     4  2 %s ( 'S1' - '%s' )\n"
		 "SW     2  1 " SW " 4x SDR - CA     1  1 %s ( 'S1' - '%s' )\n",
		 guid_2, name_2, guid_1, name_1, guid_2, name_2, guid_1, name_1);
	return parse(text);
}

static void ports_with_neighbouring_guids_and_one_name_are_one_adapters(void **state)
{
	(void)state;
	struct hd_fabric *f = two_ports("0x0000000000100001", "H1", "0x0000000000100002", "H1");
	assert_int_equal(f->node_count, 2);
	assert_int_equal(hd_node_ports(f, 1), 2);
	assert_true(f->node_guid[1] == 0x100001);
	assert_true(f->port_guid[hd_port_index(f, 1, 2)] == 0x100002);
	assert_int_equal(f->lid[hd_port_index(f, 1, 2)], 4);
	hd_fabric_free(f);
}

static void a_node_guid_printed_for_every_port_makes_one_adapter(void **state)
{
	(void)state;
	struct hd_fabric *f = two_ports("0x0000000000100001", "H1", "0x0000000000100001", "H1");
	assert_int_equal(f->node_count, 2);
	assert_true(f->node_guid[1] == 0x100001);
	assert_true(f->port_guid[hd_port_index(f, 1, 1)] == 0);
	assert_int_equal(f->lid[hd_port_index(f, 1, 1)], 1);
	hd_fabric_free(f);
}

static void other_names_or_distances_are_other_adapters(void **state)
{
	(void)state;
	struct hd_fabric *f = two_ports("0x0000000000100001", "H1", "0x0000000000100002", "H2");
	assert_int_equal(f->node_count, 3);
	hd_fabric_free(f);
	f = two_ports("0x0000000000100001", "H1", "0x0000000000100009", "H1");
	assert_int_equal(f->node_count, 3);
	assert_int_equal(f->host_count, 2);
	hd_fabric_free(f);
}

static void a_lid_left_on_an_uncabled_adapter_port_is_nobodys(void **state)
{
	(void)state;
	struct hd_fabric *f = parse("CA     7  2 0x0000000000100002 4x SDR      'H1'\n"
				    "SW     7  1 " SW " 4x SDR      'S1'\n");
	assert_int_equal(f->lid[hd_port_index(f, 0, 0)], 7);
	assert_int_equal(f->lid[hd_port_index(f, 1, 2)], 0);
	hd_fabric_free(f);
}

#define ROW "SW     2  1 " SW " 4x SDR - CA     1  1 0x0000000000100001 ( 'S1' - 'H1' )\n"
#define BACK "CA     1  1 0x0000000000100001 4x SDR - SW     2  1 " SW " ( 'H1' - 'S1' )\n"

static void what_cannot_be_right_is_refused(void **state)
{
	(void)state;
	assert_parse_refused(ROW, -EINVAL, "topo:1",
			     "one-sided link: 'S1' 0x0000000000200000[1] is cabled to 'H1'");
	assert_parse_refused(ROW "CA     1  1 0x00000000001", -EINVAL, "topo:2",
			     "expected TYPE LID PORT GUID");
	assert_parse_refused(ROW BACK "SW     2  2 " SW " 4x SDR - CA     1  1 0x00000", -EINVAL,
			     "topo:3", "cut off?");
	assert_parse_refused(ROW BACK "SW     3  1 " SW " 4x SDR      'S1'\n", -EEXIST, "topo:3",
			     "LID 3 LMC 0 contradicts LID 2 LMC 0");
	assert_parse_refused(ROW BACK "RT     2  1 " SW " 4x SDR      'S1'\n", -EINVAL, "topo:3",
			     "duplicate GUID 0x0000000000200000");
	assert_parse_refused(ROW BACK "SW     2  1 " SW
				      " 4x SDR - CA     5  1 0x0000000000100009 ( 'S1' - 'H9' )\n",
			     -EEXIST, "topo:3", "topo:1: it is cabled to 'H1'[1]");
	assert_parse_refused(ROW BACK "SW     2 255 " SW " 4x SDR      'S1'\n", -EINVAL, "topo:1",
			     "has 255 ports");
	assert_parse_refused(ROW BACK "SW     2  2 0x0000000000200001 4x SDR      'S2'\n", -EINVAL,
			     "topo", "LID 2 belongs to");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ports_and_their_unlinked_neighbours_are_read),
	    cmocka_unit_test(ports_with_neighbouring_guids_and_one_name_are_one_adapters),
	    cmocka_unit_test(a_node_guid_printed_for_every_port_makes_one_adapter),
	    cmocka_unit_test(other_names_or_distances_are_other_adapters),
	    cmocka_unit_test(a_lid_left_on_an_uncabled_adapter_port_is_nobodys),
	    cmocka_unit_test(what_cannot_be_right_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
