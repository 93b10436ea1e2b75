/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All ways to one LID at once. Every switch has one entry for a LID, so the entries are a graph
 * in which each switch points to at most one other: trees whose roots are the place where the
 * LID leaves the fabric, holes and dead ends; and rings, where packets never arrive.
 */
#ifndef FABRIC_CHECK_TREE_H
#define FABRIC_CHECK_TREE_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

/* LIDs decoded together: one cache line of each switch's row. */
#define CHECK_BLOCK 64u

/* Where an entry leads: a directed inter-switch link, or one of these. */
enum {
	STEP_ARRIVED = UINT32_MAX - 3, /* out of the fabric, where it should */
	STEP_SELF, /* by a cable back to the same switch */
	STEP_NO_ROUTE,
	STEP_DEAD_END
};

/* What comes of a packet that starts at a switch. */
enum arrival { ARRIVES, ENDS_NO_ROUTE, ENDS_DEAD, ENDS_IN_LOOP };

struct check_tables {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint32_t *port_step; /* [port_count] where a switch's port leads */
};

/* Scratch memory of one worker. */
struct check_block {
	uint32_t first_lid;
	uint32_t *step; /* [CHECK_BLOCK][switch_count] */
	uint16_t *lane; /* the same shape: bit of the lane a source uses; NULL: always `lane_all` */
	uint16_t lane_all;
};

struct check_tree {
	uint32_t switch_count;
	uint32_t exit_switch;
	bool to_host; /* else the LID is a switch's own */
	const uint32_t *step; /* [switch_count] in the block */
	uint32_t *order; /* the first `ordered`: every switch before the one it points to */
	uint32_t ordered; /* less than switch_count where there are rings */
	uint32_t bad; /* switches from which the LID is not reached */
	uint32_t *hops; /* [switch_count] where it arrives: inter-switch links on the way */
	uint8_t *arrival; /* [switch_count] enum arrival */
	uint8_t *waiting; /* [switch_count] neighbours that point here and are not in order yet */
};

int check_tree_tables_init(struct check_tables *tables, const struct hd_fabric *fabric,
			   const struct hd_routes *routes, struct hd_arena *arena);
int check_tree_block_init(struct check_block *block, const struct check_tables *tables,
			  struct hd_arena *arena);
int check_tree_init(struct check_tree *tree, const struct hd_fabric *fabric,
		    struct hd_arena *arena);

/* Decodes LIDs first .. first + CHECK_BLOCK - 1. Cost: switches * CHECK_BLOCK. */
void check_tree_block_load(struct check_block *block, const struct check_tables *tables,
			   uint32_t first);

/* Makes the tree of a LID in the block. False when it has no place in the fabric. Cost: switches.
 */
bool check_tree_make(struct check_tree *tree, struct check_block *block,
		     const struct check_tables *tables, uint32_t lid);

#endif
