/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_ranks.h"

#include <errno.h>
#include <heddle/fabric/tree.h>
#include <string.h>

static enum key_direction direction_of(const uint8_t *level, uint32_t near, uint32_t far)
{
	if (level[near] == HD_TREE_NO_LEVEL || level[far] == HD_TREE_NO_LEVEL)
		return KEY_STRAY;
	if (level[near] + 1 == level[far])
		return KEY_CLIMBS;
	return level[far] + 1 == level[near] ? KEY_DESCENDS : KEY_STRAY;
}

/* Adds to the set of each switch of a level those of its neighbours in one direction. */
static void gather(struct key_ranks *ranks, uint64_t *sets, uint32_t level,
		   enum key_direction direction)
{
	const struct hd_fabric *fabric = ranks->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (ranks->level[sw] != level)
			continue;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			if (ranks->direction[link] == direction) {
				uint32_t from = fabric->isl_to[link];
				for (uint32_t word = 0; word < ranks->words; word++)
					sets[(size_t)sw * ranks->words + word] |=
					    sets[(size_t)from * ranks->words + word];
			}
	}
}

static void find_sets(struct key_ranks *ranks)
{
	uint32_t switches = ranks->fabric->switch_count;

	for (uint32_t sw = 0; sw < switches; sw++)
		ranks->below[(size_t)sw * ranks->words + sw / 64] = UINT64_C(1) << sw % 64;
	for (uint32_t level = 1; level <= ranks->highest; level++)
		gather(ranks, ranks->below, level, KEY_DESCENDS);
	memcpy(ranks->reach, ranks->below, (size_t)switches * ranks->words * sizeof(*ranks->below));
	for (uint32_t level = ranks->highest; level-- > 0;)
		gather(ranks, ranks->reach, level, KEY_CLIMBS);
}

uint32_t key_ranks_highest(const struct hd_fabric *fabric, const uint8_t *level)
{
	uint32_t highest = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level[sw] != HD_TREE_NO_LEVEL && level[sw] > highest)
			highest = level[sw];
	return highest;
}

int key_ranks_make(const struct hd_fabric *fabric, const uint8_t *level, struct hd_arena *arena,
		   struct key_ranks **out)
{
	uint32_t switches = fabric->switch_count, words = (switches + 63) / 64;
	struct key_ranks *ranks = hd_arena_alloc(arena, 1, sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	ranks->fabric = fabric;
	ranks->words = words;
	ranks->highest = key_ranks_highest(fabric, level);
	ranks->level = hd_arena_alloc(arena, switches, sizeof(*ranks->level));
	ranks->direction = hd_arena_alloc(arena, fabric->isl_count, sizeof(*ranks->direction));
	ranks->below = hd_arena_alloc(arena, (size_t)switches * words, sizeof(*ranks->below));
	ranks->reach = hd_arena_alloc(arena, (size_t)switches * words, sizeof(*ranks->reach));
	if (hd_arena_check(arena))
		return -ENOMEM;
	memcpy(ranks->level, level, switches);
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		ranks->direction[link] =
		    (uint8_t)direction_of(level, hd_isl_from(fabric, link), fabric->isl_to[link]);
	find_sets(ranks);
	*out = ranks;
	return 0;
}
