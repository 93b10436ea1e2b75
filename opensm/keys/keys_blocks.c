/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_blocks.h"
#include "keys_entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_blocks(const void *a, const void *b)
{
	const struct keys_block *left = a, *right = b;

	if (left->sw != right->sw)
		return left->sw < right->sw ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* Appends the blocks of entries; those of one switch follow each other. */
static void list_blocks(const struct keys_entries *entries, struct keys_blocks *blocks)
{
	for (uint32_t i = 0; i < entries->count; i++) {
		struct keys_block block = {.sw = entries->list[i].sw,
					   .number = entries->list[i].lid / HD_LFT_BLOCK};
		if (i && blocks->count && !compare_blocks(&blocks->list[blocks->count - 1], &block))
			continue;
		blocks->list[blocks->count++] = block;
	}
}

static uint32_t count_changes(const struct keys_block *block)
{
	uint32_t changes = 0;

	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++)
		changes += block->before[i] != block->after[i];
	return changes;
}

/* Keeps one of each block, and of these those that differ. */
static void keep_changed(const struct hd_routes *before, const struct hd_routes *after,
			 struct keys_blocks *blocks)
{
	uint32_t kept = 0;
	struct keys_block last = {.sw = HD_NONE};

	for (uint32_t i = 0; i < blocks->count; i++) {
		struct keys_block block = blocks->list[i];
		size_t offset = (size_t)block.number * HD_LFT_BLOCK;
		bool again = !compare_blocks(&block, &last);
		last = block;
		block.before = hd_routes_row(before, block.sw) + offset;
		block.after = hd_routes_row(after, block.sw) + offset;
		uint32_t changes = again ? 0 : count_changes(&block);
		blocks->changed += changes;
		if (changes)
			blocks->list[kept++] = block;
	}
	blocks->count = kept;
}

int keys_blocks_find(const struct hd_routes *before, const struct hd_routes *after,
		     const struct keys_entries *old, const struct keys_entries *fresh,
		     struct keys_blocks *out)
{
	struct keys_blocks blocks = {
	    .list = calloc((size_t)old->count + fresh->count + 1, sizeof(*blocks.list))};

	if (!blocks.list)
		return -ENOMEM;
	list_blocks(old, &blocks);
	list_blocks(fresh, &blocks);
	qsort(blocks.list, blocks.count, sizeof(*blocks.list), compare_blocks);
	keep_changed(before, after, &blocks);
	*out = blocks;
	return 0;
}

void keys_blocks_release(struct keys_blocks *blocks)
{
	free(blocks->list);
	*blocks = (struct keys_blocks){0};
}
