/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service levels given beside tables, in every dialect, and what is refused. */
#include <errno.h>
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "levels_testing.h"

#define TABLE                                                                                      \
	"Unicast lids [0-8] of switch Lid 1 guid 0x0000000000200000 ('leaf1'):\n"                  \
	"0x0006 003\n8 lids dumped\n"
#define MAP "SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
#define HEAD_1 "Service levels at switch guid 0x0000000000200000 ('leaf1'):\n"
#define HEAD_2 "Service levels at switch guid 0x0000000000200001 ('leaf2'):\n"
#define DUMP                                                                                       \
	MAP HEAD_1 "0x0004-0x0005 0\n0x0006 1\n0x0007 2\n0x0008 0\n4 runs dumped\n" HEAD_2         \
		   "0x0004-0x0008 3\n1 runs dumped\n2 switches dumped\n"
#define PATHS_1(guid) guid " 4 0\n" guid " 5 0\n" guid " 6 1\n" guid " 7 2\n" guid " 8 0\n"
#define PATHS_2(guid) guid " 4 3\n" guid " 5 3\n" guid " 6 3\n" guid " 7 3\n" guid " 8 3\n"
#define PATHS                                                                                      \
	PATHS_1("0x0000000000100000")                                                              \
	PATHS_2("0x0000000000100002") PATHS_1("0x0000000000100004")
#define ROWS_1 "0x0004 : 0\n0x0005 : 0\n0x0006 : 1\n0x0007 : 2\n0x0008 : 0\n"
#define OPENSM_PATHS                                                                               \
	"Channel Adapter 0x0000000000100001, base LID 4, \"h1\"\n" ROWS_1                          \
	"Channel Adapter 0x0000000000100003, base LID 6, \"h2\"\n"                                 \
	"0x0001 : 0\n0x0004 : 3\n0x0005 : 3\n0x0006 : 3\n0x0007 : 3\n0x0008 : 3\n"                 \
	"Switch 0x00000000002000aa, base LID 1, \"leaf1\"\n0x0004 : 9\n"                           \
	"Channel Adapter 0x0000000000100005, base LID 8, \"h3\"\n" ROWS_1

/* SLs 1 and 3 on VL 1, 2 on VL 2; towards hosts and from the switch itself it is another map. */
#define LANES " 0x01 0x21 0x45 0x67 0x89 0xab 0xcd 0xef\n"
#define OTHER_LANES " 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00\n"
#define LANE_FILE                                                                                  \
	"0x0000000000200000 1 3" LANES "0x0000000000200000 4 3" LANES                              \
	"0x0000000000200001 3 4" LANES "0x0000000000200000 3 1" OTHER_LANES                        \
	"0x0000000000200000 0 3" OTHER_LANES "0x0000000000100000 0 1" OTHER_LANES
#define OPENSM_LANES                                                                               \
	"Channel Adapter 0x0000000000100001, base LID 4, \"h1\"\n"                                 \
	"#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"                              \
	"#--------------------------------------------------------\n"                              \
	"0   0   : 9  9  9  9  9  9  9  9  9  9  9  9  9  9  9  9 \n"                              \
	"#--------------------------------------------------------\n\n"                            \
	"Switch 0x00000000002000aa, base LID 1, \"leaf1\"\n"                                       \
	"0   3   : 9  9  9  9  9  9  9  9  9  9  9  9  9  9  9  9 \n"                              \
	"1   3   : 0  1  2  1  4  5  6  7  8  9  10 11 12 13 14 15\n"

