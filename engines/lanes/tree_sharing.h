/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where lanes run out: LIDs of one switch's hosts can be forwarded alike, up to that switch, and
 * what is forwarded alike waits alike. The first LID of every switch gets lanes by itself; each
 * further one keeps its own tree if the lanes have room for it, else it takes another's.
 */
#ifndef ENGINES_TREE_SHARING_H
#define ENGINES_TREE_SHARING_H

#include "lane_rounds.h"

/* A LID that is to be forwarded like another, except at the switch both hang on. */
struct tree_sharing_item {
	uint32_t lid, like, exit;
};

struct tree_sharing {
	struct tree_sharing_item *items; /* of the assignment's arena */
	uint32_t count;
};

/*
 * Fills the table with lanes for the routes as they are after sharing, which is left to the
 * caller. The assignment's ends are in another order afterwards: first LIDs of all switches first.
 * Base LIDs come before others; of the trees that can be shared it is the least shared. Errors:
 * -ENOSPC one tree a switch needs more lanes than are available, and table->lanes says how many;
 * -ENOMEM.
 */
int tree_sharing_find(struct lane_assignment *assignment, unsigned available,
		      struct lane_rounds_table *table, struct tree_sharing *out);

#endif
