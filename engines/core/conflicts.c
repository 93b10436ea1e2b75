/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "conflicts.h"
#include "parallel_links.h"

#include <errno.h>

int conflicts_allocate(struct conflicts *conflicts, const struct hd_fabric *fabric,
		       const bool *uncounted, struct hd_arena *arena)
{
	*conflicts = (struct conflicts){.fabric = fabric, .uncounted = uncounted};
	conflicts->own = hd_arena_alloc(arena, fabric->isl_count, sizeof(*conflicts->own));
	conflicts->parallel =
	    hd_arena_alloc(arena, fabric->isl_count, sizeof(*conflicts->parallel));
	conflicts->length = hd_arena_alloc(arena, fabric->switch_count, sizeof(*conflicts->length));
	if (hd_arena_check(arena))
		return -ENOMEM;
	return parallel_links_find(fabric, conflicts->parallel);
}

int conflicts_order(struct conflicts *conflicts, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = conflicts->fabric;
	bool found;

	conflicts->dimension =
	    hd_arena_alloc(arena, fabric->isl_count, sizeof(*conflicts->dimension));
	return conflicts->dimension
		   ? parallel_links_dimensions(fabric, conflicts->dimension, &found)
		   : -ENOMEM;
}

void conflicts_count(struct conflicts *conflicts, const struct dag *dag, const uint8_t *tree,
		     uint32_t sign)
{
	const struct hd_fabric *fabric = conflicts->fabric;

	for (uint32_t i = 1; i < dag->reached; i++) {
		const uint32_t sw = dag->order[i], link = fabric->isl_base[sw] + tree[sw];

		if (fabric->host_base[sw] != fabric->host_base[sw + 1] &&
		    (!conflicts->uncounted || !conflicts->uncounted[link]))
			conflicts->own[link] += sign;
	}
}

/* What a next hop is compared by: the least is the best. */
struct rank {
	uint64_t dimension, cost, class;
};

static bool is_less(const struct rank *a, const struct rank *b)
{
	if (a->dimension != b->dimension)
		return a->dimension < b->dimension;
	if (a->cost != b->cost)
		return a->cost < b->cost;
	return a->class < b->class;
}

static uint8_t choose(const struct conflicts *conflicts, const uint32_t *load,
		      const struct dag *dag, uint32_t sw, uint8_t now)
{
	const uint32_t *to = conflicts->fabric->isl_to, base = conflicts->fabric->isl_base[sw];
	struct rank least = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
	uint8_t best = now;

	for (uint32_t i = 0; i < dag->count[sw]; i++) {
		const uint8_t number = dag->number[base + i];
		const uint32_t link = base + number;
		const struct rank rank = {
		    .dimension = conflicts->dimension ? conflicts->dimension[link] : 0,
		    .cost = load[link] - conflicts->own[link] + conflicts->length[to[link]],
		    .class = number == now ? 0 : UINT64_C(1) + conflicts->parallel[link]};

		if (!is_less(&rank, &least))
			continue;
		best = number;
		least = rank;
	}
	return best;
}

void conflicts_choose(struct conflicts *conflicts, const uint32_t *load, const struct dag *dag,
		      uint8_t *tree, bool keep)
{
	const struct hd_fabric *fabric = conflicts->fabric;

	conflicts->length[dag->destination] = 0;
	for (uint32_t i = 1; i < dag->reached; i++) {
		const uint32_t sw = dag->order[i], base = fabric->isl_base[sw];
		const bool stays =
		    keep && tree[sw] != LINK_NUMBER_NONE && dag->is_candidate[base + tree[sw]];

		if (!stays)
			tree[sw] = choose(conflicts, load, dag, sw, tree[sw]);
		conflicts->length[sw] =
		    load[base + tree[sw]] + conflicts->length[fabric->isl_to[base + tree[sw]]];
	}
}