static const uint8_t identity[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t mapped[16] = {0, 1, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static struct hd_routes *parse_levels(const struct hd_fabric *fabric, const char *text,
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

static void assert_levels(const struct hd_routes *routes, const uint8_t map[16])
{
	static const uint8_t expected[2][9] = {{0, 0, 0, 0, 0, 0, 1, 2, 0},
					       {0, 0, 0, 0, 3, 3, 3, 3, 3}};

	assert_non_null(routes->sl);
	for (uint32_t sw = 0; sw < 2; sw++)
		assert_memory_equal(routes->sl + sw * routes->stride, expected[sw], 9);
	for (uint32_t lid = 9; lid < routes->stride; lid++)
		assert_int_equal(routes->sl[lid], 0);
	assert_memory_equal(routes->sl2vl, map, 16);
	assert_int_equal(hd_routes_port(routes, 0, 6), 3);
}

static void every_dialect_gives_the_same_levels(void **state)
{
	static const struct {
		const char *text;
		const uint8_t *map;
	} files[] = {
	    {TABLE DUMP, identity},
	    {DUMP TABLE, identity},
	    {TABLE PATHS, identity},
	    {PATHS TABLE LANE_FILE, mapped},
	    {TABLE LANE_FILE OPENSM_PATHS, mapped},
	    {TABLE OPENSM_PATHS, identity},
	    {TABLE OPENSM_LANES PATHS, mapped},
	    {OPENSM_LANES TABLE OPENSM_PATHS, mapped},
	};
	struct hd_fabric *fabric = parse(levels_topology);
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct remarks remarks = {""};
		struct hd_routes *routes = parse_levels(fabric, files[i].text, &remarks);
		assert_levels(routes, files[i].map);
		assert_null(strstr(remarks.text, "service levels"));
		hd_routes_free(routes);
	}
	hd_fabric_free(fabric);
}

static void levels_and_tables_may_be_files_of_their_own(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct scratch scratch = scratch_new();
	char *files[] = {scratch_file(&scratch, "a.lanes", LANE_FILE),
			 scratch_file(&scratch, "b.lfts", TABLE),
			 scratch_file(&scratch, "c.paths", PATHS)};
	const char *folder[] = {scratch.folder}, *alone[] = {files[2]};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	assert_int_equal(hd_routes_read((const char *const *)files, 3, fabric, NULL, &routes, &err),
			 0);
	assert_levels(routes, mapped);
	hd_routes_free(routes);
	assert_int_equal(hd_routes_read(folder, 1, fabric, NULL, &routes, &err), 0);
	assert_levels(routes, mapped);
	hd_routes_free(routes);
	routes = NULL;
	assert_int_equal(hd_routes_read(alone, 1, fabric, NULL, &routes, &err), -ENODATA);
	assert_says(err.text, "only service levels were given");
	assert_null(routes);
	for (int i = 0; i < 3; i++)
		scratch_drop(files[i]);
	scratch_free(&scratch);
	hd_fabric_free(fabric);
}

static void a_map_without_levels_is_that_of_sl_0(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes = parse_levels(
	    fabric, TABLE "SL to VL: 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n0 switches dumped\n", NULL);
	assert_null(routes->sl);
	assert_int_equal(routes->sl2vl[0], 1);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void missing_levels_are_counted_but_within_a_switch(void **state)
{
	struct hd_fabric *fabric = parse(levels_topology);
	struct remarks remarks = {""};

	(void)state;
	struct hd_routes *routes = parse_levels(fabric,
						TABLE "0x0000000000100000 6 1\n"
						      "0x0000000000100002 4 1\n",
						&remarks);
	assert_says(remarks.text,
		    "3 service levels are missing, so SL 0 is used; the first is that "
		    "of LID 7 from hosts of 'leaf1'");
	assert_int_equal(routes->sl[6], 1);
	assert_int_equal(routes->sl[7], 0);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* The lanes of SLs that nobody sends by may be anything: OpenSM fills them up as it likes. */
static void maps_may_differ_where_nobody_sends(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_routes *routes =
	    parse_levels(fabric,
			 TABLE PATHS "0x0000000000200000 1 3" LANES
				     "0x0000000000200001 1 3 0x01 0x21 0x00 0x67 0x89 0xab 0xcd "
				     "0xef\n",
			 NULL);
	assert_levels(routes, mapped);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void levels_at_random(const struct hd_fabric *fabric, struct hd_routes *routes,
			     uint64_t seed)
{
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			for (uint32_t i = 0; i < hd_port_lid_count(fabric, port) &&
					     fabric->host_base[sw] < fabric->host_base[sw + 1];
			     i++)
				routes->sl[sw * routes->stride + fabric->lid[port] + i] =
				    (uint8_t)hd_random_below(&seed, 3);
	}
}

/* The table's text goes before, since levels alone are no tables. */
static void assert_round_trip(const struct hd_fabric *fabric, const struct hd_routes *routes,
			      routes_writer *write, routes_writer *write_more)
{
	char *tables = dump_of(fabric, routes), *levels = written(write, fabric, routes);
	char *more = write_more ? written(write_more, fabric, routes) : strdup(""), *all;

	assert_true(asprintf(&all, "%s%s%s", tables, levels, more) > 0);
	struct hd_routes *back = parse_levels(fabric, all, NULL);
	assert_true(hd_routes_equal(routes, back));
	hd_routes_free(back);
	free(all);
	free(more);
	free(levels);
	free(tables);
}

static void what_is_written_is_read_back(void **state)
{
	static const char *const fabrics[][2] = {{"xgft", "children=4,4 parents=1,4"},
						 {"torus", "dims=3,3,3"},
						 {"irregular", "switches=20 radix=8 seed=7"}};

	(void)state;
	for (uint64_t i = 0; i < sizeof(fabrics) / sizeof(*fabrics) * 3; i++) {
		struct hd_fabric *fabric = NULL;
		struct hd_fabric *made = generate(fabrics[i / 3][0], fabrics[i / 3][1]);
		assert_int_equal(hd_fabric_assign_lids(made, (unsigned)(i % 3), &fabric, NULL), 0);
		struct hd_routes *routes = routes_with_levels(fabric);
		memset(hd_routes_row(routes, 0), 0, 2);
		memset(hd_routes_row(routes, 0), HD_NO_PORT, 1);
		routes->sl2vl[2] = 1;
		levels_at_random(fabric, routes, i);
		assert_round_trip(fabric, routes, hd_routes_write_levels, NULL);
		assert_round_trip(fabric, routes, hd_routes_write_psl, hd_routes_write_slvl);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
		hd_fabric_free(made);
	}
}

static void assert_levels_refused(const char *text, int rc, const char *place, const char *reason)
{
	assert_routes_refused(levels_topology, text, rc, place, reason);
}

static void a_dump_that_cannot_be_is_refused(void **state)
{
	static const char *const cases[][3] = {
	    {TABLE MAP "Service levels at switch guid 0x0000000000777777 ('x'):\n", "lfts:5",
	     "switch 'x' 0x0000000000777777 is not in the fabric"},
	    {TABLE MAP HEAD_1 "0x0004 16\n", "lfts:6", "SL out of range, expected 0..15"},
	    {TABLE MAP HEAD_1 "0x0004-0x0009 1\n", "lfts:6", "LID out of range, expected 1..8"},
	    {TABLE MAP HEAD_1 "0x0006-0x0004 1\n", "lfts:6", "LID out of range"},
	    {TABLE MAP HEAD_1 "0x0003-0x0004 1\n", "lfts:6", "no host of the fabric has LID 3"},
	    {TABLE MAP HEAD_1 "0x0000 1\n", "lfts:6", "no host of the fabric has LID 0"},
	    {TABLE MAP HEAD_1 "0x0004-0x0006 1\n0x0006 1\n", "lfts:7",
	     "'leaf1' has an SL for LID 6 on an earlier line already"},
	    {TABLE DUMP MAP HEAD_1 "0x0006 1\n", "lfts:17", "on an earlier line already"},
	    {TABLE MAP HEAD_1 "0x0004 1 2\n", "lfts:6", "expected a run of LIDs and their SL"},
	    {TABLE MAP HEAD_1 "0x0004\n", "lfts:6", "expected a run of LIDs and their SL"},
	    {TABLE MAP HEAD_1 "0x0004 1\n3 runs dumped\n", "lfts:7", "1 came before"},
	    {TABLE MAP HEAD_1 "0x0004 1\n", "lfts:6", "have no last line 'N switches dumped'"},
	    {TABLE MAP HEAD_1 "0x0004 1\n1 runs dumped\n", "lfts:7", "have no last line"},
	    {TABLE MAP HEAD_1 "0x0004 1\n" HEAD_2, "lfts:7", "has no last line 'N runs dumped'"},
	    {TABLE MAP HEAD_1 "0x0004 1\n1 switches dumped\n", "lfts:7",
	     "has no last line 'N runs dumped'"},
	    {TABLE MAP "2 switches dumped\n", "lfts:5", "0 came before"},
	    {MAP TABLE, "lfts:2", "have no last line 'N switches dumped'"},
	    {MAP MAP, "lfts:2", "have no last line 'N switches dumped'"},
	    {MAP "0x0004 1\n", "lfts:2", "a run of LIDs before the first switch"},
	    {MAP "1 runs dumped\n", "lfts:2", "this line ends a switch, but none has begun"},
	    {HEAD_1 "0x0004 1\n", "lfts:1", "expected a line SL to VL:"},
	    {"SL to VL: 0 1 2\n", "lfts:1", "the virtual lane, 0..15, of each of 16 SLs"},
	    {"SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 16\n", "lfts:1", "0..15"},
	    {"SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0\n", "lfts:1", "more than 16"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_levels_refused(cases[i][0], -EINVAL, cases[i][1], cases[i][2]);
	assert_levels_refused(DUMP, -ENODATA, "only service levels", "expected files");
	assert_levels_refused(PATHS LANE_FILE, -ENODATA, "only service levels", "expected files");
}

static void paths_that_cannot_be_are_refused(void **state)
{
	static const char *const cases[][3] = {
	    {TABLE "0x0000000000777777 4 0\n", "lfts:4", "0x0000000000777777 is not in the fabric"},
	    {TABLE "Channel Adapter 0x0000000000777777, base LID 4, \"h\"\n", "lfts:4",
	     "is not in the fabric"},
	    {TABLE "0x0000000000100000 9 0\n", "lfts:4",
	     "no port of the fabric has that LID (the last LID is 8)"},
	    {TABLE "0x0000000000100000 2 0\n", "lfts:4", "no port of the fabric has"},
	    {TABLE "0x0000000000100000 0 0\n", "lfts:4", "no port of the fabric has"},
	    {TABLE "0x0000000000100000 6 16\n", "lfts:4", "SL out of range, expected 0..15"},
	    {TABLE "0x0000000000100000 6 1\n0x0000000000100000 6 1\n", "lfts:5",
	     "an earlier line already gives the SL from this source to LID 6"},
	    {TABLE "0x0000000000100000 6 1\n0x0000000000100004 6 2\n", "lfts:5",
	     "SL 2 from 'h3' to LID 6, but an earlier line has SL 1 from another port at its "
	     "switch "
	     "'leaf1': Heddle keeps SLs per source switch"},
	    {TABLE DUMP "0x0000000000100000 6 2\n", "lfts:15",
	     "Heddle keeps SLs per source switch"},
	    {TABLE "Channel Adapter 0x0000000000100001, base LID 4, \"h1\"\n0x0006 : x\n", "lfts:5",
	     "expected a LID and its SL"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_levels_refused(cases[i][0], -EINVAL, cases[i][1], cases[i][2]);
}

static void maps_that_cannot_be_are_refused(void **state)
{
	static const char *const cases[][3] = {
	    {TABLE "0x0000000000777777 1 3" LANES, "lfts:4", "is not in the fabric"},
	    {TABLE "0x0000000000200000 1 5" LANES, "lfts:4",
	     "port 5 of 'leaf1', but the switch has only 4 ports"},
	    {TABLE "0x0000000000200000 1 3 0x01 0x23\n", "lfts:4", "the virtual lanes of 16 SLs"},
	    {TABLE "0x0000000000200000 1 3 0x01 0x21 0x45 0x67 0x89 02ab 0xcd 0xef\n", "lfts:4",
	     "the virtual lanes of 16 SLs"},
	    {TABLE "0x0000000000200000 1 3" LANES "0x0000000000200000 1 3" LANES, "lfts:5",
	     "from port 1 to port 3 of 'leaf1' are on an earlier line already"},
	    {TABLE LANE_FILE DUMP, "lfts:10", "SL 3 goes to VL 3 at all switches and to VL 1 at"},
	    {TABLE "0x0000000000100000 6 15\n", "hosts send on SL 15", "goes to VL 15"},
	    {TABLE "Switch 0x00000000002000aa, base LID 1, \"leaf1\"\n1 3 : 0 1\n", "lfts:5",
	     "the virtual lanes, 0..15, of 16 SLs"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_levels_refused(cases[i][0], -EINVAL, cases[i][1], cases[i][2]);
}

#define ALL_LANES(guid) guid " 1 3" LANES guid " 1 4" LANES guid " 3 4" LANES guid " 4 3" LANES

/* Maps of some ports only are noted with the first pair of ports that lacks one. */
static void maps_that_are_missing_are_noted(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_table_defects defects = {0};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	static const char some[] = TABLE PATHS "0x0000000000200000 1 3" LANES;
	static const char all[] = TABLE PATHS ALL_LANES("0x0000000000200000")
	    ALL_LANES("0x0000000000200001") "0x0000000000200000 2 3" LANES
					    "0x0000000000200000 2 4" LANES;
	assert_int_equal(hd_routes_examine_text(some, sizeof(some) - 1, "lfts", fabric, NULL,
						&defects, &routes, &err),
			 0);
	hd_routes_free(routes);
	assert_int_equal(defects.count, 1);
	assert_int_equal(defects.list[0].kind, HD_DEFECT_INCOMPLETE);
	assert_says(defects.list[0].text, "9 of 10 maps from SLs to VLs are missing");
	assert_says(defects.list[0].text, "the first is that from port 1 to port 4 of 'leaf1'");
	hd_table_defects_release(&defects);
	assert_int_equal(hd_routes_examine_text(all, sizeof(all) - 1, "lfts", fabric, NULL,
						&defects, &routes, &err),
			 0);
	hd_routes_free(routes);
	assert_int_equal(defects.count, 0);
	hd_fabric_free(fabric);
}

/* A row that lost its end may look like a whole row of another kind, or with a smaller number. */
static void rows_cut_short_are_refused(void **state)
{
	(void)state;
	assert_routes_refused(levels_topology,
			      TABLE "0x0000000000200000 1 3" LANES "0x0000000000200000 4 3",
			      -EINVAL, "lfts:5", "is this row cut short?");
	assert_routes_refused(levels_topology, TABLE "0x0000000000100000 6 1", -EINVAL, "lfts:4",
			      "expected a newline after the row");
	assert_routes_refused(levels_topology,
			      TABLE "Channel Adapter 0x0000000000100001, base LID 4, \"h1\"\n"
				    "0x0006 : 1",
			      -EINVAL, "lfts:5", "expected a newline after the row");
	assert_routes_refused(levels_topology,
			      TABLE "Switch 0x00000000002000aa, base LID 1, \"leaf1\"\n"
				    "1   3   : 0  1  2  1  4  5  6  7  8  9  10 11 12 13 14 1",
			      -EINVAL, "lfts:5", "expected a newline after the row");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_dialect_gives_the_same_levels),
	    cmocka_unit_test(levels_and_tables_may_be_files_of_their_own),
	    cmocka_unit_test(a_map_without_levels_is_that_of_sl_0),
	    cmocka_unit_test(missing_levels_are_counted_but_within_a_switch),
	    cmocka_unit_test(maps_may_differ_where_nobody_sends),
	    cmocka_unit_test(what_is_written_is_read_back),
	    cmocka_unit_test(a_dump_that_cannot_be_is_refused),
	    cmocka_unit_test(paths_that_cannot_be_are_refused),
	    cmocka_unit_test(maps_that_cannot_be_are_refused),
	    cmocka_unit_test(maps_that_are_missing_are_noted),
	    cmocka_unit_test(rows_cut_short_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
