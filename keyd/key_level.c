/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_level.h"

#include <string.h>

int key_level_allocate(struct key_level *level, struct hd_arena *arena)
{
	size_t places = (size_t)level->blocks * level->groups;

	level->cables = level->parents * level->parallel;
	size_t links = places * level->cables;
	level->at = hd_arena_alloc(arena, places, sizeof(*level->at));
	level->link = hd_arena_alloc(arena, links, sizeof(*level->link));
	level->reach = hd_arena_alloc(arena, places, sizeof(*level->reach));
	level->usable = hd_arena_alloc(arena, places, sizeof(*level->usable));
	if (hd_arena_check(arena))
		return -ENOMEM;
	memset(level->at, 0xFF, places * sizeof(*level->at));
	memset(level->link, 0xFF, links * sizeof(*level->link));
	return 0;
}

void key_level_add_cable(struct key_level *level, uint32_t place, uint32_t cable, uint32_t link)
{
	uint32_t parent = cable % level->parents;

	level->link[(size_t)place * level->cables + cable] = link;
	level->reach[place][parent / 64] |= UINT64_C(1) << parent % 64;
	level->usable[place]++;
}

bool key_level_is_whole(const struct key_level *level)
{
	for (uint32_t place = 0; place < level->blocks * level->groups; place++)
		if (level->usable[place] < level->cables)
			return false;
	return true;
}
