/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps: what they may contain, their canonical order, and how GIDs are resolved. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oracle_map.h"

#include <heddle/base/parallel.h>
#include <heddle/base/random.h>
#include <stdlib.h>
#include <string.h>

static struct hd_map *parse(const char *content)
{
	struct hd_text text = {.bytes = content, .length = strlen(content), .name = "x.map"};
	struct hd_map *map = NULL;
	struct hd_error err = {""};

	if (hd_map_parse(&text, &map, &err))
		fail_msg("%s", err.text);
	return map;
}

static char *write_map(const struct hd_map *map)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	assert_int_equal(hd_map_write(map, stream, NULL), 0);
	fclose(stream);
	return text;
}

static void assert_written(const char *content, const char *expected)
{
	struct hd_map *map = parse(content);
	char *text = write_map(map);

	assert_string_equal(text, expected);
	free(text);
	hd_map_free(map);
}

/* Property: all forms of GIDs, GUIDs, blanks and comments give one canonical text. */
static void one_map_one_text(void **state)
{
	(void)state;
	assert_written(
	    "\xEF\xBB\xBF# map of subnet 1\r\n\r\n  FEC0:0:0:2:0:0:0:A\t0xB  c # host a\r\n"
	    "*   0x2\r\nfec0:0:0:3::/64 0X0000000000000002\r\n\t# end\r\n"
	    "fec0:0:0:2::9 1\r\n* 0x1 0x2\r\nfec0::/16 1\r\nfec0:0:0:3::/80 3\r\n",
	    "fec0:0:0:2::9 0x0000000000000001\n"
	    "fec0:0:0:2::a 0x000000000000000b 0x000000000000000c\n"
	    "fec0::/16 0x0000000000000001\n"
	    "fec0:0:0:3::/64 0x0000000000000002\n"
	    "fec0:0:0:3::/80 0x0000000000000003\n"
	    "* 0x0000000000000001 0x0000000000000002\n"
	    "* 0x0000000000000002\n");
}

/* Property: the example of the paper (Code 1) loads as it is, with both * lines. */
static void the_papers_form(void **state)
{
	(void)state;
	assert_written("fec0:0:0:2::1 0x0a1\nfec0:0:0:2::2 0x0b1\nfec0:0:0:2::3 0x0a2\n"
		       "fec0:0:0:2::4 0x0b2\n#default route\n* 0x0a1\n* 0x0b1\n",
		       "fec0:0:0:2::1 0x00000000000000a1\nfec0:0:0:2::2 0x00000000000000b1\n"
		       "fec0:0:0:2::3 0x00000000000000a2\nfec0:0:0:2::4 0x00000000000000b2\n"
		       "* 0x00000000000000a1\n* 0x00000000000000b1\n");
}

static uint64_t resolve(const struct hd_map *map, const char *text, const bool *usable)
{
	struct hd_map_answer answer;
	struct hd_gid gid;

	assert_int_equal(hd_gid_parse(text, (unsigned)strlen(text), &gid, NULL), 0);
	return hd_map_resolve(map, &gid, usable, &answer) ? answer.port_guid : 0;
}

/* Property: the GID's own line, then the longest block, then shorter ones, then * lines; lines
 * without a usable port are passed over. */
static void order_of_resolution(void **state)
{
	struct hd_map *map = parse("fec0:0:0:2::1 1 2\nfec0:0:0:2::/64 3\nfec0::/16 4\n* 5\n");
	bool usable[5] = {true, true, true, true, true};

	(void)state;
	assert_int_equal(resolve(map, "fec0:0:0:2::1", NULL), 1);
	assert_int_equal(resolve(map, "fec0:0:0:2::2", NULL), 3);
	assert_int_equal(resolve(map, "fec0:0:0:3::1", NULL), 4);
	assert_int_equal(resolve(map, "fec1:0:0:3::1", NULL), 5);
	for (unsigned gone = 0; gone < 5; gone++) {
		usable[gone] = false;
		assert_int_equal(resolve(map, "fec0:0:0:2::1", usable), gone < 4 ? gone + 2 : 0);
	}
	hd_map_free(map);
}

