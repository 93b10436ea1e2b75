/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All paths to one LID at once. Every switch has one entry for a LID, so the entries are a graph in
 * which each switch points to at most one other. They form trees, whose roots are the destination
 * switch, holes and dead ends; and rings, from which packets never arrive.
 */
#ifndef FABRIC_CHECK_TREE_H
#define FABRIC_CHECK_TREE_H

#include <heddle/fabric/dependencies.h>
#include <heddle/fabric/walk.h>

/* ---- the paths ---- */

/* What happens to a packet that starts at a switch. */
enum check_arrival { CHECK_ARRIVES, CHECK_NO_ROUTE, CHECK_DEAD_END, CHECK_LOOP };

/* Scratch memory of one worker. */
struct check_block {
	struct hd_column_block columns;
	/* [HD_COLUMN_BLOCK][switch_count] bit of the lane a source uses; NULL: always `lane_all` */
	uint16_t *lane;
	uint16_t lane_all;
};

struct check_tree {
	uint32_t switch_count;
	uint32_t destination;
	bool to_host; /* false: the LID is a switch's own */
	const uint32_t *step; /* [switch_count] in the block */
	uint32_t *next; /* [switch_count] switch behind a step that is a link */
	uint32_t *order; /* the first `ordered`: every switch before the one it points to */
	uint32_t ordered; /* less than switch_count if there are rings */
	uint32_t bad; /* switches from which the LID is not reached */
	uint32_t *hops; /* [switch_count] if it arrives: inter-switch links of the path */
	uint8_t *arrival; /* [switch_count] enum check_arrival */
	uint8_t *waiting; /* [switch_count] neighbours that point here and are not in order yet */
};

int check_tree_block_init(struct check_block *block, const struct hd_columns *columns,
			  struct hd_arena *arena);
int check_tree_init(struct check_tree *tree, const struct hd_fabric *fabric,
		    struct hd_arena *arena);

/* Decodes the LIDs from `first` on. Cost: switches * HD_COLUMN_BLOCK. */
void check_tree_block_load(struct check_block *block, const struct hd_columns *columns,
			   uint32_t first);

/* Makes the tree of a LID in the block. False when no switch has a cable to its port. Cost:
 * switches. */
bool check_tree_make(struct check_tree *tree, struct check_block *block,
		     const struct hd_columns *columns, uint32_t lid);

/* ---- dependencies ---- */

/* The channel dependency graph of each virtual lane, collected from the trees of all LIDs. */

#define CHECK_LANES 16u

struct check_lanes {
	const struct hd_fabric *fabric;
	/* lanes that the tables do not use have no memory */
	struct hd_dependencies graphs[CHECK_LANES];
	uint16_t used; /* lanes with traffic */
	uint16_t *passing; /* [switch_count] scratch: lanes of the traffic that passes a switch */
};

/* Lanes to which the tables put any traffic, one bit each. */
uint16_t check_lanes_named(const struct hd_routes *routes);

/* Empty graphs for the named lanes. */
int check_lanes_init(struct check_lanes *lanes, const struct hd_fabric *fabric, uint16_t named,
		     struct hd_arena *arena);

/* Adds the traffic of one tree that arrives. Cost: switches. */
void check_lanes_add(struct check_lanes *lanes, const struct check_tree *tree,
		     const struct check_block *block, uint32_t lid, bool switch_traffic);

/* Adds everything that `other` has. */
void check_lanes_merge(struct check_lanes *lanes, const struct check_lanes *other);

#endif
