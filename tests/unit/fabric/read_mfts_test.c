/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast tables in every form, held against their fabric. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "levels_testing.h"

#define LIST                                                                                       \
	"\nSwitch 0x0000000000200001\nLID    : Out Port(s)\n0xC001 : 0x000  0x003 \n"              \
	"\nSwitch 0x0000000000200000\nLID    : Out Port(s)\n"                                      \
	"0xC001 : 0x001  0x003 \n0xC010 : 0x002 \n"
#define HEAD_1 "Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x0000000000200000 (leaf1):\n"
#define HEAD_2                                                                                     \
	"Multicast mlids [0xc000-0xc3ff] of switch DR path slid 0; dlid 0; 0,1 guid "              \
	"0x0000000000200001 (leaf2):\n"
#define PORTS "     Ports: 0 1 2 3 4 \n MLid\n"
#define COLUMNS                                                                                    \
	HEAD_1 PORTS                                                                               \
	    "0xc001        x   x   \n0xc010          x     \n2 valid mlids dumped \n" HEAD_2 PORTS \
	    "0xc001      x     x   \n1 valid mlids dumped \n"
#define MASKS                                                                                      \
	HEAD_1                                                                                     \
	" MLid       Port Mask\n0xc001      000a\n0xc010      0004\n2 valid mlids dumped "         \
	"\n" HEAD_2                                                                                \
	" MLid       Port Mask\n0xc000      0000\n0xc001      0009\n2 valid mlids dumped \n"
#define UNICAST                                                                                    \
	"Unicast lids [0x0-0x8] of switch Lid 1 guid 0x0000000000200000 (leaf1):\n"                \
	"0x0006 003 : (Channel Adapter portguid 0x0000000000100003: 'h2')\n1 valid lids dumped \n"
#define UNICAST_LIST "Switch 0x0000000000200000\nLID    : Port : Hops : Optimal\n0x0001 : 000\n"

static struct hd_mfts *parse_mfts(const struct hd_fabric *fabric, const char *text)
{
	struct hd_mfts *mfts = NULL;
	struct hd_error err = {""};

	if (hd_mfts_parse(text, strlen(text), "mfts", fabric, NULL, &mfts, &err))
		fail_msg("%s", err.text);
	return mfts;
}

static void assert_entry(const struct hd_mft_entry *entry, uint32_t mlid, uint32_t sw,
			 uint64_t ports)
{
	assert_int_equal(entry->mlid, mlid);
	assert_int_equal(entry->sw, sw);
	const struct hd_port_set expected = {{ports}};
	assert_true(hd_port_set_equal(&entry->ports, &expected));
}

static void every_form_gives_the_same_entries(void **state)
{
	static const char *const forms[] = {
	    LIST,	   COLUMNS,	     MASKS, "$ dump_fts -M\n" COLUMNS, UNICAST COLUMNS,
	    MASKS UNICAST, UNICAST_LIST LIST};

	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct hd_mfts *mfts = parse_mfts(fabric, forms[i]);
		uint32_t count;
		assert_int_equal(mfts->count, 3);
		assert_entry(&mfts->entries[0], 0xC001, 0, 1 << 1 | 1 << 3);
		assert_entry(&mfts->entries[1], 0xC001, 1, 1 << 0 | 1 << 3);
		assert_entry(&mfts->entries[2], 0xC010, 0, 1 << 2);
		assert_ptr_equal(hd_mfts_group(mfts, 0xC001, &count), mfts->entries);
		assert_int_equal(count, 2);
		assert_ptr_equal(hd_mfts_group(mfts, 0xC010, &count), mfts->entries + 2);
		assert_int_equal(count, 1);
		hd_mfts_group(mfts, 0xC002, &count);
		assert_int_equal(count, 0);
		hd_mfts_free(mfts);
	}
	hd_fabric_free(fabric);
}

