/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "turn_tree.h"

#include <errno.h>
#include <string.h>

int turn_trees_begin(struct turn_trees *trees, const struct turn_sets *sets,
		     const uint32_t *parallel, const bool *uncounted, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = sets->turns.fabric;
	const uint32_t switches = fabric->switch_count;

	*trees = (struct turn_trees){
	    .sets = sets, .fabric = fabric, .parallel = parallel, .uncounted = uncounted};
	trees->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(*trees->load));
	trees->own = hd_arena_alloc(arena, fabric->isl_count, sizeof(*trees->own));
	trees->order = hd_arena_alloc(arena, switches, sizeof(*trees->order));
	trees->hops = hd_arena_alloc(arena, switches, sizeof(*trees->hops));
	trees->lanes = hd_arena_alloc(arena, switches, sizeof(*trees->lanes));
	trees->length = hd_arena_alloc(arena, switches, sizeof(*trees->length));
	trees->next = hd_arena_alloc(arena, switches, sizeof(*trees->next));
	trees->level = hd_arena_alloc(arena, switches, sizeof(*trees->level));
	trees->down = hd_arena_alloc(arena, switches, sizeof(*trees->down));
	trees->weight = hd_arena_alloc(arena, switches, sizeof(*trees->weight));
	trees->cost = hd_arena_alloc(arena, switches, sizeof(*trees->cost));
	trees->fixed = hd_arena_alloc(arena, switches, sizeof(*trees->fixed));
	trees->before = hd_arena_alloc(arena, switches, 1);
	return hd_arena_check(arena);
}

static uint32_t link_of(const struct turn_trees *trees, const uint8_t *tree, uint32_t sw)
{
	return trees->fabric->isl_base[sw] + tree[sw];
}

static uint16_t all_lanes(const struct turn_trees *trees)
{
	return (uint16_t)((1u << trees->sets->lane_count) - 1);
}

/* Lanes of a path that begins with the link, from those of the path after it. */
static inline uint16_t lanes_over(const struct turn_trees *trees, const uint8_t *tree,
				  uint32_t link)
{
	const struct turns *turns = &trees->sets->turns;
	const uint32_t to = trees->fabric->isl_to[link];

	if (to == trees->destination)
		return all_lanes(trees);
	return trees->lanes[to] & trees->sets->lanes[turns->first[link] + tree[to]];
}

/* ---- growing ---- */

struct growth {
	struct turn_trees *trees;
	uint8_t *tree;
	bool keep, free;
};

/* A switch joins by its link, in the lanes that it has. */
static void join(struct turn_trees *trees, const uint8_t *tree, uint32_t sw)
{
	const uint32_t link = link_of(trees, tree, sw), to = trees->fabric->isl_to[link];

	trees->hops[sw] = trees->hops[to] + 1;
	trees->length[sw] = trees->length[to] + trees->load[link];
	trees->order[trees->reached++] = sw;
}

/* Whether the link is a better one for its switch than that which it has so far. */
static bool is_better(const struct growth *growth, uint32_t sw, uint32_t link, uint64_t cost)
{
	const struct turn_trees *trees = growth->trees;
	const uint32_t base = trees->fabric->isl_base[sw], other = base + growth->tree[sw];
	const uint32_t now =
	    trees->before[sw] == LINK_NUMBER_NONE ? HD_NONE : base + trees->before[sw];

	if (growth->tree[sw] == LINK_NUMBER_NONE || (growth->keep && link == now))
		return true;
	if (growth->keep && other == now)
		return false;
	if (cost != trees->cost[sw])
		return cost < trees->cost[sw];
	if (link == now || other == now)
		return link == now;
	if (trees->parallel[link] != trees->parallel[other])
		return trees->parallel[link] < trees->parallel[other];
	return link < other;
}

/* Offers a switch's neighbours the way by it. Those that have none yet are listed. */
static uint32_t offer(const struct growth *growth, uint32_t to, uint32_t listed)
{
	struct turn_trees *trees = growth->trees;
	const struct hd_fabric *fabric = trees->fabric;

	for (uint32_t away = fabric->isl_base[to]; away < fabric->isl_base[to + 1]; away++) {
		const uint32_t sw = fabric->isl_to[away], link = fabric->isl_reverse[away];

		if (trees->hops[sw] != HD_NONE)
			continue;
		const uint16_t lanes = growth->free ? 1 : lanes_over(trees, growth->tree, link);
		const uint64_t cost = trees->load[link] - trees->own[link] + trees->length[to];
		if (!lanes || !is_better(growth, sw, link, cost))
			continue;
		if (growth->tree[sw] == LINK_NUMBER_NONE) {
			trees->next[sw] = listed;
			listed = sw;
		}
		growth->tree[sw] = (uint8_t)(link - fabric->isl_base[sw]);
		trees->cost[sw] = cost;
		trees->lanes[sw] = lanes;
	}
	return listed;
}

