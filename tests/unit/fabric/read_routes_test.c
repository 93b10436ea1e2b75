/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Forwarding tables in every dialect, held against their fabric. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read_testing.h"

/* Switches 0x200000 (LID 1, ports 1..4) and 0x200001 (LID 2), hosts LIDs 4 and 6 with LMC 1. */
static const char topology[] =
    "sysimgguid=0x2000ff\nswitchguid=0x200000(2000aa)\n"
    "Switch 4 \"S-0000000000200000\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"h1\" lid 4 4xEDR\n"
    "[3] \"S-0000000000200001\"[3] # \"leaf2\" lid 2 4xEDR\n"
    "sysimgguid=0x2000ee\nswitchguid=0x200001(200001)\n"
    "Switch 4 \"S-0000000000200001\" # \"leaf2\" base port 0 lid 2 lmc 0\n"
    "[1] \"H-0000000000100002\"[1](100003) # \"h2\" lid 6 4xEDR\n"
    "[3] \"S-0000000000200000\"[3] # \"leaf1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100000\" # \"h1\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 4 lmc 1 \"leaf1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100002\" # \"h2\"\n"
    "[1](100003) \"S-0000000000200001\"[1] # lid 6 lmc 1 \"leaf2\" lid 2 4xEDR\n";

static const uint8_t expected[2][8] = {{0xFF, 0, 3, 0xFF, 1, 1, 3, 3},
				       {0xFF, 3, 0, 0xFF, 3, 3, 1, 0xFF}};

#define OPENSM_1                                                                                   \
	"Unicast lids [0-7] of switch Lid 1 guid 0x0000000000200000 ('leaf1'):\n"                  \
	"0x0001 000 # Switch portguid 0x00000000002000aa: 'leaf1'\n"                               \
	"0x0002 003 # Switch portguid 0x0000000000200001: 'leaf2'\n"                               \
	"0x0004 001 # Channel Adapter portguid 0x0000000000100001: 'h1'\n"                         \
	"0x0005 001 # Channel Adapter portguid 0x0000000000100001: 'h1'\n"                         \
	"0x0006 003 # Channel Adapter portguid 0x0000000000100003: 'h2'\n"                         \
	"0x0007 003 # Channel Adapter portguid 0x0000000000100003: 'h2'\n"                         \
	"7 lids dumped\n"
#define OPENSM_2                                                                                   \
	"Unicast lids [0-7] of switch Lid 2 guid 0x0000000000200001 ('leaf2'):\n"                  \
	"0x0001 003 # Switch portguid 0x00000000002000aa: 'leaf1'\n"                               \
	"0x0002 000 # Switch portguid 0x0000000000200001: 'leaf2'\n"                               \
	"0x0004 003 # Channel Adapter portguid 0x0000000000100001: 'h1'\n"                         \
	"0x0005 003 # Channel Adapter portguid 0x0000000000100001: 'h1'\n"                         \
	"0x0006 001 # Channel Adapter portguid 0x0000000000100003: 'h2'\n"                         \
	"7 lids dumped\n"
#define IBROUTE_HEAD "  Lid  Out   Destination\n       Port     Info \n"
#define IBROUTE_1                                                                                  \
	"Unicast lids [0x0-0x7] of switch Lid 1 guid 0x0000000000200000 (leaf1):\n" IBROUTE_HEAD   \
	"0x0001 000 : (Switch portguid 0x00000000002000aa: 'leaf1')\n"                             \
	"0x0002 003 : (Switch portguid 0x0000000000200001: 'leaf2')\n"                             \
	"0x0004 001 : (Channel Adapter portguid 0x0000000000100001: 'h1')\n"                       \
	"0x0005 001 : (path #2 out of 2: portguid 0x0000000000100001)\n"                           \
	"0x0006 003 : (Channel Adapter portguid 0x0000000000100003: 'h2')\n"                       \
	"0x0007 003 : (path #2 out of 2: portguid 0x0000000000100003)\n"                           \
	"6 valid lids dumped \n"
#define IBROUTE_2                                                                                  \
	"Unicast lids [0x0-0x7] of switch DR path slid 0; dlid 0; 0,1 guid 0x0000000000200001 "    \
	"(leaf2):\n" IBROUTE_HEAD "0x0000 255 : (illegal port)\n0x0001 003 \n0x0002 000\n0x0004 "  \
	"003 \n0x0005 003\n0x0006 001\n"                                                           \
	"0x0007 255 : (illegal port)\n7 lids dumped\n"
