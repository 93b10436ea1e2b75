/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Colours and matchings of bipartite multigraphs, found by trying. */
#ifndef ORACLE_COLOUR_H
#define ORACLE_COLOUR_H

#include <heddle/keyd/colour.h>

#define ORACLE_COLOUR_EDGES 16u

/* The least number of colours, found by trying all of them. At most ORACLE_COLOUR_EDGES edges.
 * Exponential. */
uint32_t oracle_colours(const struct hd_multigraph *graph);

/*
 * The number of edges of a largest matching among the edges that have in[edge] set: each left node
 * in turn looks for an augmenting path. HD_NONE: no memory. O(nodes * edges).
 */
uint32_t oracle_matching(const struct hd_multigraph *graph, const bool *in);

#endif