/* Switches that have their path in the spanning tree join at their levels: level[hops] is the first of a list. */
static void list_fixed(struct turn_trees *trees)
{
	const uint32_t switches = trees->fabric->switch_count;

	for (uint32_t level = 0; level < switches; level++)
		trees->level[level] = HD_NONE;
	for (uint32_t sw = 0; sw < switches; sw++) {
		if (!trees->fixed[sw])
			continue;
		trees->next[sw] = trees->level[trees->hops[sw]];
		trees->level[trees->hops[sw]] = sw;
	}
}

static void begin_tree(struct growth *growth, uint32_t destination)
{
	struct turn_trees *trees = growth->trees;

	for (uint32_t sw = 0; sw < trees->fabric->switch_count; sw++)
		if (!trees->fixed[sw]) {
			trees->hops[sw] = HD_NONE;
			growth->tree[sw] = LINK_NUMBER_NONE;
		}
	trees->destination = destination;
	trees->order[0] = destination;
	trees->reached = 1;
	trees->hops[destination] = 0;
	trees->length[destination] = 0;
	trees->lanes[destination] = all_lanes(trees);
	list_fixed(trees);
}

static void grow_once(const struct growth *growth)
{
	struct turn_trees *trees = growth->trees;
	uint32_t first = 0;

	for (uint32_t level = 1; first < trees->reached; level++) {
		const uint32_t end = trees->reached;
		uint32_t listed = HD_NONE;

		for (; first < end; first++)
			listed = offer(growth, trees->order[first], listed);
		for (; listed != HD_NONE; listed = trees->next[listed])
			join(trees, growth->tree, listed);
		for (uint32_t sw = level < trees->fabric->switch_count ? trees->level[level]
								       : HD_NONE;
		     sw != HD_NONE; sw = trees->next[sw]) {
			trees->lanes[sw] = (uint16_t)(1u << trees->sets->tree_lane);
			join(trees, growth->tree, sw);
		}
	}
}

/* ---- paths in the spanning tree ---- */

/* Notes for the ancestors of the destination, and for itself, the link down to it. */
static void find_ancestors(struct turn_trees *trees, uint32_t destination)
{
	const struct hd_fabric *fabric = trees->fabric;
	uint32_t sw = destination;

	memset(trees->down, 0xFF, fabric->switch_count * sizeof(*trees->down));
	while (trees->sets->parent[sw] != HD_NONE) {
		const uint32_t up = trees->sets->parent[sw];

		sw = fabric->isl_to[up];
		trees->down[sw] = fabric->isl_reverse[up];
	}
}

static uint32_t tree_link(const struct turn_trees *trees, uint32_t sw)
{
	return trees->down[sw] != HD_NONE ? trees->down[sw] : trees->sets->parent[sw];
}

/* Gives a switch, and all on its path in the spanning tree, that path. */
static void fix(struct turn_trees *trees, uint8_t *tree, uint32_t sw)
{
	const struct hd_fabric *fabric = trees->fabric;
	uint32_t hops = 0;

	for (uint32_t at = sw; at != trees->destination; at = fabric->isl_to[tree_link(trees, at)])
		hops++;
	for (; sw != trees->destination && !trees->fixed[sw]; hops--) {
		const uint32_t link = tree_link(trees, sw);

		trees->fixed[sw] = true;
		trees->hops[sw] = hops;
		tree[sw] = (uint8_t)(link - fabric->isl_base[sw]);
		sw = fabric->isl_to[link];
	}
}

/* Fixes so many of the switches that are left over, those next to the tree first. False: none is. */
static bool fix_some(struct turn_trees *trees, uint8_t *tree, uint32_t most)
{
	const struct hd_fabric *fabric = trees->fabric;
	uint32_t count = 0;

	for (uint32_t i = 0; i < trees->reached && count < most; i++) {
		const uint32_t to = trees->order[i];
		for (uint32_t link = fabric->isl_base[to];
		     link < fabric->isl_base[to + 1] && count < most; link++) {
			const uint32_t sw = fabric->isl_to[link];
			if (trees->hops[sw] != HD_NONE || trees->fixed[sw])
				continue;
			fix(trees, tree, sw);
			count++;
		}
	}
	return count;
}

