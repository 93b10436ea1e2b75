/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The levels of a fabric that is a tree, or a tree but for some cables, and the directions of links by them.
 * plan_tree.c, attempts.c and notes.c call it.
 *
 * Levels are counted from the switches with hosts. If most hosts seem to be above the leaves, steps from the hosts
 * are tried in place of them. Directions and orders of links come from the levels alone, so they never have a
 * circle.
 */
#include "levels.h"

#include <errno.h>
#include <string.h>

/* ---- levels ---- */

#define ABOVE_SHARE                                                                                \
	4u /* at most one of so many hosts is above the leaves, or the leaves are doubtful */
#define STRAY_SHARE 8u /* at most one of so many cables is stray by other leaves */

static bool is_stray(const uint8_t *level, uint32_t near, uint32_t far)
{
	return level[near] != HD_TREE_NO_LEVEL && level[far] != HD_TREE_NO_LEVEL &&
	       level[near] + 1 != level[far] && level[far] + 1 != level[near];
}

static uint32_t count_strays(const struct hd_fabric *fabric, const uint8_t *level)
{
	uint32_t links = 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		links += is_stray(level, hd_isl_from(fabric, link), fabric->isl_to[link]);
	return links / 2;
}

/* Hosts of switches above the leaves. */
static uint32_t hosts_above(const struct hd_fabric *fabric, const uint8_t *level)
{
	uint32_t hosts = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level[sw])
			hosts += fabric->host_base[sw + 1] - fabric->host_base[sw];
	return hosts;
}

/* Levels by steps from any switch with hosts. */
static int steps_from_hosts(const struct hd_fabric *fabric, struct hd_arena *arena, uint8_t **out)
{
	uint32_t *steps = hd_arena_alloc(arena, fabric->switch_count, sizeof(*steps));
	uint8_t *level = hd_arena_alloc(arena, fabric->switch_count, 1);

	if (hd_arena_check(arena) || hd_fabric_levels(fabric, steps, NULL))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		level[sw] = steps[sw] < HD_TREE_NO_LEVEL ? (uint8_t)steps[sw] : HD_TREE_NO_LEVEL;
	*out = level;
	return 0;
}

static uint32_t highest(const struct hd_fabric *fabric, const uint8_t *level)
{
	uint32_t most = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level[sw] != HD_TREE_NO_LEVEL && level[sw] > most)
			most = level[sw];
	return most;
}

static int find_best_levels(const struct hd_fabric *fabric, struct hd_arena *arena,
			    const uint8_t **level, struct hd_error *err)
{
	static const struct hd_tree_facts no_facts;
	struct hd_tree tree;
	struct hd_tree_pruned pruned;
	int rc = hd_tree_find(fabric, &no_facts, 1, arena, &tree, err);

	if (!rc) {
		*level = tree.level;
	} else if (rc == -ENOTSUP) {
		rc = hd_tree_prune(fabric, &no_facts, NULL, arena, &pruned);
		if (!rc)
			*level = pruned.level;
	}
	if (rc)
		return rc;
	/* A few hosts above the leaves are common. If most are there, as few leaves may be an
	 * accident of their numbers. */
	uint8_t *other;
	if (hosts_above(fabric, *level) <= fabric->host_count / ABOVE_SHARE)
		return 0;
	if (steps_from_hosts(fabric, arena, &other))
		return -ENOMEM;
	if (count_strays(fabric, other) <= fabric->isl_count / 2 / STRAY_SHARE)
		*level = other;
	return 0;
}

int levels_find(const struct hd_fabric *fabric, struct hd_arena *arena, struct levels *out,
		struct hd_error *err)
{
	const uint8_t *level;
	int rc = find_best_levels(fabric, arena, &level, err);

	if (rc)
		return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
	*out = (struct levels){.fabric = fabric,
			       .level = level,
			       .highest = highest(fabric, level),
			       .strays = count_strays(fabric, level)};
	return 0;
}

uint32_t levels_first_stray(const struct levels *levels)
{
	const struct hd_fabric *fabric = levels->fabric;

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (is_stray(levels->level, hd_isl_from(fabric, link), fabric->isl_to[link]))
			return link;
	return HD_NONE;
}

/* ---- directions ---- */

