/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibnetdiscover's plain output: what is read from it, how it may reach us, what is refused. */
#include <errno.h>
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read_testing.h"

#define LEAF_HEADER                                                                                \
	"vendid=0x2c9\ndevid=0xc738\nsysimgguid=0x10ff\nswitchguid=0x1000000(1000000)\n"           \
	"Switch\t4 \"S-0000000001000000\"\t\t# \"leaf # 1\" enhanced port 0 lid 1 lmc 0\n"
#define LEAF_PORTS                                                                                 \
	"[1]\t\"H-0000000002000000\"[1](2000001) \t\t# \"node1 mlx4_0\" lid 5 4xQDR\n"             \
	"[3]\t\"S-0000000001000100\"[2]\t\t# \"spine\" lid 2 4xFDR10\n"
#define SPINE                                                                                      \
	"\nswitchguid=0x1000100(1000101)\n"                                                        \
	"Switch\t2 \"S-0000000001000100\"\t\t# \"spine\" base port 0 lid 2 lmc 0\n"                \
	"[2]\t\"S-0000000001000000\"[3]\t\t# \"leaf # 1\" lid 1 4xFDR10\n"
#define HOST                                                                                       \
	"\nsysimgguid=0x2000003\ncaguid=0x2000000\n"                                               \
	"Ca\t2 \"H-0000000002000000\"\t\t# \"node1 mlx4_0\"\n"                                     \
	"[1](2000001) \t\"S-0000000001000000\"[1]\t\t# lid 5 lmc 1 \"leaf # 1\" lid 1 4xQDR\n"

static const char whole[] =
    "#\n# Topology file: generated on Sun Oct  5 21:59:42 2014\n#\n\n" LEAF_HEADER LEAF_PORTS SPINE
	HOST;

static void every_fact_of_a_record_is_read(void **state)
{
	(void)state;
	struct hd_fabric *f = parse(whole);
	assert_int_equal(f->node_count, 3);
	assert_int_equal(f->switch_count, 2);
	assert_int_equal(f->host_count, 1);
	assert_int_equal(f->isl_count, 2);
	assert_string_equal(f->node_name[0], "leaf # 1");
	assert_string_equal(f->node_name[2], "node1 mlx4_0");
	assert_true(f->node_guid[2] == 0x2000000 && f->system_guid[0] == 0x10ff);
	assert_int_equal(hd_node_ports(f, 0), 4);
	uint32_t host = hd_port_index(f, 2, 1), spine = hd_port_index(f, 1, 0);
	assert_true(f->port_guid[host] == 0x2000001 && f->port_guid[spine] == 0x1000101);
	assert_int_equal(f->lid[host], 5);
	assert_int_equal(f->lmc[host], 1);
	assert_int_equal(f->lid[spine], 2);
	assert_int_equal(f->speed[host], HD_SPEED_QDR);
	assert_int_equal(f->speed[hd_port_index(f, 0, 3)], HD_SPEED_FDR10);
	assert_int_equal(f->width[host], 4);
	hd_fabric_free(f);
}

/* `whole` with every newline replaced, after `front`. */
static char *rewritten(const char *front, const char *newline)
{
	char *text = calloc(sizeof(whole) * 4 + strlen(front), 1), *at = text;

	at = stpcpy(at, front);
	for (const char *from = whole; *from; from++) {
		if (*from == '\n')
			at = stpcpy(at, newline);
		else
			*at++ = *from;
	}
	return text;
}

static void the_way_a_file_came_changes_nothing(void **state)
{
	static const struct {
		const char *front, *newline;
	} ways[] = {{"\xEF\xBB\xBF", "\n"},
		    {"", "\r\n"},
		    {"", "  \t\n"},
		    {"\xEF\xBB\xBF", " \r\n"},
		    {"[root@login1 ~]# ibnetdiscover\n", "\n"},
		    {"$ sudo ibnetdiscover > topo &\n[1] 12345\n[1]+  Done\n", "\n"},
		    {"", "\n  "}};
	struct hd_fabric *expected = parse(whole);
	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		char *text = rewritten(ways[i].front, ways[i].newline);
		struct hd_fabric *f = parse(text);
		assert_same_fabric(f, expected);
		hd_fabric_free(f);
		free(text);
	}
	hd_fabric_free(expected);
}

static void foreign_lines_are_remarked_with_the_first(void **state)
{
	(void)state;
	struct remarks remarks = {""};
	char *text = rewritten("[root@login1 ~]# ibnetdiscover\nhello\n", "\n");
	hd_fabric_free(parse_remarked(text, &remarks));
	assert_says(remarks.text, "topo: skipped 2 lines with");
	assert_says(remarks.text, "line 1: '[root@login1 ~]# ibnetdiscover'");
	free(text);
}

