/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_tree.h"

#include <errno.h>

/* ---- the paths ---- */

int check_tree_block_init(struct check_block *block, const struct hd_columns *columns,
			  struct hd_arena *arena)
{
	size_t entries = (size_t)HD_COLUMN_BLOCK * columns->fabric->switch_count;

	*block =
	    (struct check_block){.lane_all = (uint16_t)(1u << (columns->routes->sl2vl[0] & 15))};
	if (columns->routes->sl)
		block->lane = hd_arena_alloc(arena, entries, sizeof(*block->lane));
	return hd_column_block_init(&block->columns, columns, arena);
}

int check_tree_init(struct check_tree *tree, const struct hd_fabric *fabric, struct hd_arena *arena)
{
	tree->switch_count = fabric->switch_count;
	tree->next = hd_arena_alloc(arena, fabric->switch_count, sizeof(*tree->next));
	tree->order = hd_arena_alloc(arena, fabric->switch_count, sizeof(*tree->order));
	tree->hops = hd_arena_alloc(arena, fabric->switch_count, sizeof(*tree->hops));
	tree->arrival = hd_arena_alloc(arena, fabric->switch_count, sizeof(*tree->arrival));
	tree->waiting = hd_arena_alloc(arena, fabric->switch_count, sizeof(*tree->waiting));
	return hd_arena_check(arena);
}

static void load_lanes(struct check_block *block, const struct hd_routes *routes, uint32_t sw,
		       uint32_t count)
{
	const uint8_t *row = routes->sl + (size_t)sw * routes->stride + block->columns.first_lid;

	for (uint32_t i = 0; i < count; i++)
		block->lane[(size_t)i * routes->switch_count + sw] =
		    (uint16_t)(1u << (routes->sl2vl[row[i] & 15] & 15));
}

void check_tree_block_load(struct check_block *block, const struct hd_columns *columns,
			   uint32_t first)
{
	hd_column_block_load(&block->columns, columns, first);
	if (!block->lane)
		return;
	uint32_t count = hd_column_block_lids(columns, first);
	for (uint32_t sw = 0; sw < columns->fabric->switch_count; sw++)
		load_lanes(block, columns->routes, sw, count);
}

static void count_waiting(struct check_tree *tree, const struct hd_fabric *fabric)
{
	memset(tree->waiting, 0, tree->switch_count);
	for (uint32_t sw = 0; sw < tree->switch_count; sw++) {
		if (!hd_step_is_link(tree->step[sw]))
			continue;
		tree->next[sw] = fabric->isl_to[tree->step[sw]];
		tree->waiting[tree->next[sw]]++;
	}
}

/* Removes switches to which no other switch points, again and again, until only rings remain. */
static void put_in_order(struct check_tree *tree)
{
	uint32_t *order = tree->order, ordered = 0;

	for (uint32_t sw = 0; sw < tree->switch_count; sw++)
		if (!tree->waiting[sw])
			order[ordered++] = sw;
	for (uint32_t done = 0; done < ordered; done++) {
		uint32_t sw = order[done];
		if (hd_step_is_link(tree->step[sw]) && !--tree->waiting[tree->next[sw]])
			order[ordered++] = tree->next[sw];
	}
	tree->ordered = ordered;
}

static enum check_arrival outcome(uint32_t step)
{
	switch (step) {
	case HD_STEP_ARRIVED:
		return CHECK_ARRIVES;
	case HD_STEP_NO_ROUTE:
		return CHECK_NO_ROUTE;
	case HD_STEP_DEAD_END:
		return CHECK_DEAD_END;
	default:
		return CHECK_LOOP;
	}
}

/* From the roots outwards: a packet at a switch arrives if it arrives from the next switch. */
static void find_arrivals(struct check_tree *tree)
{
	tree->bad = tree->switch_count - tree->ordered;
	if (tree->bad)
		memset(tree->arrival, CHECK_LOOP, tree->switch_count);
	for (uint32_t i = tree->ordered; i-- > 0;) {
		uint32_t sw = tree->order[i], step = tree->step[sw];
		if (hd_step_is_link(step)) {
			tree->arrival[sw] = tree->arrival[tree->next[sw]];
			tree->hops[sw] = tree->hops[tree->next[sw]] + 1;
		} else {
			tree->arrival[sw] = (uint8_t)outcome(step);
			tree->hops[sw] = 0;
		}
		tree->bad += tree->arrival[sw] != CHECK_ARRIVES;
	}
}

bool check_tree_make(struct check_tree *tree, struct check_block *block,
		     const struct hd_columns *columns, uint32_t lid)
{
	struct hd_column column;

	if (!hd_column_take(&block->columns, columns, lid, &column))
		return false;
	tree->destination = column.destination;
	tree->to_host = column.port != 0;
	tree->step = column.step;
	count_waiting(tree, columns->fabric);
	put_in_order(tree);
	find_arrivals(tree);
	return true;
}

/* ---- dependencies ---- */

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
