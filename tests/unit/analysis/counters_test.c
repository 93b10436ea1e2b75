/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of ports in all forms, their differences, and the loads of links that follow. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "testing.h"

#include <heddle/analysis/counters.h>

#define LEAF UINT64_C(0x200000) /* LID 9, whose port 3 leads to a spine */

/* Hosts have the LIDs 1 to 8, switches those above. */
static struct hd_fabric *tree(void)
{
	struct hd_error err = {""};
	struct hd_fabric *plain = generate("xgft", "children=2,4 parents=1,2"), *fabric = NULL;

	CHECK(hd_fabric_assign_lids(plain, 0, &fabric, &err));
	hd_fabric_free(plain);
	return fabric;
}

static void count_remark(void *context, enum hd_log_level level, const char *line)
{
	unsigned *remarks = context;

	(void)level;
	(void)line;
	++*remarks;
}

/* `remarks`: how many there were; NULL: nobody asks. */
static int parse_remarked(const struct hd_fabric *fabric, const char *bytes, unsigned *remarks,
			  struct hd_counters **out, struct hd_error *err)
{
	const struct hd_text text = {.bytes = bytes, .length = strlen(bytes), .name = "dump"};
	const struct hd_log log = {count_remark, remarks};

	*out = NULL;
	*err = (struct hd_error){""};
	return hd_counters_parse(&text, fabric, remarks ? &log : NULL, out, err);
}

static int parse(const struct hd_fabric *fabric, const char *bytes, struct hd_counters **out,
		 struct hd_error *err)
{
	return parse_remarked(fabric, bytes, NULL, out, err);
}

static const struct hd_port_counters *port_of(const struct hd_fabric *fabric,
					      const struct hd_counters *counters, uint64_t guid,
					      uint32_t number)
{
	return &counters->ports[hd_port_index(fabric, hd_fabric_find_node(fabric, guid), number)];
}

static uint32_t leaf_lid(const struct hd_fabric *fabric)
{
	return fabric->lid[fabric->port_base[hd_fabric_find_node(fabric, LEAF)]];
}

/* What the tools print of port 3 of the leaf; %u: its LID. */
static const char *const forms[] = {
    "# Port counters: Lid %u port 3 (CapMask: 0x1300)\n"
    "PortSelect:......................3\n"
    "CounterSelect:...................0x0000\n"
    "LinkDownedCounter:...............3\n"
    "PortXmitData:....................4294967295\n"
    "PortXmitWait:....................777\n"
    "# Port extended counters: Lid %u port 3 (CapMask: 0x1300 CapMask2: 0x0000000)\n"
    "PortXmitData:....................9123456789\n"
    "PortRcvData:.....................864\n"
    "# Port counters: Lid %u port 255 (CapMask: 0x1300)\n"
    "LinkDownedCounter:...............99\n"
    "# PortXmitDataSL counters: Lid 1 port 1\n"
    "XmtDataSL0:......................5\n",
    "Errors for 0x200000 \"S1_0\"\n"
    "   GUID 0x200000 port ALL: [LinkDownedCounter == 99]\n"
    "   GUID 0x200000 port 3: [LinkDownedCounter == 3] [PortXmitWait == 777] [PortXmitData == "
    "9123456789 "
    "(33.988GB)] [PortRcvData == 864 (3.375KB)]\n"
    "       Link info:     13   4[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>  "
    "0x0000000000200040     17    1[  ] "
    "\"S2_0\" ( )\n\n"
    "## Summary: 18 nodes checked, 1 bad nodes found\n",
    "\"S1\" 0x7\" 0x200000 active TRUE port 3\n"
    "     Last Reset           : Mon Feb 29 23:59:50 2024\n"
    "     link_downed          : 3\n"
    "     xmit_wait            : 777\n"
    "     Last Data Update     : Fri Mar  1 00:00:10 2024\n"
    "     xmit_data            : 9123456789 (33.988GB)\n"
    "     rcv_data             : 864 (3.375KB)\n",
    "\nName\tGUID\tActive\tPort\tLast Reset\tLast Error Update\tLast Data "
    "Update\tlink_downed\txmit_wait\txmit_data\t"
    "rcv_data\n"
    "S1 0\t0x200000\tTRUE\t3\tMon Feb 29 23:59:50 2024\tFri Mar  1 00:00:10 2024\tFri Mar  1 "
    "00:00:10 2024\t3\t777\t"
    "9123456789\t864\n",
    "# seconds 20\n"
    "guid,port,LinkDownedCounter,name,PortXmitWait,PortXmitData,PortRcvData,SymbolErrorCounter\n"
    "0x0000000000200000,3,3,leaf,777,9123456789,864,\n",
};