/* Property: without a line for it, a GID has no port; an empty answer is not a crash. */
static void no_line(void **state)
{
	struct hd_map *map = parse("fec0:0:0:2::1 1\n");

	(void)state;
	assert_int_equal(resolve(map, "fec0:0:0:2::2", NULL), 0);
	hd_map_free(map);
}

#define DEFAULTS 12u
#define GIDS 6000u

static void resolve_all(const struct hd_map *map, const bool *usable, uint32_t *port)
{
	for (uint32_t i = 0; i < GIDS; i++) {
		struct hd_gid gid = {UINT64_C(0xfec0000000000002),
				     UINT64_C(0x2c90300000000) + 2 * i};
		struct hd_map_answer answer;
		assert_true(hd_map_resolve(map, &gid, usable, &answer));
		port[i] = answer.port;
	}
}

/*
 * Property: * lines share their destinations about equally; if a port vanishes, its destinations
 * move, to all others about equally, and no other destination moves; with the port they return.
 */
static void defaults_spread_and_stay(void **state)
{
	struct hd_map *map = parse("* 1\n* 2\n* 3\n* 4\n* 5\n* 6\n* 7\n* 8\n* 9\n* a\n* b\n* c\n");
	bool usable[DEFAULTS];
	static uint32_t before[GIDS], after[GIDS];
	uint32_t count[DEFAULTS] = {0}, moved[DEFAULTS] = {0};

	(void)state;
	resolve_all(map, NULL, before);
	for (unsigned i = 0; i < DEFAULTS; i++)
		usable[i] = i != 4;
	resolve_all(map, usable, after);
	for (uint32_t i = 0; i < GIDS; i++) {
		count[before[i]]++;
		if (before[i] != 4)
			assert_int_equal(before[i], after[i]);
		else
			moved[after[i]]++;
	}
	for (unsigned i = 0; i < DEFAULTS; i++) {
		assert_in_range(count[i], 400, 600);
		assert_in_range(moved[i], i == 4 ? 0 : 20, i == 4 ? 0 : 75);
	}
	usable[4] = true;
	resolve_all(map, usable, after);
	assert_memory_equal(before, after, sizeof(before));
	hd_map_free(map);
}

/* ---- random maps ---- */

static struct hd_gid random_gid(uint64_t *random)
{
	/* few bits differ, so that GIDs, blocks and wanted GIDs meet */
	return (struct hd_gid){UINT64_C(0xfec0000000000000) | hd_random_below(random, 4),
			       UINT64_C(0x2c90300000000) | hd_random_below(random, 32) |
				   hd_random_below(random, 2) << 40};
}

static struct hd_map *random_map(uint64_t *random)
{
	struct hd_map_builder *builder = hd_map_builder_new();
	struct hd_map *map = NULL;

	for (uint32_t line = 1; line <= 30; line++) {
		uint64_t ports[3];
		unsigned count = 1 + (unsigned)hd_random_below(random, 3);
		unsigned length = hd_random_below(random, 2)
				      ? HD_MAP_GID
				      : 60 + (unsigned)hd_random_below(random, 68);
		struct hd_gid gid = random_gid(random);
		for (unsigned i = 0; i < count; i++)
			ports[i] = 1 + i * 8 + hd_random_below(random, 8);
		if (length < 64)
			gid = (struct hd_gid){gid.prefix & UINT64_MAX << (64 - length), 0};
		else if (length < 128)
			gid.guid &= length == 64 ? 0 : UINT64_MAX << (128 - length);
		struct hd_map *longer = NULL;
		if (hd_map_builder_add(builder, &gid, length, ports, count, line, NULL))
			continue;
		if (hd_map_builder_build(builder, NULL, &longer, NULL))
			break; /* a destination twice ends the map */
		hd_map_free(map);
		map = longer;
	}
	hd_map_builder_free(builder);
	return map;
}

