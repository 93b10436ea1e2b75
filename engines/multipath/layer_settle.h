/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees that the virtual lanes allow: from the destination outwards each switch takes the next hop that is planned for
 * it, if a lane has room for its path, else the best other one. If none has, its path becomes that of the base LID, which
 * has a lane.
 */
#ifndef ENGINES_MULTIPATH_LAYER_SETTLE_H
#define ENGINES_MULTIPATH_LAYER_SETTLE_H

#include "layer_choice.h"
#include "layer_lanes.h"

/* What is wanted of a tree. */
struct layer_plan {
	const struct dag *dag; /* shortest paths to the destination */
	const struct layer_trees *host; /* the trees of its LIDs so far */
	uint32_t offset; /* of this LID */
	const uint8_t *tree; /* [switch_count] as it is planned; it may have gaps and loops */
	const uint8_t *lane; /* [switch_count] where paths are to be if possible; NULL: anywhere */
	const uint8_t *base_lane; /* [switch_count] of the paths of the base LID */
	/* the plan is in place: paths that stay as they are may be longer by more than a hop */
	bool stays;
};

struct layer_settle {
	const struct hd_fabric *fabric;
	struct layer_choice *choice;
	struct layer_lanes *lanes; /* NULL: paths need none */
	/* of the tree at hand: [switch_count] */
	uint8_t *tree, *lane;
	uint32_t *hops; /* HD_NONE: not settled yet */
	uint32_t *depth; /* of the plan; HD_NONE: it does not lead to the destination */
	bool *pinned; /* the path is that of the base LID */
	uint32_t *order; /* switches by their depth */
	uint32_t *place; /* [switch_count + 2] */
	uint32_t *path; /* links of the path at hand */
	uint32_t *links; /* [HD_PORTS_MAX + 1] candidates, the best first */
	uint64_t *costs; /* of these */
	uint64_t fallen; /* paths so far, of all trees, that had to become those of the base LID */
};

/* Errors: -ENOMEM. */
int layer_settle_begin(struct layer_settle *settle, struct layer_choice *choice,
		       struct layer_lanes *lanes, struct hd_arena *arena);

/*
 * Fills settle->tree and settle->lane, and puts the paths of switches with hosts on their lanes. The choice has
 * been aimed at the host. Cost: O(switches * hops * (lanes + radix)), and as much again for each path that
 * becomes that of the base LID.
 */
void layer_settle_tree(struct layer_settle *settle, const struct layer_plan *plan);

/*
 * Puts the paths of a tree on their lanes as they are; with `move`, those that find no room there on other lanes, which
 * are written to lane[]. False: a path has no room; those before it stay where they are.
 */
bool layer_settle_put(struct layer_settle *settle, const uint8_t *tree, uint8_t *lane,
		      uint32_t destination, bool move);

#endif
