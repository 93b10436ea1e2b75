/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsim netlists: nodes get the GUIDs that ibsim gives them when it loads the same file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read_testing.h"

static void counters_go_up_in_order_of_the_records(void **state)
{
	(void)state;
	struct hd_fabric *f =
	    parse("Switch 4 \"S1\"\n[1] \"H1\"[1]\n[2] \"H1\"[2]\n[3] \"H2\"[1]\n\n"
		  "Hca 2 \"H1\"\n[1] \"S1\"[1]\n[2] \"S1\"[2]\n\n"
		  "Hca 1 \"H2\"\n[1] \"S1\"[3]\n\nSwitch 2 \"S2\"\n");
	assert_int_equal(f->node_count, 4);
	assert_true(f->node_guid[0] == 0x200000 && f->node_guid[1] == 0x200001);
	assert_true(f->node_guid[2] == 0x100000 && f->node_guid[3] == 0x100003);
	assert_true(f->port_guid[hd_port_index(f, 2, 2)] == 0x100002);
	assert_true(f->port_guid[hd_port_index(f, 3, 1)] == 0x100004);
	assert_true(f->port_guid[hd_port_index(f, 1, 0)] == 0x200001);
	assert_string_equal(f->node_name[3], "H2");
	assert_int_equal(f->lid_count, 1);
	hd_fabric_free(f);
}

static void guid_lines_move_the_counters(void **state)
{
	(void)state;
	struct hd_fabric *f =
	    parse("switchguid=0x500000\nSwitch 2 \"S1\" # \"one\"\n[1] \"R1\"[1]\n\n"
		  "switchguid+0x10\nSwitch 2 \"S2\"\n\nSwitch 2 \"S3\"\n\n"
		  "rtguid=768\nRt 1 \"R1\"\n[1] \"S1\"[1]\n\n"
		  "hcaguids=0x600000\nHca 3 \"H1\"\n\nHca 1 \"H2\"\n");
	assert_true(f->node_guid[0] == 0x500000 && f->node_guid[1] == 0x500010 &&
		    f->node_guid[2] == 0x500011);
	assert_true(f->node_guid[3] == 768 && f->node_guid[4] == 0x600000 &&
		    f->node_guid[5] == 0x600004);
	assert_int_equal(f->node_type[3], HD_ROUTER);
	assert_string_equal(f->node_name[0], "one");
	hd_fabric_free(f);
}

static void a_guid_in_the_id_is_the_nodes_and_the_counter_moves_on(void **state)
{
	(void)state;
	struct hd_fabric *f = parse("Switch 2 \"S-0000000000000abc\"\nSwitch 2 \"S-1\"\n");
	assert_true(f->node_guid[0] == 0xabc && f->node_guid[1] == 0x200001);
	hd_fabric_free(f);
}

static void a_missing_peer_port_is_port_1(void **state)
{
	(void)state;
	struct hd_fabric *f = parse("Switch 4 \"S1\"\n[2] \"H1\"\nHca 1 \"H1\"\n[1] \"S1\"[2]\n");
	assert_int_equal(f->host_count, 1);
	assert_int_equal(f->host_switch_port[0], 2);
	hd_fabric_free(f);
}

static void comments_options_and_console_commands_are_no_obstacle(void **state)
{
	(void)state;
	struct remarks remarks = {""};
	struct hd_fabric *f =
	    parse_remarked("# Net configuration\nwidth=3\nspeed=1\ndo \"Link\"\n"
			   "Switch 4 \"S1\"\n# two ports\n[1] \"H1\"[1] w=12\n[2] \"H1\"[2]\ts=1\n"
			   "Hca 2 \"H1\"\n[1] \"S1\"[1]\n[2] \"S1\"[2]\n",
			   &remarks);
	assert_int_equal(f->host_count, 2);
	assert_says(remarks.text, "skipped 1 line with");
	hd_fabric_free(f);
}

/* All of these ibsim refuses, too. */
static void what_ibsim_refuses_is_refused(void **state)
{
	(void)state;
	assert_parse_refused("Switch 4 \"S1\"\n[1] \"H1\"[1]\n\nHca 1 \"H1\"\n", -EINVAL, "topo:2",
			     "one-sided link: 'S1' 0x0000000000200000[1]");
	assert_parse_refused("Switch 4 \"S1\"\n[1] \"H1\"[1]\n", -EINVAL, "topo:2",
			     "is cabled to \"H1\"[1], but that node has no record");
	assert_parse_refused("Switch 4 \"S1\"\n\nSwitch 4 \"S1\"\n", -EINVAL, "topo:3",
			     "\"S1\" already has a record at line 1");
	assert_parse_refused("Switch 4 \"S1\"\nswitchguid=0x200000\nSwitch 4 \"S2\"\n", -EEXIST,
			     "topo:3", "duplicate GUID 0x0000000000200000");
	assert_parse_refused("Switch 4 \"S1\"\n[5] \"S1\"[1]\n", -ERANGE, "topo:2",
			     "port 5 of 'S1'");
	assert_parse_refused("Switch 0 \"S1\"\n", -EINVAL, "topo:1", "has 0 ports");
	assert_parse_refused("caguid=\nHca 1 \"H1\"\n", -EINVAL, "topo:1", "expected a GUID");
}

/* ibsim takes these, but means more by them than one plain list of nodes. */
static void what_is_beyond_one_plain_file_is_refused_and_not_misread(void **state)
{
	(void)state;
	assert_parse_refused("Switch 4 \"S1\"\ninclude \"more.net\"\n", -EINVAL, "topo:2",
			     "one file");
	assert_parse_refused("Switch 4 \"S1\"\nmodule = \"m\"\n", -EINVAL, "topo:2", "module");
	assert_parse_refused("Switch 4 \"S1\"\n@[1] \"up\"\n", -EINVAL, "topo:2", "alias");
	assert_parse_refused("Switch 4 \"S1\"\nRt 1 \"R1\"\n", -EINVAL, "topo:2", "rtguid=GUID");
	assert_parse_refused("Hca 1 \"H1\"\n", -EINVAL, "topo", "the fabric has no switch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counters_go_up_in_order_of_the_records),
	    cmocka_unit_test(guid_lines_move_the_counters),
	    cmocka_unit_test(a_guid_in_the_id_is_the_nodes_and_the_counter_moves_on),
	    cmocka_unit_test(a_missing_peer_port_is_port_1),
	    cmocka_unit_test(comments_options_and_console_commands_are_no_obstacle),
	    cmocka_unit_test(what_ibsim_refuses_is_refused),
	    cmocka_unit_test(what_is_beyond_one_plain_file_is_refused_and_not_misread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
