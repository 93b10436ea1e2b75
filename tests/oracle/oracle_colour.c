/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_colour.h"

#include <assert.h>
#include <heddle/base/index.h>
#include <stdlib.h>

static bool fits(const struct hd_multigraph *graph, const uint32_t *colour, uint32_t edge)
{
	for (uint32_t other = 0; other < edge; other++)
		if (colour[other] == colour[edge] && (graph->left[other] == graph->left[edge] ||
						      graph->right[other] == graph->right[edge]))
			return false;
	return true;
}

/* Whether the edges from `edge` on can have colours below `colours`; one that is used for the first
 * time is the lowest of those not used yet. */
static bool can_colour(const struct hd_multigraph *graph, uint32_t *colour, uint32_t edge,
		       uint32_t used, uint32_t colours)
{
	if (edge == graph->edge_count)
		return true;
	for (colour[edge] = 0; colour[edge] < colours && colour[edge] <= used; colour[edge]++)
		if (fits(graph, colour, edge) &&
		    can_colour(graph, colour, edge + 1, used + (colour[edge] == used), colours))
			return true;
	return false;
}

uint32_t oracle_colours(const struct hd_multigraph *graph)
{
	uint32_t colour[ORACLE_COLOUR_EDGES], colours = 0;

	assert(graph->edge_count <= ORACLE_COLOUR_EDGES);
	while (!can_colour(graph, colour, 0, 0, colours))
		colours++;
	return colours;
}

struct matching {
	const struct hd_multigraph *graph;
	const bool *in;
	uint32_t *of_right; /* [right] the left node that it is matched with */
	bool *seen; /* [right] */
};

static bool augment(struct matching *matching, uint32_t left)
{
	const struct hd_multigraph *graph = matching->graph;

	for (uint32_t edge = 0; edge < graph->edge_count; edge++) {
		uint32_t right = graph->right[edge];

		if (!matching->in[edge] || graph->left[edge] != left || matching->seen[right])
			continue;
		matching->seen[right] = true;
		if (matching->of_right[right] == HD_NONE ||
		    augment(matching, matching->of_right[right])) {
			matching->of_right[right] = left;
			return true;
		}
	}
	return false;
}

uint32_t oracle_matching(const struct hd_multigraph *graph, const bool *in)
{
	struct matching matching = {
	    .graph = graph,
	    .in = in,
	    .of_right = malloc((graph->right_count + 1) * sizeof(uint32_t)),
	    .seen = calloc(graph->right_count + 1, sizeof(bool)),
	};
	uint32_t size = 0;

	if (!matching.of_right || !matching.seen)
		size = HD_NONE;
	for (uint32_t right = 0; size != HD_NONE && right < graph->right_count; right++)
		matching.of_right[right] = HD_NONE;
	for (uint32_t left = 0; size != HD_NONE && left < graph->left_count; left++) {
		for (uint32_t right = 0; right < graph->right_count; right++)
			matching.seen[right] = false;
		size += augment(&matching, left);
	}
	free(matching.of_right);
	free(matching.seen);
	return size;
}
