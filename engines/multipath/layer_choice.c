/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "layer_choice.h"

#include <errno.h>

/* What others cost is 1 / (2 * RARE * hosts) of a stripe's own cost. If each host sends to one of all hosts, p is
 * 1 / hosts, and a quarter of this gave the highest bandwidth of random bisections, in which half of them send. */
#define RARE 2u

int layer_loads_begin(struct layer_loads *loads, const struct hd_fabric *fabric,
		      struct hd_arena *arena)
{
	loads->fabric = fabric;
	loads->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(*loads->load));
	loads->own = hd_arena_alloc(arena, fabric->isl_count, sizeof(*loads->own));
	return hd_arena_check(arena);
}

int layer_choice_begin(struct layer_choice *choice, const struct layer_loads *loads,
		       const bool *uncounted, struct hd_arena *arena)
{
	const size_t links = loads->fabric->isl_count;

	*choice =
	    (struct layer_choice){.fabric = loads->fabric, .uncounted = uncounted, .loads = loads};
	choice->stripes = hd_arena_alloc(arena, links, sizeof(*choice->stripes));
	choice->stamp = hd_arena_alloc(arena, links, sizeof(*choice->stamp));
	return layer_loads_begin(&choice->mine, loads->fabric, arena);
}

void layer_loads_count_tree(struct layer_loads *loads, const uint8_t *tree, uint32_t destination,
			    uint32_t sign)
{
	const struct hd_fabric *fabric = loads->fabric;

	for (uint32_t source = 0; source < fabric->switch_count; source++) {
		const uint32_t hosts = layer_choice_hosts(fabric, source);

		if (!hosts || source == destination || tree[source] == LINK_NUMBER_NONE)
			continue;
		loads->own[layer_choice_link(fabric, tree, source)] += sign;
		for (uint32_t sw = source; sw != destination;) {
			const uint32_t link = layer_choice_link(fabric, tree, sw);
			loads->load[link] += sign * hosts;
			sw = fabric->isl_to[link];
		}
	}
}

void layer_loads_count(struct layer_loads *loads, const struct layer_trees *host, uint32_t sign)
{
	for (uint32_t offset = 0; offset < host->count; offset++)
		layer_loads_count_tree(loads, host->tree[offset], host->sw, sign);
}

void layer_choice_aim(struct layer_choice *choice, const struct layer_trees *host)
{
	const size_t bytes = choice->fabric->isl_count * sizeof(*choice->mine.load);

	memset(choice->mine.load, 0, bytes);
	memset(choice->mine.own, 0, bytes);
	layer_loads_count(&choice->mine, host, 1);
}

static void mark(struct layer_choice *choice, const uint8_t *tree, uint32_t source,
		 uint32_t destination)
{
	const struct hd_fabric *fabric = choice->fabric;

	for (uint32_t sw = source; sw != destination;) {
		const uint32_t link = layer_choice_link(fabric, tree, sw);
		const bool known = choice->stamp[link] == choice->flow;
		choice->stripes[link] = known ? choice->stripes[link] + 1 : 1;
		choice->stamp[link] = choice->flow;
		sw = fabric->isl_to[link];
	}
}

void layer_choice_flow(struct layer_choice *choice, const struct layer_trees *host, uint32_t offset,
		       uint32_t source)
{
	if (!++choice->flow) {
		memset(choice->stamp, 0, choice->fabric->isl_count * sizeof(*choice->stamp));
		choice->flow = 1;
	}
	for (uint32_t other = 0; other < host->count; other++)
		if (other != offset && host->tree[other][source] != LINK_NUMBER_NONE)
			mark(choice, host->tree[other], source, host->sw);
}

/* first: the flow begins with this link, so what the source itself sends over it does not count. */
static uint64_t cost_of(const struct layer_choice *choice, uint32_t link, bool first)
{
	const struct layer_loads *loads = choice->loads, *mine = &choice->mine;
	const uint64_t stripes = choice->stamp[link] == choice->flow ? choice->stripes[link] : 0;
	uint64_t others = loads->load[link] - mine->load[link];

	if (first)
		others -= loads->own[link] - mine->own[link];
	if (choice->uncounted && choice->uncounted[link])
		others = 0;
	return RARE * choice->fabric->host_count * (1 + 2 * stripes) + others;
}

uint64_t layer_choice_cost(const struct layer_choice *choice, const uint8_t *tree, uint32_t link,
			   uint32_t destination)
{
	const struct hd_fabric *fabric = choice->fabric;
	uint64_t cost = cost_of(choice, link, true);

	for (uint32_t sw = fabric->isl_to[link]; sw != destination;) {
		const uint32_t next = layer_choice_link(fabric, tree, sw);
		cost += cost_of(choice, next, false);
		sw = fabric->isl_to[next];
	}
	return cost;
}
