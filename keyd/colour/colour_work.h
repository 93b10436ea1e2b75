/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the algorithms of colour.h have in common. */
#ifndef COLOUR_WORK_H
#define COLOUR_WORK_H

#include <heddle/base/arena.h>
#include <heddle/keyd/colour.h>

/* Edges in the order of their left nodes: those of node u are order[first[u]] .. order[first[u + 1]
 * - 1], by their numbers in the graph. */
struct colour_sides {
	uint32_t *first; /* [left_count + 1] */
	uint32_t *order; /* [edge_count] */
};

/* Memory comes from the arena. Errors: -ENOMEM. O(nodes + edges). */
int colour_sides_make(const struct hd_multigraph *graph, struct hd_arena *arena,
		      struct colour_sides *out);

/*
 * König's alternating paths: writes the colours 0 .. degree - 1 of the edges. No node has more than
 * `degree` edges, which is not 0. Errors: -ENOMEM. O(nodes * degree + edges * nodes) at worst.
 */
int colour_paths(const struct hd_multigraph *graph, uint32_t degree, uint32_t *colour);

/* The same by Euler splits. O(edges) for each split, and the cost of the paths for halves of an odd
 * degree. */
int colour_euler(const struct hd_multigraph *graph, uint32_t degree, uint32_t *colour);

/* A largest matching for each colour. Writes the colours of the edges and their number. Errors:
 * -ENOMEM. O(colours * edges * sqrt(nodes)) at worst. */
int colour_paper(const struct hd_multigraph *graph, uint32_t *colour, uint32_t *colours);

/*
 * Merges nodes of few edges as long as none gets more than `degree`, so that a side has at most
 * 2 * edges / degree + 1 nodes that have an edge. The colours of the merged graph are good for the
 * graph itself. Memory comes from the arena. Errors: -ENOMEM. O(nodes + edges).
 */
int colour_merge(const struct hd_multigraph *graph, uint32_t degree, struct hd_arena *arena,
		 struct hd_multigraph *merged);

#endif