#define FORMS (sizeof(forms) / sizeof(*forms))

static void fill(const struct hd_fabric *fabric, const char *form, char *text, size_t size)
{
	unsigned lid = leaf_lid(fabric);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, size, form, lid, lid, lid);
#pragma GCC diagnostic pop
}

/* Property: all forms say the same of a port; sums over ports and counters of 32 bits at their end do not count. */
static void same_in_all_forms(void **state)
{
	(void)state;
	struct hd_fabric *fabric = tree();
	char text[2048];

	for (size_t i = 0; i < FORMS; i++) {
		struct hd_counters *counters;
		struct hd_error err;
		unsigned remarks = 0;
		fill(fabric, forms[i], text, sizeof(text));
		CHECK(parse_remarked(fabric, text, &remarks, &counters, &err));
		assert_int_equal(remarks, 0);
		assert_int_equal(counters->ports_full, 0);
		const struct hd_port_counters *port = port_of(fabric, counters, LEAF, 3);
		assert_int_equal(counters->ports_read, 1);
		assert_int_equal(port->known,
				 HD_COUNTER_BIT(HD_XMIT_DATA) | HD_COUNTER_BIT(HD_RCV_DATA) |
				     HD_COUNTER_BIT(HD_XMIT_WAIT) | HD_COUNTER_BIT(HD_LINK_DOWNED));
		assert_true(port->value[HD_XMIT_DATA] == UINT64_C(9123456789));
		assert_int_equal(port->value[HD_RCV_DATA], 864);
		assert_int_equal(port->value[HD_XMIT_WAIT], 777);
		assert_int_equal(port->value[HD_LINK_DOWNED], 3);
		assert_true(i < 2 || fabs(counters->seconds - 20) < 1e-9);
		hd_counters_free(counters);
	}
	hd_fabric_free(fabric);
}

/* Property: a counter of 32 bits at its end is not known; a port of another fabric is left out; both with a remark. */
static void left_out(void **state)
{
	(void)state;
	struct hd_fabric *fabric = tree();
	struct hd_counters *counters;
	struct hd_error err;
	unsigned remarks = 0;

	CHECK(parse_remarked(
	    fabric,
	    "# Port counters: Lid 1 port 1 (C)\nPortXmitData:....4294967295\nPortRcvData:....7\n"
	    "# Port counters: Lid 1 port 77 (C)\nPortXmitData:....5\n",
	    &remarks, &counters, &err));
	const struct hd_port_counters *port = &counters->ports[fabric->lid_owner[1]];
	assert_int_equal(port->known, HD_COUNTER_BIT(HD_RCV_DATA));
	assert_int_equal(port->stopped, HD_COUNTER_BIT(HD_XMIT_DATA));
	assert_int_equal(counters->ports_full, 1);
	assert_int_equal(counters->ports_read, 1);
	assert_int_equal(remarks, 2);
	hd_counters_free(counters);
	hd_fabric_free(fabric);
}

