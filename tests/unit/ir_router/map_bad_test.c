/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every kind of bad map is refused, with the line and the reason. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/ir_router/map.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Good lines around the bad one, so that the number of the line is not 1 by chance. */
#define GOOD "fec0:0:0:1::1 0x2c90300000001\n"
#define BEFORE "# map\n" GOOD
#define PORT " 0x0002c90300aa0001"

struct bad {
	const char *text;
	size_t length; /* 0: a string */
	unsigned line; /* 0: the message names the file alone */
	const char *reason;
	int expected; /* 0: -EINVAL */
};

static const struct bad bad[] = {
    /* the file */
    {"", 0, 0, "empty", -ENODATA},
    {"# nothing\n\n", 0, 0, "no line has a destination", -ENODATA},
    {"\xFF\xFE*\0 \0", 6, 0, "UTF-16", 0},
    {BEFORE "fec0:0:0:1::2 0x1\0\n", sizeof(BEFORE) + 18, 3, "zero byte", 0},
    {BEFORE "fec0:0:0:1::2" PORT, 0, 3, "the file may be cut", 0},
    {BEFORE "fec0:0:0", 0, 3, "the file may be cut", 0},
    {BEFORE "fec0:0:0:1::2" PORT "\r\n", 0, 3, "ends in \\r\\n", 0},
    {"# map\r\nfec0:0:0:1::2" PORT "\n", 0, 2, "ends in \\n alone", 0},
    {BEFORE "fec0:0:0:1::2\x07" PORT "\n", 0, 3, "control character", 0},
    {BEFORE "fec0:0:0:1::2" PORT " \x1b[0m\n", 0, 3, "control character", 0},
    /* destinations */
    {BEFORE "host1" PORT "\n", 0, 3, "expected a GID", 0},
    {BEFORE "0x0002c90300001234" PORT "\n", 0, 3, "expected a GID", 0},
    {BEFORE "fec0:0:0:1:0:0:0:0:1" PORT "\n", 0, 3, "expected a GID", 0},
    {BEFORE "fec0::1::2" PORT "\n", 0, 3, "expected a GID", 0},
    {BEFORE "fec0:0:0:1::12345" PORT "\n", 0, 3, "expected a GID", 0},
    {BEFORE "fec0:0:0:g::1" PORT "\n", 0, 3, "expected a GID", 0},
    {BEFORE "fec0:0:0:1::10.0.0.1" PORT "\n", 0, 3, "expected a GID", 0},
    {BEFORE "fec0::1%ib0" PORT "\n", 0, 3, "expected a GID", 0},
    {BEFORE "[fec0:0:0:1::1]" PORT "\n", 0, 3, "expected a GID", 0},
    {BEFORE "fec0:0:0:1::1," PORT "\n", 0, 3, "expected a GID", 0},
    {BEFORE "fec0:0000000000000000000000000000000000000000000000000:1" PORT "\n", 0, 3,
     "expected a GID", 0},
    {BEFORE "**" PORT "\n", 0, 3, "expected a blank after *", 0},
    {BEFORE "*0x1\n", 0, 3, "expected a blank after *", 0},
    {BEFORE "fe80::2:c903:0:1" PORT "\n", 0, 3, "link-local", 0},
    {BEFORE "febf::2:c903:0:1" PORT "\n", 0, 3, "link-local", 0},
    {BEFORE "ff12:401b::1" PORT "\n", 0, 3, "multicast", 0},
    {BEFORE "::2:c903:0:1" PORT "\n", 0, 3, "the subnet prefix is 0", 0},
    {BEFORE "fec0:0:0:1::" PORT "\n", 0, 3, "the port GUID in the GID is 0", 0},
    /* blocks */
    {BEFORE "fec0::/" PORT "\n", 0, 3, "block length 1..127", 0},
    {BEFORE "fec0::/0" PORT "\n", 0, 3, "write *", 0},
    {BEFORE "::/0" PORT "\n", 0, 3, "write *", 0},
    {BEFORE "fec0:0:0:1::1/128" PORT "\n", 0, 3, "leave the length out", 0},
    {BEFORE "fec0::/129" PORT "\n", 0, 3, "block length 1..127", 0},
    {BEFORE "fec0::/-1" PORT "\n", 0, 3, "block length 1..127", 0},
    {BEFORE "fec0::/64x" PORT "\n", 0, 3, "block length 1..127", 0},
    {BEFORE "fec0::/64/64" PORT "\n", 0, 3, "block length 1..127", 0},
    {BEFORE "fec0::/99999999999" PORT "\n", 0, 3, "block length 1..127", 0},
    {BEFORE "fec0:0:0:1::1/64" PORT "\n", 0, 3, "bits behind its length, expected fec0:0:0:1::/64",
     0},
    {BEFORE "fec0:0:0:1::/63" PORT "\n", 0, 3, "bits behind its length, expected fec0::/63", 0},
    {BEFORE "fe80::/64" PORT "\n", 0, 3, "link-local", 0},
    {BEFORE "fe80::/10" PORT "\n", 0, 3, "link-local", 0},
    {BEFORE "ff00::/8" PORT "\n", 0, 3, "multicast", 0},
    {BEFORE "::/64" PORT "\n", 0, 3, "the subnet prefix is 0", 0},
    {BEFORE "/64" PORT "\n", 0, 3, "expected a GID", 0},
    /* router ports */
    {BEFORE "fec0:0:0:1::2\n", 0, 3, "no router port", 0},
    {BEFORE "fec0:0:0:1::2 # 0x1\n", 0, 3, "no router port", 0},
    {BEFORE "*\n", 0, 3, "no router port", 0},
    {BEFORE "fec0:0:0:1::2 router1\n", 0, 3, "expected the port GUID of a router", 0},
    {BEFORE "fec0:0:0:1::2 0x\n", 0, 3, "expected the port GUID of a router", 0},
    {BEFORE "fec0:0:0:1::2 0x00002c90300aa00011\n", 0, 3, "expected the port GUID of a router", 0},
    {BEFORE "fec0:0:0:1::2" PORT ",0x2\n", 0, 3, "expected the port GUID of a router", 0},
    {BEFORE "fec0:0:0:1::2" PORT " fec0::2\n", 0, 3, "expected the port GUID of a router", 0},
    {BEFORE "fec0:0:0:1::2 0\n", 0, 3, "a router port has GUID 0", 0},
    {BEFORE "fec0:0:0:1::2" PORT " 0x1 2c90300aa0001\n", 0, 3, "is listed twice", 0},
    {BEFORE "fec0:0:0:1::2 1 2 3 4 5 6 7 8 9 a b c d e f 10 11\n", 0, 3, "at most 16", 0},
    /* lines that contradict each other */
    {BEFORE GOOD, 0, 3, "line 2 already has the destination fec0:0:0:1::1", 0},
    {BEFORE "FEC0:0000::1:0000:0:0:1 0x7\n", 0, 3, "line 2 already has", 0},
    {BEFORE "fec0:0:0:2::/64 0x1\nfec0::2:0:0:0:0/64 0x2\n", 0, 4, "line 3 already has", 0},
    {BEFORE "* 0x1\n* 0x2\n* 0x1\n", 0, 5, "line 3 is a * line with the same router ports", 0},
};