#define FDBS_1(prefix)                                                                             \
	prefix "Switch 0x0000000000200000\nLID    : Port : Hops : Optimal\n"                       \
	       "0x0001 : 000  : 00   : yes\n0x0002 : 003  : 01   : yes\n0x0003 : UNREACHABLE\n"    \
	       "0x0004 : 001  : 01   : yes\n0x0005 : 001  : 01   : yes\n"                          \
	       "0x0006 : 003  : 02   : No 1 hop path possible via port 4!\n"                       \
	       "0x0007 : 003  : HOPS UNKNOWN\n\n"
#define FDBS_2(prefix)                                                                             \
	prefix                                                                                     \
	    "Switch 0x200001\nLID    : Port : Hops : Optimal\n"                                    \
	    "0x0001 : 003  : 01   : yes\n0x0002 : 000  : 00   : yes\n0x0003 : UNREACHABLE\n"       \
	    "0x0004 : 003  : 02   : yes\n0x0005 : 003  : 02   : yes\n0x0006 : 001  : 01   : yes\n" \
	    "0x0007 : UNREACHABLE\n"

static struct hd_routes *parse_tables(const struct hd_fabric *fabric, const char *text,
				      struct remarks *remarks)
{
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	struct hd_log log = {remember, remarks};

	if (hd_routes_parse(text, strlen(text), "lfts", fabric, remarks ? &log : NULL, &routes,
			    &err))
		fail_msg("%s", err.text);
	return routes;
}

static void assert_expected(const struct hd_routes *routes)
{
	assert_int_equal(routes->switch_count, 2);
	assert_int_equal(routes->lid_count, 8);
	for (uint32_t sw = 0; sw < 2; sw++)
		assert_memory_equal(hd_routes_row(routes, sw), expected[sw], 8);
	assert_string_equal(routes->engine, "");
}

static void every_dialect_gives_the_same_tables(void **state)
{
	static const char *const dialects[] = {
	    OPENSM_1 OPENSM_2,
	    OPENSM_2 OPENSM_1,
	    "\xEF\xBB\xBF$ dump_lfts.sh\n" IBROUTE_1 IBROUTE_2 "$ \n",
	    FDBS_1("osm_ucast_mgr_dump_ucast_routes: ") FDBS_2("osm_ucast_mgr_dump_ucast_routes: "),
	    FDBS_1("dump_ucast_routes: ") FDBS_2("dump_ucast_routes: "),
	    FDBS_1("") FDBS_2(""),
	    OPENSM_1 IBROUTE_2,
	    OPENSM_1 OPENSM_2 OPENSM_1,
	    OPENSM_1 OPENSM_2
	    "Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x200000 (leaf1):\n"
	    "     Ports: 0 1 2 3 4 \n MLid\n0xc000      x x     \n1 valid mlids dumped \n"};
	struct hd_fabric *fabric = parse(topology);

	(void)state;
	for (size_t i = 0; i < sizeof(dialects) / sizeof(*dialects); i++) {
		struct hd_routes *routes = parse_tables(fabric, dialects[i], NULL);
		assert_expected(routes);
		hd_routes_free(routes);
	}
	hd_fabric_free(fabric);
}

static void files_and_folders_are_read_and_others_in_a_folder_passed_over(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(topology);
	struct scratch scratch = scratch_new();
	char *files[] = {scratch_file(&scratch, "lid1.txt", IBROUTE_1),
			 scratch_file(&scratch, "lid2.txt", OPENSM_2),
			 scratch_file(&scratch, "README", "live tables\n"),
			 scratch_file(&scratch, ".hidden", "0x0001 009\n")};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	struct remarks remarks = {""};
	struct hd_log log = {remember, &remarks};
	const char *folder[] = {scratch.folder}, *two[] = {files[1], files[0]},
		   *readme[] = {files[2]};
	assert_int_equal(hd_routes_read(folder, 1, fabric, &log, &routes, &err), 0);
	assert_expected(routes);
	assert_says(remarks.text, "README: skipped, because it has no forwarding table");
	hd_routes_free(routes);
	assert_int_equal(hd_routes_read(two, 2, fabric, NULL, &routes, &err), 0);
	assert_expected(routes);
	hd_routes_free(routes);
	routes = NULL;
	assert_int_equal(hd_routes_read(readme, 1, fabric, NULL, &routes, &err), -ENODATA);
	assert_says(err.text, "README: no forwarding table found");
	assert_int_equal(hd_routes_read(NULL, 0, fabric, NULL, &routes, &err), -ENODATA);
	for (int i = 0; i < 4; i++)
		scratch_drop(files[i]);
	assert_int_equal(hd_routes_read(folder, 1, fabric, NULL, &routes, &err), -ENODATA);
	assert_says(err.text, "no file in this folder");
	scratch_free(&scratch);
	assert_int_equal(hd_routes_read(folder, 1, fabric, NULL, &routes, &err), -ENOENT);
	assert_null(routes);
	hd_fabric_free(fabric);
}

