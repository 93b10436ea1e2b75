/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "colour_work.h"

#include <errno.h>

int colour_sides_make(const struct hd_multigraph *graph, struct hd_arena *arena,
		      struct colour_sides *out)
{
	uint32_t *first = hd_arena_alloc(arena, (size_t)graph->left_count + 2, sizeof(*first));
	uint32_t *order = hd_arena_alloc(arena, graph->edge_count, sizeof(*order));

	if (arena->failed)
		return -ENOMEM;
	for (uint32_t edge = 0; edge < graph->edge_count; edge++)
		first[graph->left[edge] + 2]++;
	for (uint32_t node = 2; node < graph->left_count + 2; node++)
		first[node] += first[node - 1];
	for (uint32_t edge = 0; edge < graph->edge_count; edge++)
		order[first[graph->left[edge] + 1]++] = edge;
	*out = (struct colour_sides){first, order};
	return 0;
}

/* into[node]: the merged node. Returns how many of them there are. */
static uint32_t merge_side(const uint32_t *list, uint32_t edges, uint32_t nodes, uint32_t degree,
			   uint32_t *into)
{
	uint32_t merged = 0, sum = 0;

	for (uint32_t edge = 0; edge < edges; edge++)
		into[list[edge]]++;
	for (uint32_t node = 0; node < nodes; node++) {
		uint32_t own = into[node];

		if (own > degree - sum) {
			merged++;
			sum = 0;
		}
		sum += own;
		into[node] = merged;
	}
	return merged + 1;
}

int colour_merge(const struct hd_multigraph *graph, uint32_t degree, struct hd_arena *arena,
		 struct hd_multigraph *merged)
{
	uint32_t edges = graph->edge_count;
	uint32_t *into_left = hd_arena_alloc(arena, graph->left_count, sizeof(uint32_t));
	uint32_t *into_right = hd_arena_alloc(arena, graph->right_count, sizeof(uint32_t));
	uint32_t *left = hd_arena_alloc(arena, edges, sizeof(*left));
	uint32_t *right = hd_arena_alloc(arena, edges, sizeof(*right));

	if (arena->failed)
		return -ENOMEM;
	*merged = (struct hd_multigraph){
	    .left_count = merge_side(graph->left, edges, graph->left_count, degree, into_left),
	    .right_count = merge_side(graph->right, edges, graph->right_count, degree, into_right),
	    .edge_count = edges,
	    .left = left,
	    .right = right};
	for (uint32_t edge = 0; edge < edges; edge++) {
		left[edge] = into_left[graph->left[edge]];
		right[edge] = into_right[graph->right[edge]];
	}
	return 0;
}
