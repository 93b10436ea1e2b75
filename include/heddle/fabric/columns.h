/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables read by destination. struct hd_routes has one row for each switch, so a path that is
 * followed in the rows costs a cache miss for each hop. A block of columns has, for each of 64
 * LIDs, where the entries of all switches lead. The entries for one LID lie next to one another
 * and fit the cache.
 */
#ifndef HEDDLE_FABRIC_COLUMNS_H
#define HEDDLE_FABRIC_COLUMNS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* LIDs of a block: one cache line of each row. */
#define HD_COLUMN_BLOCK 64u

/* Where an entry leads: a directed link between switches, or one of these. */
enum {
	HD_STEP_ARRIVED = UINT32_MAX - 3, /* to the port that has the LID */
	HD_STEP_SELF, /* over a cable back to the same switch */
	HD_STEP_NO_ROUTE,
	HD_STEP_DEAD_END
};

static inline bool hd_step_is_link(uint32_t step)
{
	return step < HD_STEP_ARRIVED;
}

/* What all threads share; it does not change. */
struct hd_columns {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint32_t *port_step; /* [port_count] where a switch's port leads */
};

/* Scratch memory of one thread. */
struct hd_column_block {
	uint32_t first_lid;
	uint32_t *step; /* [HD_COLUMN_BLOCK][switch_count] */
};

/* The column of one LID, valid until the next block is loaded. */
struct hd_column {
	uint32_t *step; /* [switch_count] in the block, where the entries lead */
	uint32_t destination; /* switch */
	uint8_t port; /* of the destination switch; 0: the LID is the switch's own */
};

/* Memory is the arena's. The tables must have the fabric's shape. Errors: -ENOMEM. Cost: ports. */
int hd_columns_init(struct hd_columns *columns, const struct hd_fabric *fabric,
		    const struct hd_routes *routes, struct hd_arena *arena);

/* Errors: -ENOMEM. Memory: 256 bytes a switch. */
int hd_column_block_init(struct hd_column_block *block, const struct hd_columns *columns,
			 struct hd_arena *arena);

/* Number of blocks in which all LIDs are. */
uint32_t hd_column_block_count(const struct hd_columns *columns);

/* LIDs of the block that begins at `first`: HD_COLUMN_BLOCK, or fewer in the last one. */
uint32_t hd_column_block_lids(const struct hd_columns *columns, uint32_t first);

/* Decodes the LIDs from `first`, a multiple of HD_COLUMN_BLOCK, on. Cost: switches *
 * HD_COLUMN_BLOCK. */
void hd_column_block_load(struct hd_column_block *block, const struct hd_columns *columns,
			  uint32_t first);

/* The column of a LID in the block. False when no switch has a cable to its port. O(1) */
bool hd_column_take(struct hd_column_block *block, const struct hd_columns *columns, uint32_t lid,
		    struct hd_column *column);

#ifdef __cplusplus
}
#endif

#endif
