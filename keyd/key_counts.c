/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_counts.h"

void key_counts_init(struct key_counts *counts, uint32_t flows, uint32_t hops,
		     uint32_t fabric_links, struct hd_arena *arena)
{
	uint64_t links = (uint64_t)flows * hops, places = 16;

	if (links > fabric_links)
		links = fabric_links;
	while (places < 2 * links)
		places *= 2;
	counts->mask = (uint32_t)(places - 1);
	counts->places = hd_arena_alloc(arena, places, sizeof(*counts->places));
	counts->used = hd_arena_alloc(arena, links, sizeof(*counts->used));
}

void key_counts_put(struct key_counts *counts, uint32_t link)
{
	struct key_count *place = key_counts_place(counts, link);

	if (place->flows++)
		return;
	place->link = link;
	counts->used[counts->count++] = (uint32_t)(place - counts->places);
}