/* Property: on random maps with random ports gone, a GID gets the port that the slow search finds. */
static void random_maps_agree_with_the_slow_search(void **state)
{
	uint64_t random = 7;
	uint32_t found = 0;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct hd_map *map = random_map(&random);
		bool usable[32];
		for (unsigned i = 0; i < 32; i++)
			usable[i] = hd_random_below(&random, 4) > 0;
		for (unsigned i = 0; map && i < 50; i++) {
			struct hd_gid gid = random_gid(&random);
			struct hd_map_answer answer;
			uint32_t port = HD_NONE, line = oracle_map_find(map, &gid, usable, &port);
			assert_int_equal(hd_map_resolve(map, &gid, usable, &answer),
					 line != HD_NONE);
			if (line == HD_NONE)
				continue;
			assert_int_equal(answer.line, line);
			assert_int_equal(answer.port, port);
			found++;
		}
		hd_map_free(map);
	}
	assert_true(found > 2000);
}

/* Property: writing a random map and reading it gives the same text again, and no difference. */
static void writing_and_reading_keeps_a_map(void **state)
{
	uint64_t random = 11;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct hd_map *map = random_map(&random);
		if (!map)
			continue;
		char *text = write_map(map);
		struct hd_map *again = parse(text);
		char *second = write_map(again);
		struct hd_map_difference *list = NULL;
		uint32_t count = 1;
		assert_string_equal(text, second);
		assert_int_equal(hd_map_compare(map, again, &list, &count, NULL), 0);
		assert_int_equal(count, 0);
		free(text);
		free(second);
		hd_map_free(again);
		hd_map_free(map);
	}
}

/* Property: a comparison lists what only one map has, and what has other ports, in order. */
static void differences(void **state)
{
	struct hd_map *before = parse("fec0:0:0:2::1 1\nfec0:0:0:2::2 2\n* 3\n* 4\n");
	struct hd_map *after = parse("fec0:0:0:2::1 1 2\nfec0:0:0:2::3 2\n* 3\n* 5\n");
	struct hd_map_difference *list = NULL;
	uint32_t count = 0;
	static const struct hd_map_difference expected[] = {
	    {0, 0}, {1, HD_NONE}, {HD_NONE, 1}, {3, HD_NONE}, {HD_NONE, 3}};

	(void)state;
	assert_int_equal(hd_map_compare(before, after, &list, &count, NULL), 0);
	assert_int_equal(count, 5);
	assert_memory_equal(list, expected, sizeof(expected));
	free(list);
	hd_map_free(before);
	hd_map_free(after);
}

struct reading {
	const struct hd_map *map;
	uint32_t port[GIDS];
};

static void resolve_some(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct reading *reading = context;

	(void)worker;
	for (uint32_t i = begin; i < end; i++) {
		struct hd_gid gid = {UINT64_C(0xfec0000000000002),
				     UINT64_C(0x2c90300000000) + 2 * i};
		struct hd_map_answer answer;
		reading->port[i] =
		    hd_map_resolve(reading->map, &gid, NULL, &answer) ? answer.port : HD_NONE;
	}
}

/* Property: any number of threads may resolve at the same time, with the same results. */
static void threads_may_resolve_together(void **state)
{
	static struct reading alone, together;

	(void)state;
	alone.map = together.map = parse("fec0:0:0:2:2:c903::6 7\nfec0::/16 1 2\n* 3\n* 4\n");
	resolve_some(&alone, 0, GIDS, 0);
	hd_parallel_for(4, GIDS, 16, resolve_some, &together);
	assert_memory_equal(alone.port, together.port, sizeof(alone.port));
	hd_map_free((struct hd_map *)alone.map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_map_one_text),
	    cmocka_unit_test(the_papers_form),
	    cmocka_unit_test(order_of_resolution),
	    cmocka_unit_test(no_line),
	    cmocka_unit_test(defaults_spread_and_stay),
	    cmocka_unit_test(random_maps_agree_with_the_slow_search),
	    cmocka_unit_test(writing_and_reading_keeps_a_map),
	    cmocka_unit_test(differences),
	    cmocka_unit_test(threads_may_resolve_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
