/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath_choices.h"

int multipath_choices_allocate(struct multipath_choices *choices, const struct hd_fabric *fabric,
			       const struct multipath_cycle_lists *lists, unsigned bits,
			       struct hd_arena *arena)
{
	size_t switches = fabric->switch_count;

	choices->fabric = fabric;
	choices->lists = lists;
	choices->bits = bits;
	choices->looks_at = hd_arena_alloc(arena, switches, sizeof(*choices->looks_at));
	choices->distance = hd_arena_alloc(arena, switches, sizeof(*choices->distance));
	choices->hops = hd_arena_alloc(arena, switches << bits, sizeof(*choices->hops));
	choices->ports = hd_arena_alloc(arena, switches << bits, sizeof(*choices->ports));
	return multipath_paths_allocate(&choices->search, fabric, arena);
}

static void add_choice(struct multipath_choices *choices, size_t at, uint32_t hops, uint32_t port)
{
	if (hops > choices->hops[at])
		return;
	if (hops < choices->hops[at])
		choices->ports[at] = (struct hd_port_set){{0}};
	choices->hops[at] = hops;
	hd_port_set_add(&choices->ports[at], port);
}

/* Enters the path for every pattern of bits that it matches. */
static bool add_path(void *context, uint32_t from, const uint32_t *links, uint32_t hops)
{
	struct multipath_choices *choices = context;
	struct multipath_path_pattern pattern;

	if (hops < choices->distance[from])
		choices->distance[from] = hops;
	if (!multipath_paths_pattern(choices->fabric, choices->lists, links, hops, &pattern))
		return true;
	uint32_t looks_at = choices->looks_at[from];
	uint32_t ones = (uint32_t)pattern.clockwise & looks_at;
	uint32_t free = looks_at & ~(uint32_t)(pattern.clockwise | pattern.counter);
	uint32_t port = choices->fabric->isl_port[links[0]], some = 0;
	do {
		add_choice(choices, multipath_choices_at(choices, from, ones | some), hops, port);
		some = (some - free) & free; /* the next subset */
	} while (some);
	return true;
}

void multipath_choices_build(struct multipath_choices *choices, uint32_t destination, unsigned bits,
			     bool all)
{
	uint32_t switches = choices->fabric->switch_count, owned = (UINT32_C(1) << bits) - 1;

	for (uint32_t sw = 0; sw < switches; sw++)
		choices->looks_at[sw] = all ? owned : (uint32_t)choices->lists->through[sw] & owned;
	memset(choices->distance, 0xFF, switches * sizeof(*choices->distance));
	memset(choices->hops, 0xFF, ((size_t)switches << choices->bits) * sizeof(*choices->hops));
	choices->distance[destination] = 0;
	multipath_paths_visit(&choices->search, destination, add_path, choices);
}
