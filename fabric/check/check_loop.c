/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Links that depend on nothing are taken away until every one left depends on another: whoever
 * then follows any dependency must come round.
 */
#include "check_loop.h"

#define SEARCHES_MAX 64u

struct search {
	const struct hd_fabric *fabric;
	const uint64_t *rows;
	uint32_t words;
	uint32_t *left; /* dependencies on links not taken away; 0 = taken away itself */
	uint32_t *queue;
	uint32_t *from; /* of a breadth-first search: the link before, HD_NONE = not met */
	uint32_t *mark; /* position on the first cycle's walk + 1 */
};

static int search_init(struct search *search, const struct check_lanes *lanes, unsigned lane,
		       struct hd_arena *arena)
{
	uint32_t links = lanes->fabric->isl_count;
	uint32_t **arrays[] = {&search->left, &search->queue, &search->from, &search->mark};

	search->fabric = lanes->fabric;
	search->rows = lanes->rows[lane];
	search->words = lanes->words;
	for (unsigned i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		*arrays[i] = hd_arena_alloc(arena, links, sizeof(**arrays[i]));
	return hd_arena_check(arena);
}

static bool depends(const struct search *search, uint32_t link, uint32_t next)
{
	uint32_t bit = next - search->fabric->isl_base[search->fabric->isl_to[link]];

	return search->rows[(size_t)link * search->words + bit / 64] >> (bit % 64) & 1;
}

static void count_dependencies(struct search *search)
{
	for (uint32_t link = 0; link < search->fabric->isl_count; link++)
		for (uint32_t word = 0; word < search->words; word++)
			search->left[link] += (uint32_t)__builtin_popcountll(
			    search->rows[(size_t)link * search->words + word]);
}

/* Takes one link away; those that now depend on nothing join the queue. */
static uint32_t release(struct search *search, uint32_t link, uint32_t queued)
{
	const struct hd_fabric *fabric = search->fabric;
	uint32_t sw = hd_isl_from(fabric, link);

	for (uint32_t out = fabric->isl_base[sw]; out < fabric->isl_base[sw + 1]; out++) {
		uint32_t before = fabric->isl_reverse[out];
		if (depends(search, before, link) && !--search->left[before])
			search->queue[queued++] = before;
	}
	return queued;
}

/* The lowest link that is left, HD_NONE when the graph has no cycle. */
static uint32_t take_away(struct search *search)
{
	uint32_t links = search->fabric->isl_count, queued = 0;

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

static uint32_t first_successor(const struct search *search, uint32_t link)
{
	uint32_t next = search->fabric->isl_base[search->fabric->isl_to[link]];

	while (!depends(search, link, next) || !search->left[next])
		next++;
	return next;
}

/* Follows first successors until they come round; the ring's links go to `ring`. */
static uint32_t walk_round(struct search *search, uint32_t link, uint32_t *ring)
{
	uint32_t steps = 0;

	for (; !search->mark[link]; link = first_successor(search, link)) {
		search->queue[steps] = link;
		search->mark[link] = ++steps;
	}
	uint32_t start = search->mark[link] - 1;
	memcpy(ring, search->queue + start, (steps - start) * sizeof(*ring));
	return steps - start;
}

/* Lets a breadth-first search from `start` go on from `link`; true when it has come round. */
static bool spread(struct search *search, uint32_t link, uint32_t start, uint32_t *queued)
{
	const struct hd_fabric *fabric = search->fabric;
	uint32_t sw = fabric->isl_to[link];

	for (uint32_t next = fabric->isl_base[sw]; next < fabric->isl_base[sw + 1]; next++) {
		if (!depends(search, link, next) || !search->left[next])
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

/* The shortest cycle through `start`, written backwards from its last link. */
static uint32_t shortest_through(struct search *search, uint32_t start, uint32_t *cycle)
{
	uint32_t queued = 1, done = 0, length = 1;

	memset(search->from, 0xFF, search->fabric->isl_count * sizeof(*search->from));
	search->queue[0] = search->from[start] = start;
	while (!spread(search, search->queue[done], start, &queued))
		done++;
	for (uint32_t link = search->queue[done]; link != start; link = search->from[link])
		length++;
	for (uint32_t link = search->queue[done], i = length; i-- > 0; link = search->from[link])
		cycle[i] = link;
	return length;
}

static uint32_t shorten(struct search *search, uint32_t *cycle, uint32_t length, uint32_t *other)
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

int check_loop_find(const struct check_lanes *lanes, unsigned lane, uint32_t *cycle,
		    uint32_t *length)
{
	struct search search;
	struct hd_arena arena = {0};
	int status = search_init(&search, lanes, lane, &arena);

	if (!status) {
		count_dependencies(&search);
		uint32_t link = take_away(&search);
		*length = link == HD_NONE ? 0 : walk_round(&search, link, cycle);
		if (*length)
			*length = shorten(&search, cycle, *length, search.mark);
	}
	hd_arena_release(&arena);
	return status;
}