static void parse_bad(const struct bad *one)
{
	struct hd_text text = {.bytes = one->text,
			       .length = one->length ? one->length : strlen(one->text),
			       .name = "x.map"};
	struct hd_map *map = NULL;
	struct hd_error err = {""};
	char place[32] = "x.map:";
	int rc = hd_map_parse(&text, &map, &err);

	if (one->line)
		snprintf(place, sizeof(place), "x.map:%u: ", one->line);
	if (rc != (one->expected ? one->expected : -EINVAL) ||
	    strncmp(err.text, place, strlen(place)) != 0 || !strstr(err.text, one->reason))
		fail_msg("'%s': got %d '%s', expected '%s' at %s", one->text, rc, err.text,
			 one->reason, place);
	assert_null(map);
}

/* Property: each bad map is refused with the number of the bad line and the reason. */
static void bad_maps_are_refused(void **state)
{
	(void)state;
	assert_true(sizeof(bad) / sizeof(bad[0]) >= 40);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		parse_bad(&bad[i]);
}

/* Property: a line of any length that is too long is refused. */
static void long_lines_are_refused(void **state)
{
	size_t length = strlen(BEFORE) + HD_LINE_LONGEST + 10;
	char *bytes = malloc(length + 1);
	struct bad one = {bytes, length, 3, "expected at most", 0};

	(void)state;
	assert_non_null(bytes);
	memset(bytes, ' ', length);
	memcpy(bytes, BEFORE, strlen(BEFORE));
	bytes[length - 1] = '\n';
	bytes[length] = '\0';
	parse_bad(&one);
	free(bytes);
}

/* Property: a router port that the subnet does not have is found, with its first line. */
static void unknown_routers_are_found(void **state)
{
	static const char content[] = "fec0:0:0:2::9 0x5 0x7\nfec0:0:0:2::1 0x5 0x9\n* 0x9\n";
	static const uint64_t both[] = {5, 7, 9}, one[] = {5}, none[] = {0};
	struct hd_text text = {.bytes = content, .length = strlen(content), .name = "x.map"};
	struct hd_map *map = NULL;
	struct hd_error err = {""};
	uint32_t unknown = 1;

	(void)state;
	assert_int_equal(hd_map_parse(&text, &map, &err), 0);
	assert_int_equal(hd_map_check_ports(map, "x.map", both, 3, &unknown, &err), 0);
	assert_int_equal(unknown, 0);
	assert_int_equal(hd_map_check_ports(map, "x.map", one, 1, &unknown, &err), -ENOENT);
	assert_int_equal(unknown, 2);
	assert_non_null(strstr(err.text, "x.map:1: port GUID 0x0000000000000007 of destination "
					 "fec0:0:0:2::9 is no router port"));
	assert_int_equal(hd_map_check_ports(map, "x.map", none, 0, &unknown, &err), -ENOENT);
	assert_int_equal(unknown, 3);
	hd_map_free(map);
}

/* Property: a file that is missing, a folder and a FIFO are refused at once. */
static void files_that_are_no_files(void **state)
{
	struct hd_map *map = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_map_read("/nonexistent/x.map", &map, &err), -ENOENT);
	assert_int_not_equal(hd_map_read("/", &map, &err), 0);
	assert_int_not_equal(hd_map_read("/dev/zero", &map, &err), 0);
	assert_null(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bad_maps_are_refused),
	    cmocka_unit_test(long_lines_are_refused),
	    cmocka_unit_test(unknown_routers_are_found),
	    cmocka_unit_test(files_that_are_no_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
