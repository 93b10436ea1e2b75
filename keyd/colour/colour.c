/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/keyd/colour.h>

#include "colour_work.h"

#include <errno.h>
#include <string.h>

bool hd_colour_algorithm_parse(const char *name, enum hd_colour_algorithm *algorithm)
{
	static const struct {
		const char *name;
		enum hd_colour_algorithm algorithm;
	} names[] = {{"auto", HD_COLOUR_AUTO},
		     {"paths", HD_COLOUR_PATHS},
		     {"euler", HD_COLOUR_EULER},
		     {"paper", HD_COLOUR_PAPER}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i].name)) {
			*algorithm = names[i].algorithm;
			return true;
		}
	return false;
}

/* The largest number of times that a number below `nodes` is in a list. */
static int most_frequent(const uint32_t *list, uint32_t count, uint32_t nodes, uint32_t *most)
{
	struct hd_arena arena = {0};
	uint32_t *times = hd_arena_alloc(&arena, nodes, sizeof(*times));

	if (times)
		for (uint32_t i = 0; i < count; i++)
			if (++times[list[i]] > *most)
				*most = times[list[i]];
	hd_arena_release(&arena);
	return times ? 0 : -ENOMEM;
}

int hd_multigraph_degree(const struct hd_multigraph *graph, uint32_t *degree)
{
	uint32_t most = 0;

	if (most_frequent(graph->left, graph->edge_count, graph->left_count, &most) ||
	    most_frequent(graph->right, graph->edge_count, graph->right_count, &most))
		return -ENOMEM;
	*degree = most;
	return 0;
}

/* With fewer nodes than this, alternating paths are faster than Euler splits: 100 against 120 ms for
 * 1,000 x 1,000 nodes of degree 1,000; but 170 against 126 ms for 20,000 x 20,000 of degree 36. */
#define NODES_FOR_EULER (1u << 14)
/* A table of paths with more cells for each edge than this is not worth its memory. */
#define CELLS_PER_EDGE 8u

static int colour_exactly(const struct hd_multigraph *graph, enum hd_colour_algorithm algorithm,
			  uint32_t degree, uint32_t *colour)
{
	uint64_t nodes = (uint64_t)graph->left_count + graph->right_count;
	struct hd_multigraph merged = *graph;
	struct hd_arena arena = {0};
	int rc = 0;

	if (nodes * degree / CELLS_PER_EDGE > graph->edge_count)
		rc = colour_merge(graph, degree, &arena, &merged);
	nodes = (uint64_t)merged.left_count + merged.right_count;
	if (algorithm == HD_COLOUR_AUTO)
		algorithm = nodes < NODES_FOR_EULER ? HD_COLOUR_PATHS : HD_COLOUR_EULER;
	if (!rc)
		rc = (algorithm == HD_COLOUR_EULER ? colour_euler : colour_paths)(&merged, degree,
										  colour);
	hd_arena_release(&arena);
	return rc;
}

int hd_colour_edges(const struct hd_multigraph *graph, enum hd_colour_algorithm algorithm,
		    uint32_t *colour, uint32_t *colours, struct hd_error *err)
{
	uint32_t degree;

	for (uint32_t edge = 0; edge < graph->edge_count; edge++)
		if (graph->left[edge] >= graph->left_count ||
		    graph->right[edge] >= graph->right_count)
			return hd_error_set(err, -EINVAL,
					    "edge %u joins the nodes %u and %u, but there are %u "
					    "left and %u right nodes",
					    edge, graph->left[edge], graph->right[edge],
					    graph->left_count, graph->right_count);
	int rc = hd_multigraph_degree(graph, &degree);
	if (!rc && algorithm == HD_COLOUR_PAPER)
		rc = colour_paper(graph, colour, &degree);
	else if (!rc && degree)
		rc = colour_exactly(graph, algorithm, degree, colour);
	if (rc)
		return hd_error_no_memory(err);
	*colours = degree;
	return 0;
}
