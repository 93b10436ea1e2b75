/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_lanes.h"

uint16_t check_lanes_named(const struct hd_routes *routes)
{
	size_t entries = (size_t)routes->switch_count * routes->stride;
	uint32_t levels = 0, lanes = 0;

	if (!routes->sl)
		levels = 1;
	else
		for (size_t i = 0; i < entries; i++)
			levels |= 1u << (routes->sl[i] & 15);
	for (unsigned level = 0; level < 16; level++)
		if (levels >> level & 1)
			lanes |= 1u << (routes->sl2vl[level] & 15);
	return (uint16_t)lanes;
}

int check_lanes_init(struct check_lanes *lanes, const struct hd_fabric *fabric, uint16_t named,
		     struct hd_arena *arena)
{
	*lanes = (struct check_lanes){.fabric = fabric};
	lanes->passing = hd_arena_alloc(arena, fabric->switch_count, sizeof(*lanes->passing));
	for (unsigned lane = 0; lane < CHECK_LANES; lane++)
		if (named >> lane & 1)
			hd_dependencies_init(&lanes->graphs[lane], fabric, arena);
	return hd_arena_check(arena);
}

static void add_sources(struct check_lanes *lanes, const struct check_tree *tree,
			const struct check_block *block, uint32_t lid, bool every_switch)
{
	size_t column = (size_t)(lid - block->columns.first_lid) * tree->switch_count;
	uint32_t used = lanes->used;

	for (uint32_t sw = 0; sw < tree->switch_count; sw++) {
		bool sends = tree->arrival[sw] == CHECK_ARRIVES &&
			     (every_switch || hd_has_adapters(lanes->fabric, sw));
		uint16_t lane = block->lane ? block->lane[column + sw] : block->lane_all;
		lanes->passing[sw] = sends ? lane : 0;
		used |= lanes->passing[sw];
	}
	lanes->used = (uint16_t)used;
}

static void add_dependency(struct check_lanes *lanes, uint32_t on, uint32_t link, uint32_t next)
{
	for (; on; on &= on - 1)
		hd_dependencies_collect(&lanes->graphs[__builtin_ctz(on)], link, next);
}

void check_lanes_add(struct check_lanes *lanes, const struct check_tree *tree,
		     const struct check_block *block, uint32_t lid, bool switch_traffic)
{
	if (!tree->to_host && !switch_traffic)
		return;
	add_sources(lanes, tree, block, lid, switch_traffic);
	for (uint32_t i = 0; i < tree->ordered; i++) {
		uint32_t sw = tree->order[i], passing = lanes->passing[sw], link = tree->step[sw];
		if (!passing || !hd_step_is_link(link))
			continue;
		uint32_t to = tree->next[sw], next = tree->step[to];
		lanes->passing[to] = (uint16_t)(lanes->passing[to] | passing);
		if (hd_step_is_link(next))
			add_dependency(lanes, passing, link, next);
	}
}

void check_lanes_merge(struct check_lanes *lanes, const struct check_lanes *other)
{
	lanes->used |= other->used;
	for (unsigned lane = 0; lane < CHECK_LANES; lane++)
		if (lanes->graphs[lane].waits_for)
			hd_dependencies_merge(&lanes->graphs[lane], &other->graphs[lane]);
}
