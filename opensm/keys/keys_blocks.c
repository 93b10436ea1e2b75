/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_blocks.h"
#include "keys_entries.h"

#include <errno.h>
#include <stdlib.h>

/* The order of two entries; NULL comes after all. */
static int compare_entries(const struct keys_entry *a, const struct keys_entry *b)
{
	if (!a || !b)
		return a ? -1 : b != NULL;
	return keys_entries_compare(a, b);
}

/* Notes an entry, if it differs. Those of one block follow each other. */
static void note(const struct hd_routes *before, const struct hd_routes *after,
		 const struct keys_entry *entry, struct keys_blocks *blocks)
{
	const uint8_t *row = hd_routes_row(before, entry->sw),
		      *other = hd_routes_row(after, entry->sw);
	const uint32_t number = entry->lid / HD_LFT_BLOCK;
	const struct keys_block *last = blocks->count ? &blocks->list[blocks->count - 1] : NULL;

	if (row[entry->lid] == other[entry->lid])
		return;
	blocks->changed++;
	if (last && last->sw == entry->sw && last->number == number)
		return;
	blocks->list[blocks->count++] =
	    (struct keys_block){.sw = entry->sw,
				.number = number,
				.before = row + (size_t)number * HD_LFT_BLOCK,
				.after = other + (size_t)number * HD_LFT_BLOCK};
}

int keys_blocks_find(const struct hd_routes *before, const struct hd_routes *after,
		     const struct keys_entries *old, const struct keys_entries *fresh,
		     struct keys_blocks *out)
{
	struct keys_blocks blocks = {
	    .list = malloc(((size_t)old->count + fresh->count + 1) * sizeof(*blocks.list))};
	uint32_t i = 0, j = 0;

	if (!blocks.list)
		return -ENOMEM;
	while (i < old->count || j < fresh->count) {
		const struct keys_entry *first = i < old->count ? &old->list[i] : NULL;
		const struct keys_entry *other = j < fresh->count ? &fresh->list[j] : NULL;
		const int order = compare_entries(first, other);
		note(before, after, order <= 0 ? first : other, &blocks);
		i += order <= 0;
		j += order >= 0;
	}
	*out = blocks;
	return 0;
}

void keys_blocks_release(struct keys_blocks *blocks)
{
	free(blocks->list);
	*blocks = (struct keys_blocks){0};
}
