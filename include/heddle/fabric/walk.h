/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths followed hop by hop in the tables: one path, and all paths from one port to another, one
 * for each of the 2^LMC LIDs of the destination.
 */
#ifndef HEDDLE_FABRIC_WALK_H
#define HEDDLE_FABRIC_WALK_H

#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- paths ---- */

enum hd_walk_end {
	HD_WALK_ARRIVED,
	HD_WALK_NO_ROUTE, /* the last switch has no entry */
	HD_WALK_DEAD_END, /* its entry names no port, a port without a cable or a wrong host's */
	HD_WALK_LOOP /* the last switch was met before */
};

/*
 * Follows the entries for `lid` from switch `source`. The switches of the path go to `switches`
 * [fabric->switch_count + 1], their number to *count. The last one is where the path ends; in a
 * loop it is the one that is met again. The LID must have a destination switch
 * (hd_fabric_lid_destination()). Cost: O(hops * (hops + log radix)).
 */
enum hd_walk_end hd_routes_walk(const struct hd_fabric *fabric, const struct hd_routes *routes,
				uint32_t source, uint32_t lid, uint32_t *switches, uint32_t *count);

struct hd_path {
	uint32_t lid;
	enum hd_walk_end end;
	uint32_t switch_count;
	const uint32_t *switches; /* as hd_routes_walk() gives them */
	/* [switch_count - 1] directed inter-switch links between them; HD_NONE for a cable from a
	 * switch to itself, which is a loop */
	const uint32_t *links;
	uint8_t sl,
	    vl; /* SL 0 and its lane if an end is a switch's own port; vl is that of the first link */
	uint32_t same_as; /* first path with the same links; its own index if it is the first */
};

struct hd_path_set {
	uint32_t source, destination; /* port indices */
	uint32_t count; /* LIDs of the destination */
	const struct hd_path *paths; /* by ascending LID */
	uint32_t arrived; /* paths that arrive */
	uint32_t distinct; /* different ones among these */
	uint32_t links; /* inter-switch links, in one direction, that these use */
	uint32_t shared; /* of them links that two different ones use */
	const uint32_t *link_uses; /* [isl_count] different paths that arrive over each link */
};

/*
 * The paths from the port `source` to all LIDs of the port `destination`, each a host's port or
 * port 0 of a switch. *out is freed with hd_path_set_free(). Errors: -EINVAL another port, one
 * without a cable to a switch, or a destination without a LID; -ENOMEM. Cost: O(links + LIDs^2 *
 * hops).
 */
int hd_path_set_new(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t source,
		    uint32_t destination, struct hd_path_set **out, struct hd_error *err);

/* Frees the paths; NULL is allowed. */
void hd_path_set_free(struct hd_path_set *set);

/* ---- tables by destination ---- */

/*
 * Tables read by destination. struct hd_routes has one row for each switch, so a path that is
 * followed in the rows costs a cache miss for each hop. A block of columns has, for each of 64
 * LIDs, where the entries of all switches lead. The entries for one LID lie next to one another
 * and fit the cache.
 */

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
