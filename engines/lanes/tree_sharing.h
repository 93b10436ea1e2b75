/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For fabrics with too few lanes: LIDs of hosts on one switch can be forwarded alike up to that
 * switch, and paths that are forwarded alike have the same channel dependencies. The first LID of
 * each switch gets lanes by itself. Each other LID keeps its own tree if the lanes have room for
 * it; otherwise it shares the tree of another.
 */
#ifndef ENGINES_TREE_SHARING_H
#define ENGINES_TREE_SHARING_H

#include "lane_rounds.h"

/* A LID that is to be forwarded like another, except at `sw`, the destination switch of both. */
struct tree_sharing_item {
	uint32_t lid, like, sw;
};

struct tree_sharing {
	struct tree_sharing_item *items; /* of the assignment's arena */
	uint32_t count;
};

/*
 * Fills the table with the lanes that the paths have after sharing. The caller rewrites the
 * entries. The assignment's destinations are in another order afterwards: the first LIDs of all
 * switches come first, and base LIDs before others. A LID shares the tree with the fewest users.
 * Errors: -ENOSPC one tree for each switch needs more lanes than are available, and table->lanes
 * says how many; -ENOMEM.
 */
int tree_sharing_find(struct lane_assignment *assignment, unsigned available,
		      struct lane_rounds_table *table, struct tree_sharing *out);

#endif
