/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The blocks that a key changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys_blocks.h"
#include "keys_entries.h"
#include "keys_testing.h"

#define ENTRIES 40

static void make_entries(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 uint64_t random, struct keys_entries *out)
{
	struct hd_key_entry list[ENTRIES * 3];
	uint32_t count = 0;
	struct hd_error err;

	for (uint32_t host = 0; host < 27; host += 9)
		count += keys_random(fabric, routes, keys_lid(fabric, host, 1), ENTRIES, true,
				     &random, list + count);
	count = keys_sort(list, count);
	assert_int_equal(keys_entries_find(fabric, list, count, out, &err), 0);
}

/* Writes the blocks into the tables; they are those of `wanted` then. */
static void check_writes(const struct keys_blocks *blocks, bool back, struct hd_routes *routes,
			 const struct hd_routes *wanted)
{
	for (uint32_t i = 0; i < blocks->count; i++)
		memcpy(hd_routes_row(routes, blocks->list[i].sw) +
			   (size_t)blocks->list[i].number * HD_LFT_BLOCK,
		       back ? blocks->list[i].before : blocks->list[i].after, HD_LFT_BLOCK);
	assert_int_equal(hd_routes_count_changes(routes, wanted), 0);
}

/* The blocks are those that differ, by the obvious comparison, and their entries are counted. */
static void blocks_are_those_that_differ(void **state)
{
	struct hd_fabric *fabric = keys_fabric(3);
	struct hd_routes *before = keys_route("dmodk", fabric), *after;
	struct keys_entries old, fresh;
	struct keys_blocks blocks;
	uint32_t count = 0;

	(void)state;
	make_entries(fabric, before, 1, &old);
	make_entries(fabric, before, 2, &fresh);
	after = hd_routes_copy(before);
	keys_entries_write(&old, before);
	keys_entries_write(&fresh, after);
	assert_int_equal(keys_blocks_find(before, after, &old, &fresh, &blocks), 0);
	for (uint32_t sw = 0; sw < before->switch_count; sw++)
		for (uint32_t at = 0; at < before->stride; at += HD_LFT_BLOCK)
			count += memcmp(hd_routes_row(before, sw) + at,
					hd_routes_row(after, sw) + at, HD_LFT_BLOCK) != 0;
	assert_int_equal(blocks.count, count);
	assert_int_equal(blocks.changed, hd_routes_count_changes(before, after));
	struct hd_routes *tables = hd_routes_copy(before);
	check_writes(&blocks, false, tables, after);
	check_writes(&blocks, true, tables, before);
	hd_routes_free(tables);
	keys_blocks_release(&blocks);
	keys_entries_release(&old);
	keys_entries_release(&fresh);
	hd_routes_free(before);
	hd_routes_free(after);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_those_that_differ)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
