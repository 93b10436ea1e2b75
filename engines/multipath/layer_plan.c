/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "layer_plan.h"

#include <errno.h>

struct planning {
	struct layer_planner *planner;
	const struct hd_fabric *fabric;
	const struct dag *dag;
	const struct layer_trees *host;
	uint32_t offset;
	uint8_t *tree;
};

int layer_planner_begin(struct layer_planner *planner, struct layer_choice *choice,
			struct hd_arena *arena)
{
	const struct hd_fabric *fabric = choice->fabric;
	const size_t switches = fabric->switch_count;

	*planner = (struct layer_planner){.fabric = fabric, .choice = choice};
	planner->hops = hd_arena_alloc(arena, switches, sizeof(*planner->hops));
	planner->cost = hd_arena_alloc(arena, switches, sizeof(*planner->cost));
	planner->saved = hd_arena_alloc(arena, fabric->isl_count, sizeof(*planner->saved));
	planner->gain = hd_arena_alloc(arena, switches, sizeof(*planner->gain));
	planner->by = hd_arena_alloc(arena, switches, sizeof(*planner->by));
	planner->open = hd_arena_alloc(arena, switches, sizeof(*planner->open));
	planner->heap = hd_arena_alloc(arena, switches, sizeof(*planner->heap));
	return hd_arena_check(arena);
}

static void take(const struct planning *planning, uint32_t sw, uint32_t link)
{
	const struct hd_fabric *fabric = planning->fabric;

	planning->tree[sw] = (uint8_t)(link - fabric->isl_base[sw]);
	planning->planner->hops[sw] = planning->planner->hops[fabric->isl_to[link]] + 1;
}

/* ---- to a nearer switch ---- */

static void plan_nearer(const struct planning *planning, uint32_t sw)
{
	struct layer_planner *planner = planning->planner;
	const struct dag *dag = planning->dag;
	const uint32_t base = planning->fabric->isl_base[sw];
	uint32_t best = HD_NONE;

	layer_choice_flow(planner->choice, planning->host, planning->offset, sw);
	planner->cost[sw] = UINT64_MAX;
	for (uint32_t i = 0; i < dag->count[sw]; i++) {
		const uint32_t link = base + dag->number[base + i];
		const uint64_t cost =
		    layer_choice_cost(planner->choice, planning->tree, link, dag->destination);
		if (cost >= planner->cost[sw])
			continue;
		planner->cost[sw] = cost;
		best = link;
	}
	take(planning, sw, best);
}

/* ---- sideways ---- */

/* Whether a switch can be opened: it is as far as `sw`, by a shortest path. */
static bool leads_sideways(const struct planning *planning, uint32_t sw, uint32_t to)
{
	const uint32_t hops = planning->dag->distance[sw];

	return planning->dag->distance[to] == hops && planning->planner->hops[to] == hops;
}

/* What a way sideways would save. */
static uint64_t saving(const struct planning *planning, uint32_t sw, uint32_t link)
{
	const struct layer_planner *planner = planning->planner;
	const uint64_t cost =
	    layer_choice_cost(planner->choice, planning->tree, link, planning->dag->destination);

	return cost < planner->cost[sw]
		   ? (planner->cost[sw] - cost) * layer_choice_hosts(planning->fabric, sw)
		   : 0;
}

static void weigh(const struct planning *planning, uint32_t sw)
{
	struct layer_planner *planner = planning->planner;
	const struct hd_fabric *fabric = planning->fabric;
	bool begun = false;

	planner->gain[sw] = 0;
	planner->by[sw] = HD_NONE;
	planner->open[sw] = false;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		planner->saved[link] = 0;
		if (!hd_has_hosts(fabric, sw) ||
		    !leads_sideways(planning, sw, fabric->isl_to[link]))
			continue;
		if (!begun)
			layer_choice_flow(planner->choice, planning->host, planning->offset, sw);
		begun = true;
		planner->saved[link] = saving(planning, sw, link);
	}
}

