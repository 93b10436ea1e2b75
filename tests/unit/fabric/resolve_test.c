/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a text means, in a fabric that has all the traps: numbers and words as names, twins, ports
 * without a cable. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "levels_testing.h"

/* A cabled adapter at a port of the switch: both ends of the cable, as ibnetdiscover prints them.
 */
#define HOST(at, guid, port_guid, name, lid)                                                       \
	"Ca 1 \"H-0000000000" guid "\" # \"" name "\"\n[1](" port_guid                             \
	") \"S-0000000000200000\"[" at "] # lid " lid " lmc 0 \"leaf\" lid 1 4xEDR\n"
#define CABLE(at, guid, port_guid, name, lid)                                                      \
	"[" at "] \"H-0000000000" guid "\"[1](" port_guid ") # \"" name "\" lid " lid " 4xEDR\n"

static const char fabric_text[] =
    "Switch 20 \"S-0000000000200000\" # \"leaf\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"n1 mlx5_0\" lid 4 4xEDR\n"
    "[2] \"H-0000000000100000\"[2](100002) # \"n1 mlx5_0\" lid 5 4xEDR\n" CABLE(
	"3", "100010", "100011", "n2 mlx5_0", "6") CABLE("4", "100020", "100021", "same", "7")
	CABLE("5", "100030", "100031", "same", "8")
	    CABLE("6", "100040", "100041", "17", "9") /* LID 17 is another's */
    CABLE("7", "100050", "100051", "other", "17")
	CABLE("8", "100060", "100061", "18 mlx5_0", "10") /* LID 18 too */
    CABLE("9", "100070", "100071", "more", "18")
	CABLE("10", "100080", "100081", "900", "11") /* no port has LID 900 */
    CABLE("11", "100090", "100091", "12", "12") /* its own LID */
    CABLE("12", "1000a0", "1000a1", "1", "13") /* LID 1 is the switch's */
    CABLE("13", "1000b0", "1000b1", "leaf mlx5_0", "14") /* "leaf" is the switch's name */
    CABLE("14", "1000c0", "1000c1", "0x100010", "15") /* a GUID of another's as name */
    CABLE("15", "1000d0", "1000d1", "n2 mlx5_0 spare",
	  "16") "Ca 2 \"H-0000000000100000\" # \"n1 mlx5_0\"\n"
		"[1](100001) \"S-0000000000200000\"[1] # lid 4 lmc 0 \"leaf\" lid 1 4xEDR\n"
		"[2](100002) \"S-0000000000200000\"[2] # lid 5 lmc 0 \"leaf\" lid 1 4xEDR\n" HOST(
		    "3", "100010", "100011", "n2 mlx5_0",
		    "6") HOST("4", "100020", "100021", "same",
			      "7") HOST("5", "100030", "100031", "same",
					"8") HOST("6", "100040", "100041", "17",
						  "9") HOST("7", "100050", "100051", "other", "17")
		    HOST("8", "100060", "100061", "18 mlx5_0",
			 "10") HOST("9", "100070", "100071", "more", "18")
			HOST("10", "100080", "100081", "900", "11")
			    HOST("11", "100090", "100091", "12", "12")
				HOST("12", "1000a0", "1000a1", "1", "13")
				    HOST("13", "1000b0", "1000b1", "leaf mlx5_0", "14")
					HOST("14", "1000c0", "1000c1", "0x100010", "15")
					    HOST("15", "1000d0", "1000d1", "n2 mlx5_0 spare",
						 "16") "Ca 1 \"H-0000000000100100\" # \"loose\"\n";

/* LID of the port that the text means. */
static uint32_t lid_of(const struct hd_fabric *fabric, const char *text,
		       enum hd_resolve_filter filter)
{
	uint32_t port = HD_NONE;
	struct hd_error err = {""};

	if (hd_fabric_resolve(fabric, text, filter, &port, &err))
		fail_msg("%s", err.text);
	return fabric->lid[port];
}

