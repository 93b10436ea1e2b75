/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The loop of paper 003, section 4: take a matching of as many edges as possible for the next colour,
 * and go on with the edges that are left. A largest matching need not cover every node of the largest
 * degree (a-x, b-x, b-y, c-y: a-x and c-y leave two edges at b), so it can need more colours than
 * König's paths. The matching is that of J. Hopcroft and R. Karp, "An n^(5/2) algorithm for maximum
 * matchings in bipartite graphs", 1973: each round looks for shortest augmenting paths by levels.
 */
#include "colour_work.h"

#include <errno.h>
#include <heddle/base/index.h>
#include <string.h>

struct matching {
	const struct hd_multigraph *graph;
	struct colour_sides sides;
	uint32_t *end; /* [left] its edges that have no colour yet end here in sides.order */
	uint32_t *of_left, *of_right; /* [node] its edge of the matching, or HD_NONE */
	uint32_t *level; /* [left] how far from a left node without an edge; HD_NONE: not reached */
	uint32_t *next; /* [left] the place in sides.order of the edge to try next */
	uint32_t *queue; /* [left] also the stack of a search */
};

static int colour_paper_allocate(struct matching *matching, struct hd_arena *arena)
{
	const struct hd_multigraph *graph = matching->graph;
	uint32_t left = graph->left_count;

	matching->end = hd_arena_alloc(arena, left, sizeof(uint32_t));
	matching->of_left = hd_arena_alloc(arena, left, sizeof(uint32_t));
	matching->of_right = hd_arena_alloc(arena, graph->right_count, sizeof(uint32_t));
	matching->level = hd_arena_alloc(arena, left, sizeof(uint32_t));
	matching->next = hd_arena_alloc(arena, left, sizeof(uint32_t));
	matching->queue = hd_arena_alloc(arena, left, sizeof(uint32_t));
	if (arena->failed)
		return -ENOMEM;
	memcpy(matching->end, matching->sides.first + 1, left * sizeof(uint32_t));
	return 0;
}

/* The left node that a right one is matched with. */
static uint32_t partner(const struct matching *matching, uint32_t right)
{
	return matching->graph->left[matching->of_right[right]];
}

/* Numbers the left nodes by their distance from those without an edge of the matching. Returns
 * whether a right node without one can be reached. */
static bool find_levels(struct matching *matching)
{
	uint32_t count = 0;
	bool reached = false;

	for (uint32_t left = 0; left < matching->graph->left_count; left++) {
		bool alone = matching->of_left[left] == HD_NONE;

		matching->level[left] = alone ? 0 : HD_NONE;
		matching->next[left] = matching->sides.first[left];
		if (alone)
			matching->queue[count++] = left;
	}
	for (uint32_t at = 0; at < count; at++) {
		uint32_t left = matching->queue[at];

		for (uint32_t i = matching->sides.first[left]; i < matching->end[left]; i++) {
			uint32_t right = matching->graph->right[matching->sides.order[i]], other;

			if (matching->of_right[right] == HD_NONE) {
				reached = true;
				continue;
			}
			other = partner(matching, right);
			if (matching->level[other] != HD_NONE)
				continue;
			matching->level[other] = matching->level[left] + 1;
			matching->queue[count++] = other;
		}
	}
	return reached;
}

/* Each node of the stack takes the edge that it tries. */
static void augment(struct matching *matching, uint32_t depth)
{
	while (depth--) {
		uint32_t left = matching->queue[depth];
		uint32_t edge = matching->sides.order[matching->next[left]];

		matching->of_left[left] = edge;
		matching->of_right[matching->graph->right[edge]] = edge;
	}
}

/* Looks for an augmenting path, depth first, along rising levels. */
static bool colour_paper_search(struct matching *matching, uint32_t root)
{
	uint32_t depth = 1;

	matching->queue[0] = root;
	while (depth) {
		uint32_t left = matching->queue[depth - 1], right, other;

		if (matching->next[left] == matching->end[left]) { /* a dead end */
			if (--depth)
				matching->next[matching->queue[depth - 1]]++;
			continue;
		}
		right = matching->graph->right[matching->sides.order[matching->next[left]]];
		if (matching->of_right[right] == HD_NONE) {
			augment(matching, depth);
			return true;
		}
		other = partner(matching, right);
		if (matching->level[other] == matching->level[left] + 1)
			matching->queue[depth++] = other;
		else
			matching->next[left]++;
	}
	return false;
}

static void match(struct matching *matching)
{
	const struct hd_multigraph *graph = matching->graph;
	bool grown = true;

	memset(matching->of_left, 0xFF, graph->left_count * sizeof(uint32_t));
	memset(matching->of_right, 0xFF, graph->right_count * sizeof(uint32_t));
	while (grown && find_levels(matching)) {
		grown = false;
		for (uint32_t left = 0; left < graph->left_count; left++)
			if (matching->of_left[left] == HD_NONE &&
			    colour_paper_search(matching, left))
				grown = true;
	}
}

/* Gives the edges of the matching a colour and takes them out of the graph. Returns their number. */
static uint32_t take_out(struct matching *matching, uint32_t given, uint32_t *colour)
{
	uint32_t taken = 0;

	for (uint32_t left = 0; left < matching->graph->left_count; left++) {
		uint32_t edge = matching->of_left[left], at = matching->sides.first[left];

		if (edge == HD_NONE)
			continue;
		while (matching->sides.order[at] != edge)
			at++;
		matching->sides.order[at] = matching->sides.order[--matching->end[left]];
		colour[edge] = given;
		taken++;
	}
	return taken;
}

int colour_paper(const struct hd_multigraph *graph, uint32_t *colour, uint32_t *colours)
{
	struct hd_arena arena = {0};
	struct matching matching = {.graph = graph};
	uint32_t used = 0, left = graph->edge_count;
	int rc = colour_sides_make(graph, &arena, &matching.sides);

	if (!rc)
		rc = colour_paper_allocate(&matching, &arena);
	if (rc)
		goto release;
	while (left) {
		match(&matching);
		left -= take_out(&matching, used++, colour);
	}
	*colours = used;
release:
	hd_arena_release(&arena);
	return rc;
}
