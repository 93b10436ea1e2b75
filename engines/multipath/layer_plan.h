/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The best tree for a further LID, whatever lanes it needs: paths of least cost (layer_choice.h) among those that are one
 * hop longer than the shortest at most.
 *
 * The tree grows from the destination outwards. A switch goes to one that is nearer to the destination, or sideways to
 * one as far away. The latter must itself be on a shortest path: then the path is one hop longer. So some switches of a
 * level are opened for others, and have to go on to a nearer switch. The next one to be opened is always that which
 * saves most, what it cannot save any more itself taken off (the greedy algorithm for facility location).
 */
#ifndef ENGINES_MULTIPATH_LAYER_PLAN_H
#define ENGINES_MULTIPATH_LAYER_PLAN_H

#include "layer_choice.h"

/* Something to open. */
struct layer_plan_way {
	int64_t worth; /* at most */
	uint32_t sw;
};

struct layer_planner {
	const struct hd_fabric *fabric;
	struct layer_choice *choice;
	/* of the tree at hand: */
	uint32_t *hops; /* [switch_count] by the tree */
	uint64_t *cost; /* [switch_count] of the path to a nearer switch */
	uint64_t *saved; /* [isl_count] by a path over the link, which leads sideways */
	uint64_t *gain; /* [switch_count] saved by the way chosen; 0: that to a nearer switch */
	uint32_t *by; /* [switch_count] link sideways that was chosen, HD_NONE: none */
	bool *open; /* [switch_count] others may go by way of it */
	struct layer_plan_way *heap; /* [switch_count] the best one first */
	uint32_t heap_count;
};

/* Memory from the arena. Errors: -ENOMEM. */
int layer_planner_begin(struct layer_planner *planner, struct layer_choice *choice,
			struct hd_arena *arena);

/*
 * Fills host->tree[offset]. The choice has been aimed at the host. The DAG has the shortest paths to
 * its switch. Cost: O(switches * (radix * hops + LIDs of the host * hops + log switches)), about.
 */
void layer_plan_tree(struct layer_planner *planner, const struct dag *dag,
		     const struct layer_trees *host, uint32_t offset);

#endif