/* Of masks the first four digits are ports 0 to 15; columns have ports' last digits above. */
static void switches_of_many_ports_are_read(void **state)
{
	static const char *const forms[] = {
	    "Switch 0x200000\nLID    : Out Port(s)\n0xC001 : 0x001  0x006  0x017 \n",
	    "Multicast mlids [0xc000-0xc003] of switch Lid 23 guid 0x0000000000200000 (S1_0):\n"
	    " MLid       Port Mask\n0xc001      00420080\n1 valid mlids dumped\n",
	    "Multicast mlids [0xc000-0xc003] of switch Lid 23 guid 0x0000000000200000 (S1_0):\n"
	    "            0                   1                   2         \n"
	    "     Ports: 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 \n MLid\n"
	    "0xc001        x         x                                 x   \n"
	    "1 valid mlids dumped \n"};

	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=22,2 parents=1,2");
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		char text[512];
		snprintf(text, sizeof(text), "%s", forms[i]);
		char *lid = strstr(text, "Lid 23");
		if (lid)
			memcpy(lid, "DR pat", 6); /* whichever LID it has */
		struct hd_mfts *mfts = parse_mfts(fabric, text);
		assert_int_equal(mfts->count, 1);
		assert_entry(&mfts->entries[0], 0xC001, 0, 1 << 1 | 1 << 6 | 1 << 23);
		hd_mfts_free(mfts);
	}
	hd_fabric_free(fabric);
}

static void keep_warning(void *context, enum hd_log_level level, const char *line)
{
	if (level == HD_LOG_WARNING)
		snprintf(context, HD_ERROR_TEXT, "%s", line);
}

/* What a dump lacks is not a fault of the fabric, and OpenSM's file lacks switches by right. */
static void dumps_that_were_cut_are_warned_of(void **state)
{
	static const char *const cases[][2] = {
	    {COLUMNS, ""},
	    {MASKS UNICAST, ""},
	    {UNICAST COLUMNS, ""},
	    {LIST, ""},
	    {"Switch 0x200000\nLID    : Out Port(s)\n0xC001 : 0x001 \n", ""},
	    {"Switch 0x200000\nLID    : Out Port(s)\n0xC001 : 0x001 ",
	     "mfts: the last row does not end with a newline"},
	    {HEAD_1 PORTS "0xc001        x\n1 valid mlids dumped\n",
	     "1 of 2 switches have no table, the first is 'leaf2' 0x0000000000200001"},
	    {HEAD_1 PORTS "0xc001        x\n1 mlids dumped\n" HEAD_2 PORTS "0 mlids dumped\n", ""},
	    {HEAD_2 PORTS "0xc001      x\n" HEAD_1 PORTS "0 valid mlids dumped\n",
	     "1 tables have no last line, which counts the rows (is a part of the file "
	     "missing?); the first is that "
	     "of 'leaf2'"},
	    {HEAD_1 PORTS "0 valid mlids dumped\n" HEAD_2 PORTS, "first is that of 'leaf2'"},
	    {HEAD_1 PORTS "0 valid mlids dumped\n" HEAD_2 PORTS UNICAST,
	     "first is that of 'leaf2'"},
	};

	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char warning[HD_ERROR_TEXT] = "";
		const struct hd_log log = {.write = keep_warning, .context = warning};
		struct hd_mfts *mfts = NULL;
		assert_int_equal(hd_mfts_parse(cases[i][0], strlen(cases[i][0]), "mfts", fabric,
					       &log, &mfts, NULL),
				 0);
		assert_says(warning, cases[i][1]);
		if (!*cases[i][1])
			assert_string_equal(warning, "");
		hd_mfts_free(mfts);
	}
	hd_fabric_free(fabric);
}

/* OpenSM's file without a group has no byte; that of the other tools has all switches. */
static void without_a_group_there_is_no_entry(void **state)
{
	static const char *const forms[] = {"", HEAD_1 PORTS "0 valid mlids dumped \n" HEAD_2 PORTS
							     "0 valid mlids dumped \n"};

	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		char warning[HD_ERROR_TEXT] = "";
		const struct hd_log log = {.write = keep_warning, .context = warning};
		struct hd_mfts *mfts = NULL;
		assert_int_equal(
		    hd_mfts_parse(forms[i], strlen(forms[i]), "mfts", fabric, &log, &mfts, NULL),
		    0);
		assert_int_equal(mfts->count, 0);
		assert_int_equal(!*warning, i);
		hd_mfts_free(mfts);
	}
	hd_fabric_free(fabric);
}

