/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A spanning tree whose paths are free of credit loops together with others. A source without another
 * path takes the tree's. Nue calls these escape paths (J. Domke, T. Hoefler, S. Matsuoka,
 * "Routing on the Channel Dependency Graph: A New Approach to Deadlock-Free, Destination-Based,
 * High-Performance Routing for Lossless Interconnection Networks", 2016).
 */
#ifndef ENGINES_ASIDE_TREE_H
#define ENGINES_ASIDE_TREE_H

#include "aside_paths.h"

struct aside_tree {
	uint32_t *up; /* [switch_count] link towards the root of the component */
	uint32_t *towards; /* [switch_count] see aside_tree_point() */
	uint32_t *queue; /* [switch_count] scratch */
	uint32_t *root; /* [switch_count] of a component, by its number; scratch */
	bool *tried; /* [switch_count] as a root; scratch */
	uint32_t missing; /* switches that no path beside the others reaches */
};

/* Memory from the arena of `paths`. Errors: -ENOMEM. */
int aside_tree_init(struct aside_tree *tree, struct aside_paths *paths);

/*
 * Looks for a tree whose paths lane 0 takes beside those that it knows already, from several roots.
 * Then tree->missing is 0, and the lane knows the paths of the tree. Otherwise the lane is as
 * before, and the tree is the one with the fewest paths that are refused. Cost: O(links * radix)
 * additions to the graph for each root.
 */
void aside_tree_find(struct aside_tree *tree, struct aside_paths *paths, const uint32_t *component);

/* Lane 0 forgets what it knows, and takes the paths of the tree. */
void aside_tree_impose(const struct aside_tree *tree, struct aside_paths *paths);

/* tree->towards becomes the next link of each switch towards a destination in its component. */
void aside_tree_point(struct aside_tree *tree, const struct hd_fabric *fabric,
		      uint32_t destination);

#endif
