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

static int check_edges(const struct hd_multigraph *graph, struct hd_error *err)
{
	for (uint32_t edge = 0; edge < graph->edge_count; edge++)
		if (graph->left[edge] >= graph->left_count ||
		    graph->right[edge] >= graph->right_count)
			return hd_error_set(err, -EINVAL,
					    "edge %u joins the nodes %u and %u, but there are %u "
					    "left and %u right nodes",
					    edge, graph->left[edge], graph->right[edge],
					    graph->left_count, graph->right_count);
	return 0;
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

int hd_colour_edges(const struct hd_multigraph *graph, enum hd_colour_algorithm algorithm,
		    uint32_t *colour, uint32_t *colours, struct hd_error *err)
{
	uint32_t degree;
	int rc = check_edges(graph, err);

	if (rc)
		return rc;
	(void)algorithm;
	if (hd_multigraph_degree(graph, &degree) || (degree && colour_paths(graph, degree, colour)))
		return hd_error_no_memory(err);
	*colours = degree;
	return 0;
}