/* What the switch at the far end of a link would save more than now, if this one were open. */
static uint64_t more(const struct planning *planning, uint32_t link)
{
	const struct layer_planner *planner = planning->planner;
	const uint32_t from = planning->fabric->isl_to[link];
	const uint64_t saved = planner->saved[planning->fabric->isl_reverse[link]];

	return planner->open[from] || saved <= planner->gain[from] ? 0
								   : saved - planner->gain[from];
}

/* It becomes less with each switch that is opened. */
static int64_t worth(const struct planning *planning, uint32_t sw)
{
	const struct hd_fabric *fabric = planning->fabric;
	int64_t sum = -(int64_t)planning->planner->gain[sw];

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (planning->dag->distance[fabric->isl_to[link]] == planning->dag->distance[sw])
			sum += (int64_t)more(planning, link);
	return sum;
}

static void open_switch(const struct planning *planning, uint32_t sw)
{
	struct layer_planner *planner = planning->planner;
	const struct hd_fabric *fabric = planning->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		const uint32_t from = fabric->isl_to[link];
		if (planning->dag->distance[from] != planning->dag->distance[sw] ||
		    !more(planning, link))
			continue;
		planner->by[from] = fabric->isl_reverse[link];
		planner->gain[from] = planner->saved[planner->by[from]];
	}
	planner->open[sw] = true;
	planner->by[sw] = HD_NONE;
}

/* ---- the one that is worth most ---- */

static bool is_better(const struct layer_plan_way *a, const struct layer_plan_way *b)
{
	return a->worth != b->worth ? a->worth > b->worth : a->sw < b->sw;
}

/* Moves the first one down to its place. */
static void sink(struct layer_planner *planner)
{
	struct layer_plan_way *heap = planner->heap;
	const struct layer_plan_way way = heap[0];
	uint32_t at = 0, below;

	while ((below = 2 * at + 1) < planner->heap_count) {
		if (below + 1 < planner->heap_count && is_better(&heap[below + 1], &heap[below]))
			below++;
		if (!is_better(&heap[below], &way))
			break;
		heap[at] = heap[below];
		at = below;
	}
	heap[at] = way;
}

static void add_way(struct layer_planner *planner, struct layer_plan_way way)
{
	uint32_t at = planner->heap_count++;

	for (; at && is_better(&way, &planner->heap[(at - 1) / 2]); at = (at - 1) / 2)
		planner->heap[at] = planner->heap[(at - 1) / 2];
	planner->heap[at] = way;
}

/* The first one is still the best if its worth is as before. */
static void open_best(const struct planning *planning)
{
	struct layer_planner *planner = planning->planner;

	while (planner->heap_count) {
		struct layer_plan_way *first = &planner->heap[0];
		const int64_t now = worth(planning, first->sw);
		if (now > 0 && now == first->worth)
			open_switch(planning, first->sw);
		first->worth = now;
		if (now <= 0 || planner->open[first->sw])
			*first = planner->heap[--planner->heap_count];
		sink(planner);
	}
}

static void plan_level(const struct planning *planning, const uint32_t *switches, uint32_t count)
{
	struct layer_planner *planner = planning->planner;

	for (uint32_t i = 0; i < count; i++)
		plan_nearer(planning, switches[i]);
	for (uint32_t i = 0; i < count; i++)
		weigh(planning, switches[i]);
	planner->heap_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct layer_plan_way way = {worth(planning, switches[i]), switches[i]};
		if (way.worth > 0)
			add_way(planner, way);
	}
	open_best(planning);
	for (uint32_t i = 0; i < count; i++)
		if (planner->by[switches[i]] != HD_NONE)
			take(planning, switches[i], planner->by[switches[i]]);
}

void layer_plan_tree(struct layer_planner *planner, const struct dag *dag,
		     const struct layer_trees *host, uint32_t offset)
{
	const struct planning planning = {planner, planner->fabric, dag,
					  host,	   offset,	    host->tree[offset]};

	memset(planning.tree, LINK_NUMBER_NONE, planner->fabric->switch_count);
	planner->hops[dag->destination] = 0;
	for (uint32_t level = 1; level < dag->level_count; level++) {
		const uint32_t begin = dag->level_begin[level];
		plan_level(&planning, dag->order + begin, dag->level_begin[level + 1] - begin);
	}
}