static void assert_unresolved(const struct hd_fabric *fabric, const char *text,
			      enum hd_resolve_filter filter, int rc, const char *expected)
{
	uint32_t port = 7;
	struct hd_error err = {""};
	int got = hd_fabric_resolve(fabric, text, filter, &port, &err);

	assert_refusal(got, rc, &err, text, expected);
	assert_int_equal(port, 7);
}

static void ports_are_found_by_lid_guid_and_name(void **state)
{
	static const struct {
		const char *text;
		uint32_t lid;
	} cases[] = {
	    {"4", 4},	     {"004", 4},       {"0x100002", 5},		{"0x0000000000100011", 6},
	    {"0X100011", 6}, {"n2 mlx5_0", 6}, {"n2 mlx5_0 spare", 16}, {"0x200000", 1},
	    {"0x100021", 7}, {"0x100020", 7},  {"other", 17},		{"900", 11},
	    {"12", 12},
	};
	(void)state;
	struct hd_fabric *fabric = parse(fabric_text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(lid_of(fabric, cases[i].text, HD_RESOLVE_ANY), cases[i].lid);
	hd_fabric_free(fabric);
}

static void each_lid_of_a_port_means_it(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(levels_topology);
	assert_int_equal(fabric->lmc[fabric->lid_owner[6]], 1);
	assert_int_equal(lid_of(fabric, "6", HD_RESOLVE_ANY), 6);
	assert_int_equal(lid_of(fabric, "7", HD_RESOLVE_ANY), 6);
	hd_fabric_free(fabric);
}

/* A description in whole goes before the first word of another. */
static void a_complete_name_goes_before_a_first_word(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(fabric_text);
	assert_int_equal(lid_of(fabric, "leaf", HD_RESOLVE_ANY), 1);
	assert_int_equal(lid_of(fabric, "leaf", HD_RESOLVE_HOSTS), 14);
	assert_unresolved(fabric, "n2", HD_RESOLVE_ANY, -EEXIST, "means 2 ports");
	hd_fabric_free(fabric);
}

/* No number is taken for an address where it is another port's name, nor the other way round. */
static void a_number_that_is_the_name_of_another_is_refused(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(fabric_text);
	for (int hosts = 0; hosts < 2; hosts++) {
		enum hd_resolve_filter filter = hosts ? HD_RESOLVE_HOSTS : HD_RESOLVE_ANY;
		assert_unresolved(fabric, "17", filter, -EEXIST,
				  "'17' means 2 ports, give a GUID instead: "
				  "'other'[1] GUID 0x0000000000100051 LID 17, "
				  "'17'[1] GUID 0x0000000000100041 LID 9");
		assert_unresolved(fabric, "18", filter, -EEXIST,
				  "'more'[1] GUID 0x0000000000100071 LID 18, "
				  "'18 mlx5_0'[1] GUID 0x0000000000100061 LID 10");
		assert_unresolved(fabric, "0x100010", filter, -EEXIST,
				  "'n2 mlx5_0'[1] GUID 0x0000000000100011 LID 6, "
				  "'0x100010'[1] GUID 0x00000000001000c1 LID 15");
	}
	hd_fabric_free(fabric);
}

static void a_filter_leaves_one_meaning(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(fabric_text);
	assert_unresolved(fabric, "1", HD_RESOLVE_ANY, -EEXIST, "means 2 ports");
	assert_int_equal(lid_of(fabric, "1", HD_RESOLVE_HOSTS), 13);
	assert_int_equal(lid_of(fabric, "1", HD_RESOLVE_SWITCHES), 1);
	assert_unresolved(fabric, "0x200000", HD_RESOLVE_HOSTS, -ENOENT,
			  "is a switch ('leaf' 0x0000000000200000), expected a host");
	assert_unresolved(fabric, "other", HD_RESOLVE_SWITCHES, -ENOENT,
			  "is a host ('other' 0x0000000000100050), expected a switch");
	hd_fabric_free(fabric);
}

static void names_of_several_ports_are_refused_with_a_list(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(fabric_text);
	assert_unresolved(fabric, "n1", HD_RESOLVE_ANY, -EEXIST,
			  "'n1' means 2 ports, give a GUID instead: "
			  "'n1 mlx5_0'[1] GUID 0x0000000000100001 LID 4, "
			  "'n1 mlx5_0'[2] GUID 0x0000000000100002 LID 5");
	assert_unresolved(fabric, "0x100000", HD_RESOLVE_ANY, -EEXIST, "means 2 ports");
	assert_unresolved(fabric, "same", HD_RESOLVE_HOSTS, -EEXIST,
			  "'same'[1] GUID 0x0000000000100021 LID 7, "
			  "'same'[1] GUID 0x0000000000100031 LID 8");
	hd_fabric_free(fabric);
}

/* The list has room for four of the longest names. */
static void a_long_list_is_cut(void **state)
{
	char text[16384], name[160];
	size_t used;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	used =
	    (size_t)snprintf(text, sizeof(text),
			     "Switch 9 \"S-0000000000200000\" # \"s\" base port 0 lid 1 lmc 0\n");
	for (int i = 1; i <= 9; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "[%d] \"H-000000000010000%d\"[1] # \"%s\" lid %d 4xEDR\n",
					 i, i, name, i + 1);
	for (int i = 1; i <= 9; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "Ca 1 \"H-000000000010000%d\" # \"%s\"\n"
					 "[1] \"S-0000000000200000\"[%d] # lid %d lmc 0\n",
					 i, name, i, i + 1);
	struct hd_fabric *fabric = parse(text);
	struct hd_error err = {""};
	uint32_t port;
	assert_int_equal(hd_fabric_resolve(fabric, name, HD_RESOLVE_ANY, &port, &err), -EEXIST);
	assert_says(err.text, "means 9 ports");
	assert_says(err.text, "GUID 0x0000000000100004 LID 5, ...");
	hd_fabric_free(fabric);
}

static void what_means_no_port_is_refused(void **state)
{
	static const char *const nobody[] = {"nobody", "n",  "99", "0x77",
					     "",       "-1", "0x", "5000000000"};

	(void)state;
	struct hd_fabric *fabric = parse(fabric_text);
	for (size_t i = 0; i < sizeof(nobody) / sizeof(*nobody); i++)
		assert_unresolved(fabric, nobody[i], HD_RESOLVE_ANY, -ENOENT,
				  "' is not a host or switch of the fabric");
	assert_unresolved(fabric, "nobody", HD_RESOLVE_HOSTS, -ENOENT,
			  "is not a host of the fabric");
	assert_unresolved(fabric, "nobody", HD_RESOLVE_SWITCHES, -ENOENT, "is not a switch of");
	assert_unresolved(fabric, "loose", HD_RESOLVE_ANY, -ENOENT,
			  "is 'loose' 0x0000000000100100, but it has no cable to a switch");
	assert_unresolved(fabric, "0x100100", HD_RESOLVE_HOSTS, -ENOENT, "no cable to a switch");
	hd_fabric_free(fabric);
}

/* hd_fabric_find_host() against the list of hosts. */
static void hosts_are_found_by_their_ports(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse(fabric_text);
	for (uint32_t port = 0; port < fabric->port_count + 2; port++) {
		uint32_t expected = 0;
		while (expected < fabric->host_count && fabric->host_port[expected] != port)
			expected++;
		if (expected == fabric->host_count)
			expected = HD_NONE;
		assert_int_equal(hd_fabric_find_host(fabric, port), expected);
	}
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ports_are_found_by_lid_guid_and_name),
	    cmocka_unit_test(each_lid_of_a_port_means_it),
	    cmocka_unit_test(a_complete_name_goes_before_a_first_word),
	    cmocka_unit_test(a_number_that_is_the_name_of_another_is_refused),
	    cmocka_unit_test(a_filter_leaves_one_meaning),
	    cmocka_unit_test(names_of_several_ports_are_refused_with_a_list),
	    cmocka_unit_test(a_long_list_is_cut),
	    cmocka_unit_test(what_means_no_port_is_refused),
	    cmocka_unit_test(hosts_are_found_by_their_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
