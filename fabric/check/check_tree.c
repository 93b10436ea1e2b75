/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_tree.h"
#include <errno.h>

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