static void assert_mfts_refused(const char *text, int rc, const char *place, const char *reason)
{
	struct hd_fabric *fabric = parse(levels_topology);
	struct hd_mfts *mfts = NULL;
	struct hd_error err = {""};
	int got = hd_mfts_parse(text, strlen(text), "mfts", fabric, NULL, &mfts, &err);

	assert_null(mfts);
	assert_refusal(got, rc, &err, place, reason);
	hd_fabric_free(fabric);
}

static void tables_that_cannot_be_are_refused(void **state)
{
	static const char *const cases[][3] = {
	    {"Switch 0x777777\n", "mfts:1", "0x0000000000777777 is not in the fabric"},
	    {"Multicast mlids [0xc000-0xc3ff] of switch Lid 1\n", "mfts:1",
	     "expected Multicast mlids"},
	    {"0xC001 : 0x001\n", "mfts:1", "before the first switch"},
	    {"Switch 0x200000\n0xC001 : 0x005\n", "mfts:2",
	     "port 5 of 'leaf1', but the switch has only 4 ports"},
	    {"Switch 0x200000\n0xC001 : 0x0FF\n", "mfts:2", "expected ports such as 0x001"},
	    {"Switch 0x200000\n0xC001 0x001\n", "mfts:2", "expected a row such as 0xC001 : 0x001"},
	    {"Switch 0x200000\n0x0001 : 0x001\n", "mfts:2", "expected a multicast LID"},
	    {"Switch 0x200000\n0xFFFF : 0x001\n", "mfts:2", "expected a multicast LID"},
	    {HEAD_1 PORTS "0xc001                x\n", "mfts:4", "port 5 of 'leaf1'"},
	    {HEAD_1 PORTS "0xc001       x\n", "mfts:4", "an x below the number of a port"},
	    {HEAD_1 PORTS "0xc001   x\n", "mfts:4", "an x below the number of a port"},
	    {HEAD_1 PORTS "0xc001        y\n", "mfts:4", "an x below the number of a port"},
	    {HEAD_1 " MLid       Port Mask\n0xc001      0020\n", "mfts:3", "port 5 of 'leaf1'"},
	    {HEAD_1 " MLid       Port Mask\n0xc001      002\n", "mfts:3", "a mask of ports"},
	    {HEAD_1 " MLid       Port Mask\n0xc001      0x0a\n", "mfts:3", "a mask of ports"},
	    {HEAD_1 PORTS "0xc001        x\n2 valid mlids dumped\n", "mfts:5",
	     "1 rows came before"},
	    {LIST LIST, "mfts:", "'leaf1' already has an entry for 0xC001 on line"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_mfts_refused(cases[i][0], -EINVAL, cases[i][1], cases[i][2]);
	assert_mfts_refused("\n", -ENODATA, "mfts", "no multicast table found");
	assert_mfts_refused(UNICAST, -ENODATA, "mfts", "no multicast table found");
	assert_mfts_refused(levels_topology, -ENODATA, "mfts", "no multicast table found");
}

static void files_are_read_and_missing_ones_said(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	struct scratch scratch = scratch_new();
	char *file = scratch_file(&scratch, "opensm.mcfdbs", LIST);
	struct hd_mfts *mfts = NULL;
	struct hd_error err = {""};
	assert_int_equal(hd_mfts_read(file, fabric, NULL, &mfts, &err), 0);
	assert_int_equal(mfts->count, 3);
	hd_mfts_free(mfts);
	assert_int_equal(hd_mfts_read("/nowhere/mfts", fabric, NULL, &mfts, &err), -ENOENT);
	assert_says(err.text, "/nowhere/mfts: cannot open");
	scratch_drop(file);
	scratch_free(&scratch);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_form_gives_the_same_entries),
	    cmocka_unit_test(switches_of_many_ports_are_read),
	    cmocka_unit_test(dumps_that_were_cut_are_warned_of),
	    cmocka_unit_test(without_a_group_there_is_no_entry),
	    cmocka_unit_test(tables_that_cannot_be_are_refused),
	    cmocka_unit_test(files_are_read_and_missing_ones_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
