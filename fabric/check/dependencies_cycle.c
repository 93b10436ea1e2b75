/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The search removes links that depend on nothing, until every link that remains depends on another
 * one. Then each walk along dependencies comes back to a link that it has passed.
 */
#include "dependencies_cycle.h"

#include <string.h>

#define SEARCHES_MAX 64u

int dependencies_cycle_init(struct dependencies_search *search, const struct hd_dependencies *graph,
			    struct hd_arena *arena)
{
	uint32_t links = graph->fabric->isl_count;
	uint32_t **arrays[] = {&search->left, &search->queue, &search->from, &search->mark};

	search->graph = graph;
	for (unsigned i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		*arrays[i] = hd_arena_alloc(arena, links, sizeof(**arrays[i]));
	return hd_arena_check(arena);
}

static void count_dependencies(struct dependencies_search *search)
{
	const struct hd_dependencies *graph = search->graph;

	for (uint32_t link = 0; link < graph->fabric->isl_count; link++)
		for (uint32_t word = 0; word < graph->words; word++)
			search->left[link] += (uint32_t)__builtin_popcountll(
			    graph->waits_for[(size_t)link * graph->words + word]);
}

/* Removes one link. Links that then depend on nothing join the queue. */
static uint32_t release(struct dependencies_search *search, uint32_t link, uint32_t queued)
{
	const struct hd_fabric *fabric = search->graph->fabric;
	uint32_t sw = hd_isl_from(fabric, link);

	for (uint32_t out = fabric->isl_base[sw]; out < fabric->isl_base[sw + 1]; out++) {
		uint32_t before = fabric->isl_reverse[out];
		if (hd_dependencies_has(search->graph, before, link) && !--search->left[before])
			search->queue[queued++] = before;
	}
	return queued;
}

uint32_t dependencies_cycle_reduce(struct dependencies_search *search)
{
	uint32_t links = search->graph->fabric->isl_count, queued = 0;

	count_dependencies(search);
	for (uint32_t link = 0; link < links; link++)
		if (!search->left[link])
			search->queue[queued++] = link;
	for (uint32_t done = 0; done < queued; done++)
		queued = release(search, search->queue[done], queued);
	for (uint32_t link = 0; link < links; link++)
		if (search->left[link])
			return link;
	return HD_NONE;
}

static uint32_t first_successor(const struct dependencies_search *search, uint32_t link)
{
	const struct hd_fabric *fabric = search->graph->fabric;
	uint32_t next = fabric->isl_base[fabric->isl_to[link]];

	while (!hd_dependencies_has(search->graph, link, next) || !search->left[next])
		next++;
	return next;
}

/* Goes from each link to the first on which it depends, until a link comes a second time. The links
 * of that cycle go to `cycle`. */
static uint32_t walk_round(struct dependencies_search *search, uint32_t link, uint32_t *cycle)
{
	uint32_t steps = 0;

	for (; !search->mark[link]; link = first_successor(search, link)) {
		search->queue[steps] = link;
		search->mark[link] = ++steps;
	}
	uint32_t start = search->mark[link] - 1;
	memcpy(cycle, search->queue + start, (steps - start) * sizeof(*cycle));
	return steps - start;
}

/* Continues a breadth-first search that began at `start` from `link`. True when it is back at
 * `start`. */
static bool spread(struct dependencies_search *search, uint32_t link, uint32_t start,
		   uint32_t *queued)
{
	const struct hd_fabric *fabric = search->graph->fabric;
	uint32_t sw = fabric->isl_to[link];

	for (uint32_t next = fabric->isl_base[sw]; next < fabric->isl_base[sw + 1]; next++) {
		if (!hd_dependencies_has(search->graph, link, next) || !search->left[next])
			continue;
		if (next == start)
			return true;
		if (search->from[next] != HD_NONE)
			continue;
		search->from[next] = link;
		search->queue[(*queued)++] = next;
	}
	return false;
}

/* Finds the shortest cycle through `start`. Writes it backwards from its last link. */
static uint32_t shortest_through(struct dependencies_search *search, uint32_t start,
				 uint32_t *cycle)
{
	uint32_t queued = 1, done = 0, length = 1;

	memset(search->from, 0xFF, search->graph->fabric->isl_count * sizeof(*search->from));
	search->queue[0] = search->from[start] = start;
	while (!spread(search, search->queue[done], start, &queued))
		done++;
	for (uint32_t link = search->queue[done]; link != start; link = search->from[link])
		length++;
	for (uint32_t link = search->queue[done], i = length; i-- > 0; link = search->from[link])
		cycle[i] = link;
	return length;
}

static uint32_t shorten(struct dependencies_search *search, uint32_t *cycle, uint32_t length,
			uint32_t *other)
{
	uint32_t tries = length < SEARCHES_MAX ? length : SEARCHES_MAX, best = length;
	uint32_t starts[SEARCHES_MAX];

	memcpy(starts, cycle, tries * sizeof(*starts));
	for (uint32_t i = 0; i < tries; i++) {
		uint32_t found = shortest_through(search, starts[i], other);
		if (found < best) {
			memcpy(cycle, other, found * sizeof(*cycle));
			best = found;
		}
	}
	return best;
}

int hd_dependencies_find_cycle(const struct hd_dependencies *graph, uint32_t *cycle,
			       uint32_t *length)
{
	struct dependencies_search search;
	struct hd_arena arena = {0};
	int rc = dependencies_cycle_init(&search, graph, &arena);

	if (!rc) {
		uint32_t link = dependencies_cycle_reduce(&search);
		*length = link == HD_NONE ? 0 : walk_round(&search, link, cycle);
		if (*length)
			*length = shorten(&search, cycle, *length, search.mark);
	}
	hd_arena_release(&arena);
	return rc;
}