/* Directors' software gives other GUIDs than the node's in places. */
static void a_switch_is_found_by_port_guid_and_by_lid_with_system_guid_or_name(void **state)
{
	static const char *const heads[] = {
	    "Lid 1 guid 0x00000000002000aa ('other')", "Lid 1 guid 0x00000000002000ff ('other')",
	    "Lid 1 guid 0x0000000000333333 ('leaf1')", "Lid 1 guid 0x0000000000333333 (leaf1)"};
	struct hd_fabric *fabric = parse(topology);

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		char text[256];
		snprintf(text, sizeof(text), "Unicast lids [0-7] of switch %s:\n0x0004 001\n",
			 heads[i]);
		struct hd_routes *routes = parse_tables(fabric, text, NULL);
		assert_int_equal(hd_routes_port(routes, 0, 4), 1);
		hd_routes_free(routes);
	}
	hd_fabric_free(fabric);
}

/* Tables of an earlier state: a switch and a host have gone since. */
static void earlier_tables_may_have_more(void **state)
{
	static const char tables[] =
	    "Unicast lids [0-7] of switch Lid 1 guid 0x0000000000200000 ('leaf1'):\n"
	    "0x0004 001 # Channel Adapter portguid 0x0000000000100001: 'h1'\n"
	    "0x0006 003 # Channel Adapter portguid 0x0000000000100003: 'h2'\n"
	    "0x0009 003 # Channel Adapter portguid 0x0000000000100009: 'gone'\n9 lids dumped\n"
	    "Unicast lids [0-9] of switch Lid 3 guid 0x0000000000200009 ('gone'):\n"
	    "0x0004 001 # Channel Adapter portguid 0x0000000000100001: 'h1'\n"
	    "0x0006 044 # Channel Adapter portguid 0x0000000000100003: 'h2'\n9 lids dumped\n"
	    "Unicast lids [0-9] of switch Lid 2 guid 0x0000000000200001 ('leaf2'):\n"
	    "0x0004 003 # Channel Adapter portguid 0x0000000000100001: 'h1'\n9 lids dumped\n";
	struct hd_fabric *fabric = parse(topology);
	struct hd_routes *routes = NULL;
	struct scratch scratch = scratch_new();
	struct hd_error err = {""};
	struct remarks remarks = {""};
	struct hd_log log = {remember, &remarks};

	(void)state;
	char *file = scratch_file(&scratch, "earlier.lfts", tables);
	const char *path[] = {file};
	assert_int_equal(hd_routes_read(path, 1, fabric, NULL, &routes, &err), -EINVAL);
	assert_int_equal(hd_routes_read_earlier(path, 1, fabric, &log, &routes, &err), 0);
	assert_int_equal(hd_routes_port(routes, 0, 4), 1);
	assert_int_equal(hd_routes_port(routes, 0, 6), 3);
	assert_int_equal(hd_routes_port(routes, 1, 4), 3);
	assert_int_equal(hd_routes_port(routes, 1, 6), HD_NO_PORT);
	assert_says(remarks.text,
		    "skipped the tables of 1 switches that the fabric does not have, the "
		    "first is 0x0000000000200009");
	assert_says(remarks.text,
		    "skipped 1 entries for LIDs that the fabric does not have, the first "
		    "is LID 9");
	hd_routes_free(routes);
	scratch_drop(file);
	scratch_free(&scratch);
	hd_fabric_free(fabric);
}