/* Directors whose chips share one switchguid, with -g's outside ports and headlines. */
static void chips_of_a_director_are_told_apart_by_their_id(void **state)
{
	(void)state;
	struct hd_fabric *f = parse(
	    "Chassis 1 (guid 0x8f1000000)\n\n"
	    "sysimgguid=0x8f1000000\t\t# Chassis 1\n"
	    "switchguid=0x8f1000000(8f1000000)\t# Line 1 Chip 1\n"
	    "Switch\t24 \"S-00000008f1000001\"\t\t# \"chip\" base port 0 lid 1 lmc 0\n"
	    "[13][ext 2]\t\"S-00000008f1000002\"[14][ext 3]\t\t# \"chip\" lid 2 12xDDR slot 1\n\n"
	    "Non-Chassis Nodes\n"
	    "switchguid=0x8f1000000(8f1000000)\n"
	    "Switch\t24 \"S-00000008f1000002\"\t\t# \"chip\" base port 0 lid 2 lmc 0\n"
	    "[14][ext 3]\t\"S-00000008f1000001\"[13]\t\t# \"chip\" lid 1 12xDDR s=2 w=8 v=4\n");
	assert_int_equal(f->switch_count, 2);
	assert_true(f->node_guid[0] == 0x8f1000001 && f->node_guid[1] == 0x8f1000002);
	assert_int_equal(f->width[hd_port_index(f, 1, 14)], 12);
	assert_int_equal(f->speed[hd_port_index(f, 1, 14)], HD_SPEED_DDR);
	hd_fabric_free(f);
}

static void old_unquoted_names_and_port_numbers_for_guids_are_understood(void **state)
{
	(void)state;
	struct hd_fabric *f = parse(
	    "switchguid=0x8f10400410015\n"
	    "Switch\t8 \"S-0008f10400410015\"\t\t# SW-6IB4 Voltaire port 0 lid 6 lmc 0\n"
	    "[8]\t\"H-0008f10403961354\"[1](1)\t\t# MT23108 InfiniHost lid 4 4xSDR\n\n"
	    "caguid=0x8f10403961354\n"
	    "Hca\t2 \"H-0008f10403961354\"\t\t# MT23108 InfiniHost\n"
	    "[1](1)\t\"S-0008f10400410015\"[8]\t\t# lid 4 lmc 1 SW-6IB4 Voltaire lid 6 4xSDR\n");
	assert_string_equal(f->node_name[0], "SW-6IB4 Voltaire");
	assert_string_equal(f->node_name[1], "MT23108 InfiniHost");
	uint32_t host = hd_port_index(f, 1, 1);
	assert_int_equal(f->lid[host], 4);
	assert_int_equal(f->lmc[host], 1);
	assert_int_equal(f->lid[hd_port_index(f, 0, 0)], 6);
	assert_true(f->port_guid[host] == 0);
	hd_fabric_free(f);
}

static void every_speed_has_its_name(void **state)
{
	static const char *const names[] = {"???", "SDR", "DDR", "QDR", "FDR10",
					    "FDR", "EDR", "HDR", "NDR", "XDR"};

	(void)state;
	for (int speed = 0; speed < HD_SPEED_COUNT; speed++) {
		char text[512];
		snprintf(text, sizeof(text),
			 "Switch 2 \"S-0000000000001000\" # \"a\" base port 0 lid 1 lmc 0\n"
			 "[1] \"S-0000000000002000\"[1] # \"b\" lid 2 2x%s\n"
			 "Switch 2 \"S-0000000000002000\" # \"b\" base port 0 lid 2 lmc 0\n"
			 "[1] \"S-0000000000001000\"[1] # \"a\" lid 1 2x%s\n",
			 names[speed], names[speed]);
		struct hd_fabric *f = parse(text);
		assert_int_equal(f->speed[hd_port_index(f, 0, 1)], speed);
		assert_int_equal(f->width[hd_port_index(f, 1, 1)], 2);
		hd_fabric_free(f);
	}
}

static void lids_0_and_65535_are_none(void **state)
{
	(void)state;
	struct hd_fabric *f =
	    parse("Switch 2 \"S-0000000000001000\" # \"a\" base port 0 lid 0 lmc 0\n"
		  "[1] \"H-0000000000002000\"[1](2001) # \"b\" lid 65535 4xSDR\n"
		  "Ca 1 \"H-0000000000002000\" # \"b\"\n"
		  "[1](2001) \"S-0000000000001000\"[1] # lid 65535 lmc 0 \"a\" lid 0 4xSDR\n");
	assert_int_equal(f->lid_count, 1);
	hd_fabric_free(f);
}

/* ---- what is refused ---- */