/* Property: lines that are damaged are refused with file, line and reason, and so are files without a counter. */
static void damaged(void **state)
{
	(void)state;
	static const struct {
		const char *text, *reason;
		int rc;
	} cases[] = {
	    {"", "dump: the file is empty", -ENODATA},
	    {"nothing\n", "dump: no counters found", -ENODATA},
	    {"# Port counters: Lid x port 3 (C)\n", "dump:1: expected 'Lid NUMBER port NUMBER'",
	     -EINVAL},
	    {"# Port counters: Lid 1 port 1 (C)\nPortXmitData:....1x\n",
	     "dump:2: expected a number", -EINVAL},
	    {"# Port counters: Lid 1 port 1 (C)\nPortXmitData:....18446744073709551616\n",
	     "dump:2: expected a number", -EINVAL},
	    {"# Port counters: Lid 4000 port 1 (C)\nPortXmitData:....1\n",
	     "dump:1: the fabric has none of the ports", -ENODATA},
	    {"GUID 0x200000 port 3: [PortXmitWait = 1]\n", "dump:1: expected [NAME == NUMBER]",
	     -EINVAL},
	    {"GUID 0x200000 port x: [PortXmitWait == 1]\n", "dump:1: expected 'port NUMBER:'",
	     -EINVAL},
	    {"# Port counters: Lid 1 port 1 (C)\nPortXmitData:....1\n"
	     "# Port extended counters: Lid 1 port 1 (C)\nPortXmitData:....1\n"
	     "# Port counters: Lid 1 port 1 (C)\nPortXmitData:....2\n",
	     "dump:6: the file has PortXmitData of this port twice", -EINVAL},
	    {"guid,port,PortXmitData\n0x200000,3,1\n0x200000,4,1\n0x200000,3,1\n",
	     "dump:4: the file has PortXmitData of this port twice", -EINVAL},
	    {"\"S\" 0x200000 active TRUE port 3\n  Last Reset : yesterday\n",
	     "dump:2: expected a time", -EINVAL},
	    {"\"S\" 0x200000 active TRUE port 3\n  xmit_data : many\n", "dump:2: expected a number",
	     -EINVAL},
	    {"guid,number\n", "dump:1: expected columns guid and port", -EINVAL},
	    {"guid,port,PortXmitData,xmit_data\n", "dump:1: columns 3 and 4 are the same", -EINVAL},
	    {"guid,port,PortXmitData\n0x200000,3\n0x200000,3,1,2\n", "dump:3: expected a row",
	     -EINVAL},
	    {"guid,port,PortXmitData\n0x200000,3,-1\n",
	     "dump:2: expected a number of up to 64 bits in column 3", -EINVAL},
	    {"# seconds 0\nguid,port\n", "dump:1: expected a number above 0", -EINVAL},
	    {"Name\tGUID\tActive\n", "dump:1: expected columns guid and port", -EINVAL},
	};
	struct hd_fabric *fabric = tree();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hd_counters *counters;
		struct hd_error err;
		assert_int_equal(parse(fabric, cases[i].text, &counters, &err), cases[i].rc);
		if (strncmp(err.text, cases[i].reason, strlen(cases[i].reason)) != 0)
			fail_msg("case %zu: '%s'", i, err.text);
		assert_null(counters);
	}
	hd_fabric_free(fabric);
}

/* Property: a difference has what was counted in between; a counter that went back has what it counted since. */
static void differences(void **state)
{
	(void)state;
	struct hd_fabric *fabric = tree();
	struct hd_counters *earlier, *later;
	struct hd_error err;

	CHECK(parse(fabric,
		    "# seconds "
		    "10\nguid,port,PortXmitData,PortXmitWait\n0x200000,1,100,5\n0x200000,2,100,5\n"
		    "0x200000,3,100,5\n",
		    &earlier, &err));
	CHECK(parse(
	    fabric,
	    "# seconds 30\nguid,port,PortXmitData,PortRcvData\n0x200000,1,150,9\n0x200000,2,30,9\n",
	    &later, &err));
	hd_counters_subtract(later, earlier);
	assert_int_equal(later->ports_read, 2);
	assert_int_equal(later->ports_back, 1);
	assert_int_equal(port_of(fabric, later, LEAF, 1)->value[HD_XMIT_DATA], 50);
	assert_int_equal(port_of(fabric, later, LEAF, 1)->known, HD_COUNTER_BIT(HD_XMIT_DATA));
	assert_int_equal(port_of(fabric, later, LEAF, 2)->value[HD_XMIT_DATA], 30);
	assert_int_equal(port_of(fabric, later, LEAF, 3)->known, 0);
	assert_true(fabs(later->seconds - 20) < 1e-9);
	hd_counters_free(earlier);
	hd_counters_free(later);
	hd_fabric_free(fabric);
}

/* Property: what is written is read again, with time and tick. */
static void round_trip(void **state)
{
	(void)state;
	struct hd_fabric *fabric = tree();
	struct hd_counters *counters = hd_counters_new(fabric), *again;
	struct hd_error err;
	char *text = NULL;
	size_t size;
	uint64_t random = 3;

	assert_non_null(counters);
	counters->seconds = 0.125;
	counters->wait_tick = 1e-9;
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		counters->ports[port].known =
		    (uint32_t)hd_random_below(&random, HD_COUNTER_BIT(HD_COUNTERS));
		for (unsigned i = 0; i < HD_COUNTERS; i++)
			if (counters->ports[port].known & HD_COUNTER_BIT(i))
				counters->ports[port].value[i] = hd_random_next(&random);
	}
	FILE *stream = open_memstream(&text, &size);
	assert_non_null(stream);
	hd_counters_write(counters, fabric, stream);
	fclose(stream);
	CHECK(parse(fabric, text, &again, &err));
	assert_memory_equal(counters->ports, again->ports,
			    fabric->port_count * sizeof(*again->ports));
	assert_true(fabs(again->seconds - 0.125) < 1e-12 && fabs(again->wait_tick - 1e-9) < 1e-15);
	hd_counters_free(again);
	hd_counters_free(counters);
	free(text);
	hd_fabric_free(fabric);
}

