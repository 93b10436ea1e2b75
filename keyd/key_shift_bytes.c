/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_shift.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the cables of all levels; 0 in a tree that is not regular. */
static size_t cables_of(const struct hd_key_tree *tree, size_t *level_bytes)
{
	size_t all = 0;

	for (uint32_t level = 0; !tree->ranks && level < tree->top; level++) {
		level_bytes[level] = (size_t)tree->level[level].groups * tree->level[level].cables;
		all += level_bytes[level];
	}
	return all;
}

int hd_key_shift_write(const struct hd_key_tree *tree, const struct hd_key_shift *shift,
		       uint8_t **bytes, size_t *length)
{
	size_t level_bytes[HD_KEY_LEVELS], all = cables_of(tree, level_bytes), at = 0;
	size_t moved = shift->moved_count * sizeof(*shift->moved);
	uint8_t *out = malloc(all + moved + 1);

	if (!out)
		return -ENOMEM;
	for (uint32_t level = 0; at < all; at += level_bytes[level++])
		memcpy(out + at, shift->cable[level], level_bytes[level]);
	if (moved)
		memcpy(out + all, shift->moved, moved);
	*bytes = out;
	*length = all + moved;
	return 0;
}

int hd_key_shift_read(const struct hd_key_tree *tree, const uint8_t *bytes, size_t length,
		      struct hd_key_shift **out)
{
	size_t level_bytes[HD_KEY_LEVELS], all = cables_of(tree, level_bytes), at = 0;
	struct hd_key_shift *shift;

	if (length < all || (length - all) % sizeof(*shift->moved))
		return -EINVAL;
	shift = calloc(1, sizeof(*shift));
	if (!shift)
		return -ENOMEM;
	shift->moved_count = (uint32_t)((length - all) / sizeof(*shift->moved));
	shift->moved =
	    hd_arena_alloc(&shift->arena, (size_t)shift->moved_count + 1, sizeof(*shift->moved));
	for (uint32_t level = 0; at < all; level++) {
		shift->cable[level] = hd_arena_alloc(&shift->arena, level_bytes[level], 1);
		if (shift->cable[level])
			memcpy(shift->cable[level], bytes + at, level_bytes[level]);
		at += level_bytes[level];
	}
	if (hd_arena_check(&shift->arena)) {
		hd_key_shift_free(shift);
		return -ENOMEM;
	}
	memcpy(shift->moved, bytes + all, length - all);
	*out = shift;
	return 0;
}
