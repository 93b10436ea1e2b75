/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bipartite multigraphs for the tests of colours. */
#ifndef COLOUR_TESTING_H
#define COLOUR_TESTING_H

#include <heddle/base/random.h>
#include <heddle/keyd/colour.h>
#include <stdlib.h>
#include <string.h>

#define EDGES_MAX 65536u

struct testing_graph {
	struct hd_multigraph graph;
	uint32_t left[EDGES_MAX], right[EDGES_MAX];
};

static inline void testing_begin(struct testing_graph *made, uint32_t left_count,
				 uint32_t right_count)
{
	made->graph = (struct hd_multigraph){.left_count = left_count,
					     .right_count = right_count,
					     .left = made->left,
					     .right = made->right};
}

static inline void testing_edge(struct testing_graph *made, uint32_t left, uint32_t right)
{
	made->left[made->graph.edge_count] = left;
	made->right[made->graph.edge_count++] = right;
}

/* At most so many edges between any nodes; some nodes take most of them, many edges are parallel. */
static inline void testing_any(struct testing_graph *made, uint32_t most, uint64_t *random)
{
	uint32_t left = 1 + (uint32_t)hd_random_below(random, 12);
	uint32_t right = 1 + (uint32_t)hd_random_below(random, 12);
	uint32_t edges = (uint32_t)hd_random_below(random, most + 1);
	uint32_t favour = (uint32_t)hd_random_below(random, 4);

	testing_begin(made, left, right);
	for (uint32_t i = 0; i < edges; i++) {
		uint32_t u = (uint32_t)hd_random_below(random, left);
		uint32_t v = (uint32_t)hd_random_below(random, right);

		testing_edge(made, favour & 1 ? u * u / left : u, favour & 2 ? v * v / right : v);
	}
}

/* A random permutation of leaves * hosts hosts, of which so many in a thousand send. */
static inline void testing_permutation(struct testing_graph *made, uint32_t leaves, uint32_t hosts,
				       uint32_t load, uint64_t *random)
{
	static uint32_t to[EDGES_MAX];
	uint32_t count = leaves * hosts;

	testing_begin(made, leaves, leaves);
	for (uint32_t i = 0; i < count; i++)
		to[i] = i;
	for (uint32_t i = count; i > 1; i--) {
		uint32_t j = (uint32_t)hd_random_below(random, i), swapped = to[j];

		to[j] = to[i - 1];
		to[i - 1] = swapped;
	}
	for (uint32_t i = 0; i < count; i++)
		if (hd_random_below(random, 1000) < load)
			testing_edge(made, i / hosts, to[i] / hosts);
}

/* Whether no two edges of a node have the same colour and all colours are below `colours`. */
static inline bool testing_is_proper(const struct hd_multigraph *graph, const uint32_t *colour,
				     uint32_t colours)
{
	size_t nodes = (size_t)graph->left_count + graph->right_count;
	bool *seen = calloc(nodes * colours + 1, sizeof(*seen)), proper = seen;

	for (uint32_t i = 0; proper && i < graph->edge_count; i++) {
		size_t left = (size_t)graph->left[i] * colours + colour[i];
		size_t right = ((size_t)graph->left_count + graph->right[i]) * colours + colour[i];

		proper = colour[i] < colours && !seen[left] && !seen[right];
		if (proper)
			seen[left] = seen[right] = true;
	}
	free(seen);
	return proper;
}

#endif