static void what_is_missing_is_counted(void **state)
{
	struct hd_fabric *fabric = parse(topology);
	struct remarks remarks = {""};

	(void)state;
	struct hd_routes *routes = parse_tables(
	    fabric,
	    "Unicast lids [0x0-0x7] of switch Lid 2 guid 0x0000000000200001 (leaf2):\n"
	    "0x0001 003 : (Switch portguid 0x00000000002000aa: 'leaf1')\n"
	    "0x0003 003 : (unknown node and type)\n0x0009 001\n"
	    "ibroute: iberror: failed: dump tables: linear forwarding table get failed\n",
	    &remarks);
	assert_says(remarks.text, "1 of 2 switches have no table, the first is 'leaf1'");
	assert_says(remarks.text, "5 entries are missing, the first is LID 2 at 'leaf2'");
	assert_says(remarks.text, "1 tables have no last line");
	assert_says(remarks.text, "skipped 2 entries for LIDs that the fabric does not have, the "
				  "first is LID 3");
	assert_says(remarks.text, "lfts: skipped 1 line with");
	hd_routes_free(routes);
	remarks.text[0] = '\0';
	hd_routes_free(
	    parse_tables(fabric,
			 "Unicast lids [0x0-0x7] of switch Lid 2 guid 0x200001 (leaf2):\n"
			 "0x0001 003 \n2 valid lids dumped\n",
			 &remarks));
	assert_says(remarks.text, "1 tables have no last line");
	hd_fabric_free(fabric);
}

/* -p does not show the LMC: the second LID of a host is unknown in the fabric, which is no error.
 */
