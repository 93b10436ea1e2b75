/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All paths to one LID at once. Every switch has one entry for a LID, so the entries are a graph in
 * which each switch points to at most one other. They form trees, whose roots are the destination
 * switch, holes and dead ends; and rings, from which packets never arrive.
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
	CHECK_STEP_ARRIVED = UINT32_MAX - 3, /* to the port that has the LID */
	CHECK_STEP_SELF, /* over a cable back to the same switch */
	CHECK_STEP_NO_ROUTE,
	CHECK_STEP_DEAD_END
};

/* What happens to a packet that starts at a switch. */
enum check_arrival { CHECK_ARRIVES, CHECK_NO_ROUTE, CHECK_DEAD_END, CHECK_LOOP };

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
	uint32_t destination;
	bool to_host; /* false: the LID is a switch's own */
	const uint32_t *step; /* [switch_count] in the block */
	uint32_t *order; /* the first `ordered`: every switch before the one it points to */
	uint32_t ordered; /* less than switch_count if there are rings */
	uint32_t bad; /* switches from which the LID is not reached */
	uint32_t *hops; /* [switch_count] if it arrives: inter-switch links of the path */
	uint8_t *arrival; /* [switch_count] enum check_arrival */
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

/* Makes the tree of a LID in the block. False when no switch has a cable to its port. Cost:
 * switches. */
bool check_tree_make(struct check_tree *tree, struct check_block *block,
		     const struct check_tables *tables, uint32_t lid);

#endif