/* From the first cable on: before it, a file with one switch and nothing else is whole. */
static void a_file_cut_off_anywhere_is_refused_or_loses_no_cable(void **state)
{
	const size_t first = (size_t)(strstr(whole, "[1]") - whole) + 2;

	(void)state;
	struct hd_fabric *expected = parse(whole);
	unsigned refused = 0, read = 0;
	for (size_t length = first; length < sizeof(whole) - 1; length++) {
		struct hd_fabric *f = NULL;
		struct hd_error err = {""};
		if (hd_fabric_parse(whole, length, "topo", NULL, &f, &err)) {
			assert_says(err.text, "topo");
			refused++;
			continue;
		}
		assert_int_equal(f->node_count, expected->node_count);
		assert_memory_equal(f->peer, expected->peer, f->port_count * sizeof(*f->peer));
		assert_int_equal(f->lid_count, expected->lid_count);
		hd_fabric_free(f);
		read++;
	}
	assert_true(refused > sizeof(whole) - first - 100);
	assert_true(read > 0);
	hd_fabric_free(expected);
}

static void a_cut_line_is_named(void **state)
{
	(void)state;
	assert_parse_refused(LEAF_HEADER "[1]\t\"H-00000000020", -EINVAL, "topo:6",
			     "expected [PORT] \"PEER\"[PEER'S PORT]");
	assert_parse_refused(LEAF_HEADER "[1]\t\"H-00000000020", -EINVAL, "topo:6", "cut off?");
	assert_parse_refused(LEAF_HEADER LEAF_PORTS "\nSwitch\t36 \"S-0000", -EINVAL, "topo:9",
			     "expected a node id in quotes");
	assert_parse_refused("Switch 4 \"S-0000000001000000\" # \"lea", -EINVAL, "topo:1",
			     "no closing quote");
}

static void a_peer_without_a_record_is_named(void **state)
{
	(void)state;
	assert_parse_refused(
	    LEAF_HEADER LEAF_PORTS SPINE, -EINVAL, "topo:6",
	    "'leaf # 1'[1] is cabled to \"H-0000000002000000\"[1], but that node has no "
	    "record in the file");
}

static void a_cable_seen_from_one_side_is_named_with_both_ports(void **state)
{
	(void)state;
	assert_parse_refused(LEAF_HEADER LEAF_PORTS SPINE
			     "Ca\t2 \"H-0000000002000000\"\t\t# \"node1\"\n",
			     -EINVAL, "topo:6",
			     "one-sided link: 'leaf # 1' 0x0000000001000000[1] is cabled to "
			     "'node1' 0x0000000002000000[1]");
}

static void contradicting_cables_are_refused(void **state)
{
	(void)state;
	assert_parse_refused(
	    LEAF_HEADER LEAF_PORTS
	    "[1]\t\"S-0000000001000100\"[1]\t\t# \"spine\" lid 2 4xQDR\n" SPINE HOST,
	    -EEXIST, "topo:8", "topo:6: it is cabled to 'node1 mlx4_0'[1]");
}

static void a_guid_with_two_records_is_refused(void **state)
{
	(void)state;
	assert_parse_refused(
	    LEAF_HEADER LEAF_PORTS SPINE HOST LEAF_HEADER
	    "[2]\t\"S-0000000001000100\"[1]\t\t# \"spine\" lid 2 4xQDR\n",
	    -EINVAL, "topo:21",
	    "duplicate GUID: node \"S-0000000001000000\" already has a record at line 5");
	assert_parse_refused("Switch 4 \"S-0000000001000000\" # \"a\"\n"
			     "Ca 1 \"H-0000000001000000\" # \"b\"\n",
			     -EEXIST, "topo:2", "duplicate GUID 0x0000000001000000");
}

static void ports_beyond_the_node_are_refused(void **state)
{
	(void)state;
	assert_parse_refused(LEAF_HEADER
			     "[5]\t\"S-0000000001000100\"[2]\t\t# \"s\" lid 2 4xSDR\n" SPINE,
			     -ERANGE, "topo:6", "port 5 of 'leaf # 1'");
	assert_parse_refused(LEAF_HEADER
			     "[3]\t\"S-0000000001000100\"[3]\t\t# \"s\" lid 2 4xSDR\n" SPINE,
			     -ERANGE, "topo:6", "port 3 of 'spine'");
	assert_parse_refused("Switch 255 \"S-0000000001000000\"\n", -EINVAL, "topo:1", "1..254");
	assert_parse_refused("Switch 4294967296 \"S-0000000001000000\"\nvendid=0x0\n", -ENODATA,
			     "topo", "no node record");
}

static void a_lid_of_two_switches_is_refused(void **state)
{
	(void)state;
	assert_parse_refused("Switch 2 \"S-0000000000001000\" # \"a\" base port 0 lid 7 lmc 0\n"
			     "Switch 2 \"S-0000000000002000\" # \"b\" base port 0 lid 7 lmc 0\n",
			     -EINVAL, "topo:2",
			     "LID 7 belongs to 'b' 0x0000000000002000[0] and, topo:1: also to 'a'");
}