/* Marks the switches to which cables lead from one that are not stray. Returns their hosts. */
static uint32_t mark_tree(const struct levels *levels, uint32_t from, uint32_t *tree,
			  uint32_t *queue)
{
	const struct hd_fabric *fabric = levels->fabric;
	uint32_t hosts = 0, count = 0;

	queue[count++] = from;
	tree[from] = from;
	for (uint32_t done = 0; done < count; done++) {
		uint32_t sw = queue[done];
		hosts += fabric->host_base[sw + 1] - fabric->host_base[sw];
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			if (tree[far] != HD_NONE || is_stray(levels->level, sw, far))
				continue;
			tree[far] = from;
			queue[count++] = far;
		}
	}
	return hosts;
}

static uint32_t rank_of_level(const struct levels *levels, uint32_t sw)
{
	return levels->highest - (levels->level[sw] == HD_TREE_NO_LEVEL ? 0 : levels->level[sw]);
}

int levels_directions(const struct levels *levels, struct hd_arena *arena, uint8_t **up)
{
	const struct hd_fabric *fabric = levels->fabric;
	uint32_t *rank = hd_arena_alloc(arena, fabric->switch_count, sizeof(*rank));
	uint32_t *tree = hd_arena_alloc(arena, fabric->switch_count, sizeof(*tree));
	uint32_t *queue = hd_arena_alloc(arena, fabric->switch_count, sizeof(*queue));

	*up = hd_arena_alloc(arena, fabric->isl_count, sizeof(**up));
	if (hd_arena_check(arena))
		return -ENOMEM;
	/* A lower rank is higher up. */
	/* tree[switch_count]: equal for switches of one tree. */
	uint32_t most = 0, best = 0;
	memset(tree, 0xFF, levels->fabric->switch_count * sizeof(*tree));
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++) {
		uint32_t hosts = tree[sw] == HD_NONE ? mark_tree(levels, sw, tree, queue) : 0;
		if (hosts > most) {
			most = hosts;
			best = sw;
		}
	}
	uint32_t first = best, switches = levels->fabric->switch_count;
	for (uint32_t sw = 0; sw < switches; sw++)
		rank[sw] = tree[sw] == first ? rank_of_level(levels, sw) : HD_NONE;
	/* Ranks of switches without one, by steps from the others; lowest: the last rank that
	 * any switch has. */
	uint32_t lowest = levels->highest;
	for (uint32_t above = 0; above <= lowest; above++)
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t far = fabric->isl_to[link];
			if (rank[far] != HD_NONE || rank[hd_isl_from(fabric, link)] != above)
				continue;
			rank[far] = above + 1;
			if (above == lowest)
				lowest++;
		}
	for (uint32_t sw = 0; sw < switches; sw++)
		if (rank[sw] == HD_NONE) /* no cable leads there */
			rank[sw] = rank_of_level(levels, sw);
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t near = hd_isl_from(fabric, link), far = fabric->isl_to[link];
		(*up)[link] = rank[far] != rank[near] ? rank[far] < rank[near] : far < near;
	}
	return 0;
}

/* ---- orders ---- */

enum order { CLIMBING, DESCENDING, CROSSING };

int levels_order(const struct levels *levels, const uint8_t *up, struct hd_arena *arena,
		 uint8_t **order)
{
	uint32_t links = levels->fabric->isl_count;

	*order = hd_arena_alloc(arena, links, sizeof(**order));
	for (uint32_t link = 0; *order && link < links; link++)
		(*order)[link] = up[link] ? CLIMBING : DESCENDING;
	return *order ? 0 : -ENOMEM;
}

int levels_order_crossing(const struct levels *levels, struct hd_arena *arena, uint8_t **order)
{
	const struct hd_fabric *fabric = levels->fabric;

	*order = hd_arena_alloc(arena, fabric->isl_count, sizeof(**order));
	for (uint32_t link = 0; *order && link < fabric->isl_count; link++) {
		uint32_t near = hd_isl_from(fabric, link), far = fabric->isl_to[link];
		(*order)[link] = is_stray(levels->level, near, far)	    ? CROSSING
				 : levels->level[far] > levels->level[near] ? CLIMBING
									    : DESCENDING;
	}
	return *order ? 0 : -ENOMEM;
}
