/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dependencies that lie on loops. proof.c asks whether there are any; cutting.c lists them.
 *
 * A link is on a loop if it and another one can reach each other in the graph of its lane: strongly connected
 * components, found with a stack in one pass. Cost: O(dependencies).
 */
#include "circling.h"

#include <errno.h>
#include <string.h>

/* Which links of a dependency graph wait for each other in a circle. */

struct search {
	const struct hd_dependencies *graph;
	uint32_t *number; /* [isl_count] in the order of discovery, from 1; 0: not met */
	uint32_t *low; /* [isl_count] the smallest number that the link can reach */
	uint32_t *path, depth; /* from the root to the link at hand */
	uint32_t *next; /* [isl_count] the link at which to go on */
	uint32_t *stack, height; /* met, but without a component */
	uint32_t *component; /* HD_NONE: none yet */
	uint32_t met, found;
};

static void circling_enter(struct search *search, uint32_t link)
{
	const struct hd_fabric *fabric = search->graph->fabric;

	search->number[link] = search->low[link] = ++search->met;
	search->next[link] = fabric->isl_base[fabric->isl_to[link]];
	search->path[search->depth++] = link;
	search->stack[search->height++] = link;
}

static void lower(struct search *search, uint32_t link, uint32_t number)
{
	if (number < search->low[link])
		search->low[link] = number;
}

/* Looks at the dependencies of a link, until one leads to a link that was not met. */
static void advance(struct search *search, uint32_t link)
{
	const struct hd_fabric *fabric = search->graph->fabric;
	uint32_t end = fabric->isl_base[fabric->isl_to[link] + 1];

	while (search->next[link] < end) {
		uint32_t next = search->next[link]++;
		if (!hd_dependencies_has(search->graph, link, next))
			continue;
		if (!search->number[next]) {
			circling_enter(search, next);
			return;
		}
		if (search->component[next] == HD_NONE)
			lower(search, link, search->number[next]);
	}
	uint32_t member;
	search->depth--;
	if (search->depth)
		lower(search, search->path[search->depth - 1], search->low[link]);
	if (search->low[link] != search->number[link])
		return;
	do {
		member = search->stack[--search->height];
		search->component[member] = search->found;
	} while (member != link);
	search->found++;
}

/*
 * Numbers the strongly connected components: component[isl_count] of two links is the same if and
 * only if a walk along dependencies leads from each to the other. Memory from the arena. Errors:
 * -ENOMEM. Cost: O(links * radix). Source: R. Tarjan, "Depth-first search and linear graph
 * algorithms", 1972.
 */
static int components_find(const struct hd_dependencies *graph, struct hd_arena *arena,
			   uint32_t *component)
{
	uint32_t links = graph->fabric->isl_count;
	struct search search = {.graph = graph, .component = component};
	uint32_t **arrays[] = {&search.number, &search.low, &search.path, &search.next,
			       &search.stack};

	for (unsigned i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		*arrays[i] = hd_arena_alloc(arena, links, sizeof(**arrays[i]));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t link = 0; link < links; link++)
		component[link] = HD_NONE;
	for (uint32_t link = 0; link < links; link++) {
		if (search.number[link])
			continue;
		circling_enter(&search, link);
		while (search.depth)
			advance(&search, search.path[search.depth - 1]);
	}
	return 0;
}

void circling_release(struct circling *circling)
{
	hd_arena_release(&circling->arena);
}

int circling_look(struct proving *proving)
{
	uint32_t length = 0, *links = hd_arena_alloc(
				 &proving->arena, proving->next.fabric->isl_count, sizeof(*links));

	if (!links)
		return -ENOMEM;
	for (unsigned lane = 0; lane < PROOF_LANES; lane++) {
		if (!(proving->graphs.used >> lane & 1))
			continue;
		if (hd_dependencies_find_cycle(&proving->graphs.workers[0].graphs[lane], links,
					       &length))
			return -ENOMEM;
		if (length)
			return -ELOOP;
	}
	return 0;
}

/* A search on one lane. */
struct lane {
	uint32_t number;
	const struct hd_dependencies *all;
	uint32_t *component; /* [isl_count] */
	const struct hd_dependencies *known; /* those of the static ports; NULL: none */
};

/* Appends the pairs of a link, or only counts them if `pairs` is NULL. */
static size_t list_link(const struct lane *lane, uint32_t link, struct circling_pair *pairs)
{
	const struct hd_fabric *fabric = lane->all->fabric;
	uint32_t sw = fabric->isl_to[link];
	size_t count = 0;

	for (uint32_t next = fabric->isl_base[sw]; next < fabric->isl_base[sw + 1]; next++) {
		if (lane->component[link] != lane->component[next] ||
		    !hd_dependencies_has(lane->all, link, next) ||
		    (lane->known && hd_dependencies_has(lane->known, link, next)))
			continue;
		if (pairs)
			pairs[count] = (struct circling_pair){link, next, lane->number};
		count++;
	}
	return count;
}

static int list_lane(const struct lane *lane, struct circling *out)
{
	uint32_t links = lane->all->fabric->isl_count;
	size_t count = 0;

	for (uint32_t link = 0; link < links; link++)
		count += list_link(lane, link, NULL);
	if (!count)
		return 0;
	struct circling_pair *pairs =
	    hd_arena_alloc(&out->arena, out->count + count, sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	if (out->count)
		memcpy(pairs, out->pairs, out->count * sizeof(*pairs));
	for (uint32_t link = 0; link < links; link++)
		out->count += list_link(lane, link, pairs + out->count);
	out->pairs = pairs;
	return 0;
}

int circling_list(struct proving *all, const struct proving *known, struct circling *out)
{
	struct lane lane = {.component = hd_arena_alloc(&all->arena, all->next.fabric->isl_count,
							sizeof(*lane.component))};
	int rc = hd_arena_check(&all->arena);

	for (unsigned i = 0; !rc && i < PROOF_LANES; i++) {
		if (!(all->graphs.used >> i & 1))
			continue;
		lane.number = i;
		lane.all = &all->graphs.workers[0].graphs[i];
		lane.known = known ? &known->graphs.workers[0].graphs[i] : NULL;
		rc = components_find(lane.all, &all->arena, lane.component);
		if (!rc)
			rc = list_lane(&lane, out);
	}
	return rc;
}