/* Property: a link has the bytes that its sender counts, or else its receiver, and its shares are of its rate. */
static void loads(void **state)
{
	(void)state;
	struct hd_fabric *fabric = tree();
	struct hd_counters *counters;
	struct hd_measured *measured;
	struct hd_error err;
	const uint32_t sw = hd_fabric_find_node(fabric, LEAF);
	const double rate = hd_port_rate(fabric, hd_port_index(fabric, sw, 3)) * 1e9 / 8;

	CHECK(parse(fabric,
		    "# seconds 2\n# wait_tick_seconds "
		    "0.001\nguid,port,PortXmitData,PortRcvData,PortXmitWait\n"
		    "0x200000,3,1000000000,25,500\n0x200000,1,8,16,0\n",
		    &counters, &err));
	CHECK(hd_measured_new(fabric, counters, &measured, &err));
	const struct hd_measured_link *up = &measured->links[hd_fabric_find_isl(fabric, sw, 3)];
	assert_true(fabs(up->bytes - 4e9) < 1 && fabs(up->share - 4e9 / (2 * rate)) < 1e-9);
	assert_true(fabs(up->wait - 0.25) < 1e-9);
	assert_true(
	    fabs(measured->links[fabric->isl_reverse[hd_fabric_find_isl(fabric, sw, 3)]].bytes -
		 100) < 1e-9);
	assert_true(fabs(measured->links[fabric->isl_count].bytes - 64) < 1e-9);
	assert_true(fabs(measured->links[fabric->isl_count + fabric->host_count].bytes - 32) <
		    1e-9);
	assert_true(measured->links[hd_fabric_find_isl(fabric, sw, 4)].bytes < 0);
	assert_int_equal(measured->known, 4);
	hd_measured_free(measured);
	hd_counters_free(counters);
	hd_fabric_free(fabric);
}

/* Property: without the length of a tick, waits are as long as they can be: by the time that is left beside sending, and
 * by the slowest ticks that there are. */
static void ticks(void **state)
{
	(void)state;
	struct hd_fabric *fabric = tree();
	const uint32_t sw = hd_fabric_find_node(fabric, LEAF);
	const double rate = hd_port_rate(fabric, hd_port_index(fabric, sw, 3)) * 1e9 / 8;
	const double slowest = 4.0 * HD_TICK_LONGEST / rate;
	struct hd_error err;

	for (unsigned i = 0; i < 4; i++) {
		struct hd_counters *counters;
		struct hd_measured *measured;
		CHECK(parse(fabric,
			    "guid,port,PortXmitWait\n0x200000,3,1000000000\n0x200000,4,500000000\n",
			    &counters, &err));
		counters->seconds = i == 0 ? 0 : i == 1 ? 1 : 1000;
		counters->wait_bytes = i == 3 ? 8 : 0;
		CHECK(hd_measured_new(fabric, counters, &measured, &err));
		double wait = measured->links[hd_fabric_find_isl(fabric, sw, 3)].wait;
		double other = measured->links[hd_fabric_find_isl(fabric, sw, 4)].wait;
		const double expected[] = {1, 1, 1e9 * slowest / 1000, 1e9 * 8 / rate / 1000};
		assert_true(fabs(wait - expected[i]) < 1e-9 && fabs(other - wait / 2) < 1e-9);
		assert_true(measured->ticked == (i == 3));
		hd_measured_free(measured);
		hd_counters_free(counters);
	}
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(same_in_all_forms),
	    cmocka_unit_test(left_out),
	    cmocka_unit_test(damaged),
	    cmocka_unit_test(differences),
	    cmocka_unit_test(round_trip),
	    cmocka_unit_test(loads),
	    cmocka_unit_test(ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