static void an_lmc_that_infiniband_has_not_is_refused(void **state)
{
	(void)state;
	assert_parse_refused("Switch 2 \"S-0000000000001000\" # \"a\" base port 0 lid 7 lmc 8\n",
			     -EINVAL, "topo:1", "LMC 8; expected 0..7");
}

static void a_lid_said_differently_at_both_ends_is_refused(void **state)
{
	(void)state;
	assert_parse_refused(
	    LEAF_HEADER "[1]\t\"H-0000000002000000\"[1](2000001) # \"node1\" lid 9 4xQDR\n" HOST,
	    -EINVAL, "topo:6", "has LID 9 on this line and LID 5 in its own record");
}

static void what_is_no_text_is_refused(void **state)
{
	(void)state;
	assert_parse_refused("", -ENODATA, "topo", "the file is empty");
	assert_bytes_refused("Switch\0 4", 9, -EINVAL, "topo:1", "zero byte");
	assert_bytes_refused("#\n#\n\0", 5, -EINVAL, "topo:3", "zero byte");
	assert_bytes_refused("\xFF\xFES\0w\0", 6, -EINVAL, "topo", "UTF-16");
	assert_parse_refused("port line before\n[1] \"x\"[1]\nSwitch 2 \"a\"\n", -EINVAL, "topo:2",
			     "before any node");
	assert_parse_refused("Unicast lids [0-5] of switch Lid 2 guid 0x200000 ('S1'):\n", -ENODATA,
			     "topo", "has forwarding tables of opensm-lfts.dump");
	assert_parse_refused("0x0002c90000000099 154 0\n", -ENODATA, "topo",
			     "has service levels for ibdmchk -c; expected ibnetdiscover output");
	assert_parse_refused("0x0002c90000000201 5 1 0x01 0x23\n", -ENODATA, "topo",
			     "has virtual lanes of opensm-sl2vl.dump");
}

/* 50 MB without newlines, with short lines, and after a good beginning. */
static void much_garbage_is_refused(void **state)
{
	const size_t size = 50u << 20;
	char *garbage = malloc(size);
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t bytes = hd_random_next(&random);
		for (int j = 0; j < 8; j++)
			garbage[i + (size_t)j] = (char)(33 + (bytes >> 8 * j & 31));
	}
	assert_bytes_refused(garbage, size, -EINVAL, "topo:1", "expected at most 65536");
	for (size_t i = 40; i < size; i += 41)
		garbage[i] = '\n';
	assert_bytes_refused(garbage, size, -ENODATA, "topo", "no node or link found");
	memcpy(garbage, whole, sizeof(whole) - 1);
	assert_bytes_refused(garbage, size, -EINVAL, "topo", "lines have no known form");
	free(garbage);
}

static void files_that_cannot_be_read_say_why(void **state)
{
	struct hd_fabric *f = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_fabric_read("/nonexistent/topo", NULL, &f, &err), -ENOENT);
	assert_says(err.text, "/nonexistent/topo: cannot open: No such file");
	assert_int_equal(hd_fabric_read("/", NULL, &f, &err), -EISDIR);
	assert_says(err.text, "/: cannot read: Is a directory");
	assert_int_equal(hd_fabric_read("/dev/null", NULL, &f, &err), -ENODATA);
	assert_null(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_fact_of_a_record_is_read),
	    cmocka_unit_test(the_way_a_file_came_changes_nothing),
	    cmocka_unit_test(foreign_lines_are_remarked_with_the_first),
	    cmocka_unit_test(chips_of_a_director_are_told_apart_by_their_id),
	    cmocka_unit_test(old_unquoted_names_and_port_numbers_for_guids_are_understood),
	    cmocka_unit_test(every_speed_has_its_name),
	    cmocka_unit_test(lids_0_and_65535_are_none),
	    cmocka_unit_test(a_file_cut_off_anywhere_is_refused_or_loses_no_cable),
	    cmocka_unit_test(a_cut_line_is_named),
	    cmocka_unit_test(a_peer_without_a_record_is_named),
	    cmocka_unit_test(a_cable_seen_from_one_side_is_named_with_both_ports),
	    cmocka_unit_test(contradicting_cables_are_refused),
	    cmocka_unit_test(a_guid_with_two_records_is_refused),
	    cmocka_unit_test(ports_beyond_the_node_are_refused),
	    cmocka_unit_test(a_lid_of_two_switches_is_refused),
	    cmocka_unit_test(an_lmc_that_infiniband_has_not_is_refused),
	    cmocka_unit_test(a_lid_said_differently_at_both_ends_is_refused),
	    cmocka_unit_test(what_is_no_text_is_refused),
	    cmocka_unit_test(much_garbage_is_refused),
	    cmocka_unit_test(files_that_cannot_be_read_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
