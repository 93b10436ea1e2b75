/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Colours for the edges of a bipartite multigraph: no two edges of a node get the same colour. As
 * many colours as the largest degree are enough (D. König, 1916). In a two-level fat tree the nodes
 * are leaves, an edge is a flow, and a colour is a spine: flows of different colours share no link.
 */
#ifndef HEDDLE_KEYD_COLOUR_H
#define HEDDLE_KEYD_COLOUR_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_multigraph {
	uint32_t left_count, right_count; /* nodes of each side */
	uint32_t edge_count;
	const uint32_t *left, *right; /* [edge_count] nodes of each edge */
};

enum hd_colour_algorithm {
	HD_COLOUR_AUTO, /* alternating paths for few nodes, Euler splits for many */
	HD_COLOUR_PATHS, /* König's alternating paths */
	HD_COLOUR_EULER, /* Euler splits; alternating paths where a degree is odd */
	HD_COLOUR_PAPER /* a matching of most edges for each colour; may need more colours than the
			 * largest degree (paper 003, section 4) */
};

/* "auto", "paths", "euler", "paper" to the algorithm; false for other names. */
bool hd_colour_algorithm_parse(const char *name, enum hd_colour_algorithm *algorithm);

/* The largest number of edges of one node. O(nodes + edges). Errors: -ENOMEM. */
int hd_multigraph_degree(const struct hd_multigraph *graph, uint32_t *degree);

/*
 * Writes the colour of each edge, from 0, to colour[edge_count], and the number of colours to
 * *colours: the largest degree, except with HD_COLOUR_PAPER. The same graph gets the same colours.
 * Errors: -EINVAL an edge names a node that does not exist, -ENOMEM. Cost: O(edges log degree) by
 * Euler splits where degrees are powers of two, O(edges * nodes) at worst by paths.
 */
int hd_colour_edges(const struct hd_multigraph *graph, enum hd_colour_algorithm algorithm,
		    uint32_t *colour, uint32_t *colours, struct hd_error *err);

#endif
