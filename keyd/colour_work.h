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
 * König's alternating paths: writes the colours 0 .. degree - 1 of a graph whose nodes have at most
 * `degree` edges, which is not 0. Errors: -ENOMEM.
 */
int colour_paths(const struct hd_multigraph *graph, uint32_t degree, uint32_t *colour);

#endif
