/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * König's proof as an algorithm. The edges get their colours one after the other. If the two ends of
 * an edge have a free colour in common, the edge gets it. Else colour a is free at its left end and
 * b at its right end. The path from the right end whose edges have the colours a, b, a, ... never
 * comes to the left end, because it comes to left nodes by colour a. Its edges swap a and b, and the
 * edge gets a.
 *
 * A node's row of the table has for each colour the node at the other end. It does not tell which of
 * several parallel edges has which colour. That does not matter: parallel edges get their colours
 * from the table in the end. So a path reads only two cells for each of its nodes.
 */
#include "colour_work.h"

#include <errno.h>
#include <heddle/base/index.h>
#include <string.h>

#define WORD 64u

/* Right nodes come after the left ones. */
struct paths {
	uint32_t degree; /* colours */
	uint32_t words; /* of a node's set of free colours */
	uint32_t *row; /* [node * degree + colour] the node at the other end, or HD_NONE */
	uint64_t *free; /* [node * words + word] */
	uint32_t *full; /* [node] none of so many first words has a free colour */
};

static int colour_paths_allocate(struct paths *paths, uint32_t nodes, uint32_t degree,
				 struct hd_arena *arena)
{
	paths->degree = degree;
	paths->words = (degree + WORD - 1) / WORD;
	paths->row = hd_arena_alloc(arena, (size_t)nodes * degree, sizeof(*paths->row));
	paths->free = hd_arena_alloc(arena, (size_t)nodes * paths->words, sizeof(*paths->free));
	paths->full = hd_arena_alloc(arena, nodes, sizeof(*paths->full));
	if (arena->failed)
		return -ENOMEM;
	uint32_t rest = paths->degree % WORD;
	memset(paths->row, 0xFF, (size_t)nodes * paths->degree * sizeof(*paths->row));
	for (uint32_t node = 0; node < nodes; node++) {
		uint64_t *free = &paths->free[(size_t)node * paths->words];
		for (uint32_t word = 0; word < paths->words; word++)
			free[word] = UINT64_MAX;
		if (rest)
			free[paths->words - 1] = (UINT64_C(1) << rest) - 1;
	}
	return 0;
}

static uint32_t lowest(uint64_t word)
{
	return (uint32_t)__builtin_ctzll(word);
}

static uint64_t *free_of(const struct paths *paths, uint32_t node)
{
	return &paths->free[(size_t)node * paths->words];
}

/* The lowest colour that is free at a node, which has one. */
static uint32_t lowest_free(struct paths *paths, uint32_t node)
{
	const uint64_t *free = free_of(paths, node);
	uint32_t word = paths->full[node];

	while (!free[word])
		word++;
	paths->full[node] = word;
	return word * WORD + lowest(free[word]);
}

/* The lowest colour that is free at both nodes; HD_NONE if they have none in common. */
static uint32_t lowest_common(const struct paths *paths, uint32_t left, uint32_t right)
{
	const uint64_t *a = free_of(paths, left), *b = free_of(paths, right);
	uint32_t word = paths->full[left];

	if (word < paths->full[right])
		word = paths->full[right];
	for (; word < paths->words; word++)
		if (a[word] & b[word])
			return word * WORD + lowest(a[word] & b[word]);
	return HD_NONE;
}

static uint32_t *cell(const struct paths *paths, uint32_t node, uint32_t colour)
{
	return &paths->row[(size_t)node * paths->degree + colour];
}

static void set_used(struct paths *paths, uint32_t node, uint32_t colour)
{
	free_of(paths, node)[colour / WORD] &= ~(UINT64_C(1) << colour % WORD);
}

/* The end of a path lacks one of the colours, and now the other one. */
static void swap_free(struct paths *paths, uint32_t node, uint32_t now_free, uint32_t now_used)
{
	uint32_t word = now_free / WORD;

	free_of(paths, node)[word] |= UINT64_C(1) << now_free % WORD;
	if (paths->full[node] > word)
		paths->full[node] = word;
	set_used(paths, node, now_used);
}

/* Frees colour a at a node where b is free: the edges of the path that leaves it by a swap colours.
 */
static void flip(struct paths *paths, uint32_t node, uint32_t a, uint32_t b)
{
	uint32_t by = a, next;

	swap_free(paths, node, a, b);
	for (;;) {
		uint32_t *in_a = cell(paths, node, a), *in_b = cell(paths, node, b), kept = *in_a;

		next = by == a ? kept : *in_b;
		*in_a = *in_b;
		*in_b = kept;
		if (next == HD_NONE)
			break;
		node = next;
		by = a + b - by;
	}
	/* the node lacks `by`, before and after the swap by the other name */
	swap_free(paths, node, a + b - by, by);
}

static void colour_paths_add(struct paths *paths, uint32_t left, uint32_t right)
{
	uint32_t colour = lowest_common(paths, left, right);

	if (colour == HD_NONE) {
		colour = lowest_free(paths, left);
		flip(paths, right, colour, lowest_free(paths, right));
	}
	*cell(paths, left, colour) = right;
	*cell(paths, right, colour) = left;
	set_used(paths, left, colour);
	set_used(paths, right, colour);
}

/* Gives each edge a colour that its left node's row has for its right node. */
static void deal_out(const struct paths *paths, const struct hd_multigraph *graph,
		     const struct colour_sides *sides, uint32_t *newest, uint32_t *older,
		     uint32_t *colour)
{
	for (uint32_t left = 0; left < graph->left_count; left++) {
		for (uint32_t i = sides->first[left]; i < sides->first[left + 1]; i++) {
			uint32_t edge = sides->order[i], right = graph->right[edge];

			older[edge] = newest[right];
			newest[right] = edge + 1;
		}
		for (uint32_t c = 0; c < paths->degree; c++) {
			uint32_t node = *cell(paths, left, c), edge;

			if (node == HD_NONE)
				continue;
			edge = newest[node - graph->left_count] - 1;
			newest[node - graph->left_count] = older[edge];
			colour[edge] = c;
		}
	}
}

int colour_paths(const struct hd_multigraph *graph, uint32_t degree, uint32_t *colour)
{
	struct hd_arena arena = {0};
	struct colour_sides sides;
	struct paths paths;
	uint32_t *newest, *older;
	int rc = colour_sides_make(graph, &arena, &sides);

	if (rc)
		goto release;
	newest = hd_arena_alloc(&arena, graph->right_count, sizeof(*newest));
	older = hd_arena_alloc(&arena, graph->edge_count, sizeof(*older));
	rc = colour_paths_allocate(&paths, graph->left_count + graph->right_count, degree, &arena);
	if (rc)
		goto release;
	for (uint32_t i = 0; i < graph->edge_count; i++) {
		uint32_t edge = sides.order[i];

		colour_paths_add(&paths, graph->left[edge], graph->left_count + graph->right[edge]);
	}
	deal_out(&paths, graph, &sides, newest, older, colour);
release:
	hd_arena_release(&arena);
	return rc;
}
