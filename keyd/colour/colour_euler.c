/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Euler splits (H. N. Gabow, "Using Euler partitions to edge color bipartite multigraphs", 1976). The
 * edges of each node are paired. Edges that are joined by a pair at one end or the other form paths
 * and cycles, and as all cycles have an even length, every second edge of each goes to one half and
 * the rest to the other. So a node of d edges has d / 2 of them in each half, rounded up or down, and
 * each half gets colours of its own. Halves of an odd degree could need a colour more; those are
 * coloured by alternating paths.
 *
 * The edges lie in the order of their left nodes, and both halves keep it: pairs at left nodes are
 * neighbours in memory, and only every second step of a walk goes to a distant place.
 */
#include "colour_work.h"

#include <errno.h>
#include <heddle/base/index.h>
#include <string.h>

struct mates {
	uint32_t left, right; /* the other edge of the pair at each end, or HD_NONE */
};

struct euler {
	uint32_t left_count, right_count;
	uint32_t *left, *right, *edge; /* [edges] nodes, and number in the graph, of each place */
	uint32_t *spare; /* [edges] */
	struct mates *mates; /* [edges] */
	bool *second; /* [edges] goes to the second half */
	bool *done; /* [edges] */
	uint32_t *open; /* [right] the place of an edge without a mate; HD_NONE between splits */
	uint32_t *colour; /* [edges] by number in the graph */
};

static int colour_euler_allocate(struct euler *euler, const struct hd_multigraph *graph,
				 struct hd_arena *arena)
{
	uint32_t edges = graph->edge_count;

	euler->left = hd_arena_alloc(arena, edges, sizeof(uint32_t));
	euler->right = hd_arena_alloc(arena, edges, sizeof(uint32_t));
	euler->spare = hd_arena_alloc(arena, edges, sizeof(uint32_t));
	euler->mates = hd_arena_alloc(arena, edges, sizeof(*euler->mates));
	euler->second = hd_arena_alloc(arena, edges, sizeof(*euler->second));
	euler->done = hd_arena_alloc(arena, edges, sizeof(*euler->done));
	euler->open = hd_arena_alloc(arena, graph->right_count, sizeof(uint32_t));
	if (arena->failed)
		return -ENOMEM;
	memset(euler->open, 0xFF, graph->right_count * sizeof(uint32_t));
	for (uint32_t i = 0; i < edges; i++) {
		euler->left[i] = graph->left[euler->edge[i]];
		euler->right[i] = graph->right[euler->edge[i]];
	}
	return 0;
}

static uint32_t colour_euler_take(struct euler *euler, uint32_t place, bool second)
{
	euler->done[place] = true;
	euler->second[place] = second;
	return second;
}

/* Deals out the edges of the path or cycle on which an edge lies. Returns how many of them went to
 * the second half. */
static uint32_t colour_euler_walk(struct euler *euler, uint32_t from)
{
	const struct mates *mates = euler->mates;
	uint32_t place = from, seconds = 0;

	for (;;) { /* leaves each edge of the first half by its left end */
		colour_euler_take(euler, place, false);
		place = mates[place].left;
		if (place == HD_NONE)
			break;
		seconds += colour_euler_take(euler, place, true);
		place = mates[place].right;
		if (place == from)
			return seconds;
		if (place == HD_NONE)
			break;
	}
	place = mates[from].right;
	while (place != HD_NONE) { /* the other way, for a path */
		seconds += colour_euler_take(euler, place, true);
		place = mates[place].left;
		if (place == HD_NONE)
			break;
		colour_euler_take(euler, place, false);
		place = mates[place].right;
	}
	return seconds;
}

/* Brings the edges of the second half behind those of the first, in the same order. */
static void part(const struct euler *euler, uint32_t *list, uint32_t begin, uint32_t end)
{
	uint32_t firsts = begin, seconds = 0;

	for (uint32_t i = begin; i < end; i++)
		if (euler->second[i])
			euler->spare[seconds++] = list[i];
		else
			list[firsts++] = list[i];
	memcpy(list + firsts, euler->spare, seconds * sizeof(*list));
}

/* Gives the edges of some places, at most `degree` at each node, colours from `first` on. */
static int colour_places(struct euler *euler, uint32_t begin, uint32_t end, uint32_t degree,
			 uint32_t first)
{
	uint32_t half = degree / 2, middle;
	int rc;

	if (degree == 1 || begin == end) {
		for (uint32_t i = begin; i < end; i++)
			euler->colour[euler->edge[i]] = first;
		return 0;
	}
	if (degree % 2) {
		const struct hd_multigraph graph = {.left_count = euler->left_count,
						    .right_count = euler->right_count,
						    .edge_count = end - begin,
						    .left = euler->left + begin,
						    .right = euler->right + begin};
		uint32_t *own = euler->spare;

		memset(own, 0xFF, (end - begin) * sizeof(*own));
		rc = colour_paths(&graph, degree, own);
		for (uint32_t i = begin; !rc && i < end; i++)
			euler->colour[euler->edge[i]] = first + own[i - begin];
		return rc;
	}
	/* Halves the edges of some places. */
	uint32_t seconds = 0;
	struct mates *mates = euler->mates;
	for (uint32_t i = begin; i < end; i++) {
		uint32_t *open = &euler->open[euler->right[i]];
		bool paired = i > begin && euler->left[i - 1] == euler->left[i] &&
			      mates[i - 1].left == HD_NONE;
		mates[i] = (struct mates){paired ? i - 1 : HD_NONE, *open};
		if (paired)
			mates[i - 1].left = i;
		if (*open == HD_NONE) {
			*open = i;
		} else {
			mates[*open].right = i;
			*open = HD_NONE;
		}
	}
	for (uint32_t i = begin; i < end; i++)
		euler->open[euler->right[i]] = HD_NONE;
	memset(euler->done + begin, 0, (end - begin) * sizeof(*euler->done));
	for (uint32_t i = begin; i < end; i++)
		if (!euler->done[i])
			seconds += colour_euler_walk(euler, i);
	part(euler, euler->left, begin, end);
	part(euler, euler->right, begin, end);
	part(euler, euler->edge, begin, end);
	middle = end - seconds;
	rc = colour_places(euler, begin, middle, half, first);
	return rc ? rc : colour_places(euler, middle, end, half, first + half);
}

int colour_euler(const struct hd_multigraph *graph, uint32_t degree, uint32_t *colour)
{
	struct hd_arena arena = {0};
	struct euler euler = {
	    .left_count = graph->left_count, .right_count = graph->right_count, .colour = colour};
	struct colour_sides sides;
	int rc = colour_sides_make(graph, &arena, &sides);

	if (!rc) {
		euler.edge = sides.order;
		rc = colour_euler_allocate(&euler, graph, &arena);
	}
	if (!rc)
		rc = colour_places(&euler, 0, graph->edge_count, degree, 0);
	hd_arena_release(&arena);
	return rc;
}
