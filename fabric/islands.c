/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/islands.h>

#include <errno.h>

static uint32_t lowest(uint32_t *island, uint32_t sw)
{
	while (island[sw] != sw)
		sw = island[sw] = island[island[sw]];
	return sw;
}

static void join(uint32_t *island, uint32_t near, uint32_t far)
{
	const uint32_t a = lowest(island, near), b = lowest(island, far);

	if (a < b)
		island[b] = a;
	else
		island[a] = b;
}

static void mark(const struct hd_fabric *fabric, const struct hd_fabric_change *lost,
		 const struct hd_islands *islands)
{
	if (!lost->cable) {
		if (lost->index < fabric->switch_count)
			islands->gone[lost->index] = true;
		return;
	}
	islands->cut[lost->index] = true;
	if (fabric->peer[lost->index] != HD_NONE)
		islands->cut[fabric->peer[lost->index]] = true;
}

static void join_switch(const struct hd_fabric *fabric, const struct hd_islands *islands,
			uint32_t sw)
{
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		const uint32_t far = fabric->isl_to[link];
		join(islands->before, sw, far);
		if (!islands->gone[sw] && !islands->gone[far] &&
		    !islands->cut[hd_port_index(fabric, sw, fabric->isl_port[link])])
			join(islands->after, sw, far);
	}
}

int hd_islands_find(const struct hd_fabric *fabric, const struct hd_fabric_change *lost,
		    uint32_t count, struct hd_arena *arena, struct hd_islands *out)
{
	const uint32_t switches = fabric->switch_count;
	const struct hd_islands islands = {
	    .gone = hd_arena_alloc(arena, switches, sizeof(bool)),
	    .cut = hd_arena_alloc(arena, fabric->port_count, sizeof(bool)),
	    .before = hd_arena_alloc(arena, switches, sizeof(uint32_t)),
	    .after = hd_arena_alloc(arena, switches, sizeof(uint32_t)),
	};

	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		islands.before[sw] = islands.after[sw] = sw;
	for (uint32_t i = 0; i < count; i++)
		mark(fabric, &lost[i], &islands);
	for (uint32_t sw = 0; sw < switches; sw++)
		join_switch(fabric, &islands, sw);
	for (uint32_t sw = 0; sw < switches; sw++) {
		islands.before[sw] = lowest(islands.before, sw);
		islands.after[sw] = lowest(islands.after, sw);
	}
	*out = islands;
	return 0;
}