bool turn_trees_grow(struct turn_trees *trees, uint32_t destination, bool keep, bool free,
		     uint8_t *tree)
{
	const uint32_t switches = trees->fabric->switch_count;
	struct growth growth = {trees, tree, keep, free};

	memcpy(trees->before, tree, switches);
	memset(trees->fixed, 0, switches * sizeof(*trees->fixed));
	for (uint32_t most = 1;; most *= 2) {
		begin_tree(&growth, destination);
		grow_once(&growth);
		if (most == 1)
			find_ancestors(trees, destination);
		if (!fix_some(trees, tree, most))
			return true;
		if (!trees->sets->has_tree)
			return false;
	}
}

bool turn_trees_grow_some(struct turn_trees *trees, uint32_t destination, bool keep, uint8_t *tree)
{
	struct growth growth = {trees, tree, keep, false};
	const uint32_t *root = trees->sets->root;
	const uint32_t switches = trees->fabric->switch_count;
	bool all = true;

	memcpy(trees->before, tree, switches);
	memset(trees->fixed, 0, switches * sizeof(*trees->fixed));
	begin_tree(&growth, destination);
	grow_once(&growth);
	for (uint32_t sw = 0; sw < switches; sw++)
		all &= trees->hops[sw] != HD_NONE || root[sw] != root[destination];
	return all;
}

/* ---- a tree that is there ---- */

/* Walks until hops are known, and notes those on the way. False: there is no entry, or a loop. */
static bool find_hops(struct turn_trees *trees, const uint8_t *tree, uint32_t sw)
{
	const struct hd_fabric *fabric = trees->fabric;
	uint32_t count = 0, at = sw;

	while (trees->hops[at] == HD_NONE) {
		if (tree[at] == LINK_NUMBER_NONE || count > fabric->switch_count)
			return false;
		count++;
		at = fabric->isl_to[link_of(trees, tree, at)];
	}
	count += trees->hops[at];
	for (at = sw; trees->hops[at] == HD_NONE; count--) {
		trees->hops[at] = count;
		at = fabric->isl_to[link_of(trees, tree, at)];
	}
	return true;
}

/* Sorts the switches that reach the destination by their hops. */
static void sort_by_hops(struct turn_trees *trees)
{
	const uint32_t switches = trees->fabric->switch_count;

	for (uint32_t level = 0; level < switches; level++)
		trees->level[level] = HD_NONE;
	for (uint32_t sw = switches; sw-- > 0;) {
		if (trees->hops[sw] == HD_NONE)
			continue;
		trees->next[sw] = trees->level[trees->hops[sw]];
		trees->level[trees->hops[sw]] = sw;
	}
	trees->reached = 0;
	for (uint32_t level = 0; level < switches && trees->level[level] != HD_NONE; level++)
		for (uint32_t sw = trees->level[level]; sw != HD_NONE; sw = trees->next[sw])
			trees->order[trees->reached++] = sw;
}

bool turn_trees_follow(struct turn_trees *trees, uint32_t destination, const uint8_t *tree)
{
	const struct hd_fabric *fabric = trees->fabric;
	const uint32_t *root = trees->sets->root;

	trees->destination = destination;
	memset(trees->hops, 0xFF, fabric->switch_count * sizeof(*trees->hops));
	trees->hops[destination] = 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (root[sw] == root[destination] && !find_hops(trees, tree, sw))
			return false;
	sort_by_hops(trees);
	return true;
}

bool turn_trees_find_lanes(struct turn_trees *trees, const uint8_t *tree)
{
	const struct hd_fabric *fabric = trees->fabric;
	bool sound = true;

	trees->lanes[trees->destination] = all_lanes(trees);
	for (uint32_t i = 1; i < trees->reached; i++) {
		const uint32_t sw = trees->order[i];

		trees->lanes[sw] = lanes_over(trees, tree, link_of(trees, tree, sw));
		sound &= trees->lanes[sw] || fabric->host_base[sw] == fabric->host_base[sw + 1];
	}
	return sound;
}

void turn_trees_count(struct turn_trees *trees, const uint8_t *tree, uint32_t sign)
{
	const struct hd_fabric *fabric = trees->fabric;

	for (uint32_t i = 0; i < trees->reached; i++) {
		const uint32_t sw = trees->order[i];
		trees->weight[sw] = fabric->host_base[sw + 1] - fabric->host_base[sw];
	}
	for (uint32_t i = trees->reached; i-- > 1;) {
		const uint32_t sw = trees->order[i], link = link_of(trees, tree, sw);

		trees->weight[fabric->isl_to[link]] += trees->weight[sw];
		if (trees->uncounted && trees->uncounted[link])
			continue;
		trees->load[link] += sign * trees->weight[sw];
		if (fabric->host_base[sw] != fabric->host_base[sw + 1])
			trees->own[link] += sign;
	}
}
