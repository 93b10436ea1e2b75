/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "rings_detour.h"

#include <errno.h>

int rings_detours_begin(struct rings_detours *detours, struct rings_levels *levels,
			struct turn_trees *trees, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = levels->shape->fabric;

	*detours = (struct rings_detours){.levels = levels, .trees = trees};
	detours->left = hd_arena_alloc(arena, fabric->switch_count, sizeof(*detours->left));
	detours->cost = hd_arena_alloc(arena, fabric->switch_count, sizeof(*detours->cost));
	detours->refused = hd_arena_alloc(arena, fabric->isl_count, sizeof(*detours->refused));
	return hd_arena_check(arena);
}

/* A way into the tree: the best one so far. */
struct way {
	uint32_t link; /* HD_NONE: none */
	uint32_t left; /* its place in the list */
	bool new_turn;
	uint32_t cost;
	uint64_t conflicts;
};

/* Levels that can go by a link into the tree, with the turns that there are. */
static uint16_t levels_over(const struct rings_detours *detours, const uint8_t *tree, uint32_t link)
{
	const struct turn_trees *trees = detours->trees;
	const struct hd_fabric *fabric = trees->fabric;
	const uint32_t to = fabric->isl_to[link];

	if (to == trees->destination)
		return trees->lanes[to];
	return trees->lanes[to] &
	       trees->sets
		   ->lanes[turns_find(&trees->sets->turns, link, fabric->isl_base[to] + tree[to])];
}

static bool is_better(const struct way *way, const struct way *than)
{
	if (than->link == HD_NONE || way->cost != than->cost)
		return than->link == HD_NONE || way->cost < than->cost;
	if (way->new_turn != than->new_turn)
		return !way->new_turn;
	if (way->conflicts != than->conflicts)
		return way->conflicts < than->conflicts;
	return way->link < than->link;
}

static struct way find_way(const struct rings_detours *detours, const uint8_t *tree, uint32_t count)
{
	const struct turn_trees *trees = detours->trees;
	const struct hd_fabric *fabric = trees->fabric;
	struct way best = {.link = HD_NONE};

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t sw = detours->left[i];
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			const uint32_t to = fabric->isl_to[link];
			if (trees->hops[to] == HD_NONE || !trees->lanes[to] ||
			    detours->refused[link])
				continue;
			struct way way = {.link = link, .left = i};
			way.new_turn = !levels_over(detours, tree, link);
			way.cost =
			    detours->cost[to] + 1 + (way.new_turn ? detours->new_turn_hops : 0);
			way.conflicts = trees->load[link] - trees->own[link] + trees->length[to];
			if (is_better(&way, &best))
				best = way;
		}
	}
	return best;
}

/* Lets the switch join by that link. False: no level takes the turn. */
static bool join(struct rings_detours *detours, uint8_t *tree, const struct way *way)
{
	struct turn_trees *trees = detours->trees;
	const struct hd_fabric *fabric = trees->fabric;
	const uint32_t sw = hd_isl_from(fabric, way->link), to = fabric->isl_to[way->link];
	uint16_t levels = levels_over(detours, tree, way->link);

	if (!levels) {
		levels = trees->lanes[to] & rings_levels_take(detours->levels, way->link,
							      fabric->isl_base[to] + tree[to],
							      trees->lanes[to]);
	}
	if (!levels)
		return false;
	tree[sw] = (uint8_t)(way->link - fabric->isl_base[sw]);
	trees->hops[sw] = trees->hops[to] + 1;
	trees->lanes[sw] = levels;
	trees->length[sw] = trees->length[to] + trees->load[way->link];
	trees->order[trees->reached++] = sw;
	detours->cost[sw] = way->cost;
	return true;
}

bool rings_detours_find(struct rings_detours *detours, uint8_t *tree)
{
	struct turn_trees *trees = detours->trees;
	const struct hd_fabric *fabric = trees->fabric;
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		detours->cost[sw] = trees->hops[sw];
		if (trees->hops[sw] == HD_NONE)
			detours->left[count++] = sw;
	}
	memset(detours->refused, 0, fabric->isl_count * sizeof(*detours->refused));
	while (count) {
		const struct way way = find_way(detours, tree, count);
		if (way.link == HD_NONE)
			return false;
		if (join(detours, tree, &way))
			detours->left[way.left] = detours->left[--count];
		else
			detours->refused[way.link] = true;
	}
	return true;
}