static void further_lids_of_a_port_without_lmc_are_counted(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse("SW     1  1 0x0000000000200000 4x SDR - CA     4  1 "
					 "0x0000000000100001 ( 'S1' - 'H1' )\n"
					 "CA     4  1 0x0000000000100001 4x SDR - SW     1  1 "
					 "0x0000000000200000 ( 'H1' - 'S1' )\n");
	struct remarks remarks = {""};
	struct hd_routes *routes =
	    parse_tables(fabric,
			 "Unicast lids [0-5] of switch Lid 1 guid 0x0000000000200000 ('S1'):\n"
			 "0x0001 000 # Switch portguid 0x0000000000200000: 'S1'\n"
			 "0x0004 001 # Channel Adapter portguid 0x0000000000100001: 'H1'\n"
			 "0x0005 001 # Channel Adapter portguid 0x0000000000100001: 'H1'\n"
			 "5 lids dumped\n",
			 &remarks);
	assert_int_equal(hd_routes_port(routes, 0, 4), 1);
	assert_says(remarks.text, "skipped 1 entries for LIDs that the fabric does not have, the "
				  "first is LID 5");
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void assert_tables_refused(const char *text, int rc, const char *place, const char *reason)
{
	assert_routes_refused(topology, text, rc, place, reason);
}

#define HEAD_1 "Unicast lids [0-7] of switch Lid 1 guid 0x0000000000200000 ('leaf1'):\n"

static void tables_of_another_fabric_are_refused(void **state)
{
	(void)state;
	assert_tables_refused(
	    "Unicast lids [0-7] of switch Lid 1 guid 0x0000000000777777 ('other'):\n", -EINVAL,
	    "lfts:1",
	    "switch 'other' 0x0000000000777777 is not in the fabric; there LID 1 belongs to "
	    "'leaf1' 0x0000000000200000");
	assert_tables_refused("dump_ucast_routes: Switch 0x0000000000777777\n", -EINVAL, "lfts:1",
			      "tables of another fabric?");
	assert_tables_refused(
	    "Unicast lids [0-7] of switch Lid 7 guid 0x0000000000200000 ('leaf1'):\n", -EINVAL,
	    "lfts:1", "has LID 7 in the tables and LID 1 in the fabric");
	assert_tables_refused(
	    HEAD_1 "0x0004 001 # Channel Adapter portguid 0x0000000000100777: 'h9'\n", -EINVAL,
	    "lfts:2", "LID 4 belongs to port GUID 0x0000000000100777 in the tables and to 'h1'");
	assert_tables_refused("dump_ucast_routes: Switch 0x0000000000100000\n", -EINVAL, "lfts:1",
			      "is not in the fabric");
}

static void entries_that_cannot_be_are_refused(void **state)
{
	(void)state;
	assert_tables_refused(HEAD_1 "0x0004 005\n", -EINVAL, "lfts:2",
			      "port 5 of 'leaf1', but the switch has only 4 ports");
	assert_tables_refused(HEAD_1 "0x0003 001 # Switch portguid 0x0000000000200009: 'x'\n",
			      -EINVAL, "lfts:2",
			      "no port of the fabric has LID 3 (the last LID is 7)");
	assert_tables_refused(HEAD_1 "0xC000 001\n", -EINVAL, "lfts:2", "expected a unicast LID");
	assert_tables_refused(
	    OPENSM_1 HEAD_1 "0x0004 002\n", -EINVAL, "lfts:10",
	    "'leaf1' sends LID 4 to port 2 on this line and to port 1 on an earlier line");
	assert_tables_refused(FDBS_1("") "dump_ucast_routes: Switch 0x0000000000200000\n"
					 "0x0004 : 002  : 01   : yes\n",
			      -EINVAL, "lfts:12", "on an earlier line");
}

static void lines_that_are_cut_or_out_of_place_are_refused(void **state)
{
	(void)state;
	assert_tables_refused("0x0004 001\n" OPENSM_1, -EINVAL, "lfts:1",
			      "before the first switch");
	assert_tables_refused("LID    : Port : Hops : Optimal\n0x0001 : 000  : 00   : yes\n",
			      -EINVAL, "lfts:1",
			      "expected a line dump_ucast_routes: Switch 0x.. before this one");
	assert_tables_refused(HEAD_1 "0x0004 00", -EINVAL, "lfts:2", "cut off?");
	assert_tables_refused(HEAD_1 "0x00", -EINVAL, "lfts:2",
			      "expected LID and port, such as 0x0001 012");
	assert_tables_refused(FDBS_1("") "0x0004 : 00", -EINVAL, "lfts:11",
			      "expected a row such as 0x0001 : 012");
	assert_tables_refused("Unicast lids [0-7] of switch Lid 1", -EINVAL, "lfts:1",
			      "expected Unicast lids [..] of switch Lid L guid 0x..");
	assert_tables_refused("", -ENODATA, "lfts", "the file is empty");
	assert_tables_refused(topology, -ENODATA, "lfts", "no forwarding table found");
}

/* ---- what a checker notes ---- */

static struct hd_routes *examine(const struct hd_fabric *fabric, const char *text,
				 struct hd_table_defects *defects)
{
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	if (hd_routes_examine_text(text, strlen(text), "lfts", fabric, NULL, defects, &routes,
				   &err))
		fail_msg("%s", err.text);
	return routes;
}

/* The tables in `text` have this one defect. */
static void assert_defect(const char *text, enum hd_table_defect_kind kind,
			  const char *expected_text)
{
	struct hd_fabric *fabric = parse(topology);
	struct hd_table_defects defects = {0};

	hd_routes_free(examine(fabric, text, &defects));
	assert_int_equal(defects.count, 1);
	assert_int_equal(defects.kept, 1);
	assert_int_equal(defects.list[0].kind, kind);
	assert_says(defects.list[0].text, expected_text);
	hd_table_defects_release(&defects);
	hd_fabric_free(fabric);
}

/* Every contradiction is noted, the first port stays, and reading goes on. */
static void contradictions_do_not_end_an_examination(void **state)
{
	struct hd_fabric *fabric = parse(topology);
	struct hd_table_defects defects = {0};
	struct hd_routes *routes = examine(
	    fabric, OPENSM_1 OPENSM_1 HEAD_1 "0x0004 002\n0x0006 001\n7 lids dumped\n" OPENSM_2,
	    &defects);

	(void)state;
	assert_expected(routes);
	assert_int_equal(defects.count, 2);
	assert_int_equal(defects.list[0].kind, HD_DEFECT_CONTRADICTION);
	assert_says(
	    defects.list[0].text,
	    "lfts:18: 'leaf1' sends LID 4 to port 2 on this line and to port 1 on an earlier line");
	assert_says(
	    defects.list[1].text,
	    "lfts:19: 'leaf1' sends LID 6 to port 1 on this line and to port 3 on an earlier line");
	hd_table_defects_release(&defects);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* A port that the switch does not have stays in the table, for the checker to follow. */
static void ports_that_a_switch_does_not_have_are_examined(void **state)
{
	struct hd_fabric *fabric = parse(topology);
	struct hd_table_defects defects = {0};
	struct hd_routes *routes = examine(fabric, HEAD_1 "0x0004 005\n7 lids dumped\n", &defects);

	(void)state;
	assert_int_equal(defects.count, 0);
	assert_int_equal(hd_routes_port(routes, 0, 4), 5);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	assert_tables_refused(HEAD_1 "0x0004 300\n", -EINVAL, "lfts:2", "port 300 of 'leaf1'");
}

static void parts_that_are_missing_are_noted(void **state)
{
	(void)state;
	assert_defect(HEAD_1 "0x0004 001\n6 lids dumped\n", HD_DEFECT_INCOMPLETE,
		      "lfts:3: the table of 'leaf1' begins with last LID 7");
	assert_defect("Unicast lids [0x0-0x7] of switch Lid 1 guid 0x200000 (leaf1):\n"
		      "0x0004 001 \n2 valid lids dumped\n",
		      HD_DEFECT_INCOMPLETE, "lfts:3: the table of 'leaf1' has 1 rows");
	assert_defect("Unicast lids [0x0-0x7] of switch Lid 1 guid 0x200000 (leaf1):\n"
		      "0x0004 001 \n2 lids dumped\n",
		      HD_DEFECT_INCOMPLETE, "lfts:3: the table of 'leaf1' has 1 rows");
}

/* Rows in the common form are taken in one loop: it must see what the slow way sees, wherever the
 * blocks end in which it looks for zero bytes. */
static void long_tables_are_read_like_short_ones(void **state)
{
	struct hd_fabric *fabric = parse(topology);
	char *text = malloc(1 << 20), *at = text;

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < 1000; i++)
		at += sprintf(at, OPENSM_1 OPENSM_2);
	struct hd_routes *routes = parse_tables(fabric, text, NULL);
	assert_expected(routes);
	hd_routes_free(routes);
	sprintf(at, HEAD_1 "0x0004 002\n");
	assert_tables_refused(text, -EINVAL, "lfts:15002", "port 1 on an earlier line");
	sprintf(at, HEAD_1 "0x0004 001 # Channel Adapter\n0x0005 0011\n");
	assert_tables_refused(text, -EINVAL, "lfts:15003", "expected LID and port, such as");
	struct hd_error err = {""};
	at += sprintf(at, HEAD_1 "0x0004 001");
	at[0] = '\0';
	at[1] = '\n';
	assert_int_equal(
	    hd_routes_parse(text, (size_t)(at + 2 - text), "lfts", fabric, NULL, &routes, &err),
	    -EINVAL);
	assert_says(err.text, "lfts:15002: a zero byte");
	free(text);
	hd_fabric_free(fabric);
}

static void a_fabric_without_lids_has_no_tables(void **state)
{
	struct hd_fabric *fabric = parse("Switch 4 \"S1\"\n");
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(
	    hd_routes_parse(OPENSM_1, strlen(OPENSM_1), "lfts", fabric, NULL, &routes, &err),
	    -EINVAL);
	assert_says(err.text, "the fabric has no LIDs");
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_dialect_gives_the_same_tables),
	    cmocka_unit_test(files_and_folders_are_read_and_others_in_a_folder_passed_over),
	    cmocka_unit_test(a_switch_is_found_by_port_guid_and_by_lid_with_system_guid_or_name),
	    cmocka_unit_test(earlier_tables_may_have_more),
	    cmocka_unit_test(what_is_missing_is_counted),
	    cmocka_unit_test(further_lids_of_a_port_without_lmc_are_counted),
	    cmocka_unit_test(tables_of_another_fabric_are_refused),
	    cmocka_unit_test(entries_that_cannot_be_are_refused),
	    cmocka_unit_test(lines_that_are_cut_or_out_of_place_are_refused),
	    cmocka_unit_test(contradictions_do_not_end_an_examination),
	    cmocka_unit_test(ports_that_a_switch_does_not_have_are_examined),
	    cmocka_unit_test(parts_that_are_missing_are_noted),
	    cmocka_unit_test(long_tables_are_read_like_short_ones),
	    cmocka_unit_test(a_fabric_without_lids_has_no_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
