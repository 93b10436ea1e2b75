/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Virtual lanes for one path after the other: a path gets a lane that stays free of credit loops with it, or none. The
 * graphs of the lanes never have a cycle (heddle/fabric/dependencies.h), and so they prove the paths that they have.
 */
#ifndef ENGINES_MULTIPATH_LAYER_LANES_H
#define ENGINES_MULTIPATH_LAYER_LANES_H

#include <heddle/fabric/dependencies.h>

#define LAYER_LANES_MOST 15u /* data lanes of InfiniBand */
#define LAYER_LANES_NONE 0xFF

struct layer_lanes {
	const struct hd_fabric *fabric;
	unsigned count; /* lanes that paths may use */
	struct hd_dependency_workspace workspace;
	struct hd_dependencies graphs[LAYER_LANES_MOST];
	uint64_t paths[LAYER_LANES_MOST]; /* hosts that send on the paths of a lane */
	uint64_t before[LAYER_LANES_MOST]; /* the same when the batch was begun */
	/* [isl_count] the first of parallel links; NULL: each link stands for itself */
	uint32_t *merged;
};

/* Empty lanes, 1 .. LAYER_LANES_MOST of them. Parallel cables count as one link, so that adaptive routing may choose
 * among them on any lane; not any more once the caller sets merged to NULL, with empty lanes. Errors: -ENOMEM. Memory:
 * that of the graphs, from the arena. */
int layer_lanes_begin(struct layer_lanes *lanes, const struct hd_fabric *fabric, unsigned count,
		      struct hd_arena *arena);

/* Forgets all paths. */
void layer_lanes_clear(struct layer_lanes *lanes);

/*
 * Puts a path of `hosts` source hosts on the lane `wanted` if that stays free of credit loops (LAYER_LANES_NONE: none in
 * particular). With `move`, else on a lane that has all its turns already, of several on that with the fewest hosts; else
 * on the first that takes it, those that lack fewest of its turns before others. Returns the lane, or LAYER_LANES_NONE.
 * Turns that were added stay, even if a later one is refused. Cost: lanes times that of hd_dependencies_add() for each
 * hop.
 */
unsigned layer_lanes_find(struct layer_lanes *lanes, unsigned wanted, bool move,
			  const uint32_t *links, uint32_t hops, uint32_t hosts);

/* What is put between begin and end can be taken back: keep says whether it stays. */
void layer_lanes_begin_batch(struct layer_lanes *lanes);
void layer_lanes_end_batch(struct layer_lanes *lanes, bool keep);

#endif
