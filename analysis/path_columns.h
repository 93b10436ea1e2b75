/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All paths to one host's LID after another, on the entries of all switches for that LID. */
#ifndef ANALYSIS_PATH_COLUMNS_H
#define ANALYSIS_PATH_COLUMNS_H

#include <heddle/fabric/columns.h>

/* Why a walk does not arrive. */
enum path_fault { PATH_NO_ROUTE = -1, PATH_DEAD_END = -2, PATH_LOOP = -3 };

/* Scratch memory of one thread. */
struct path_columns {
	const struct hd_columns *columns;
	struct hd_column_block block;
	/* of the LID in hand */
	uint32_t *step; /* [switch_count] in the block */
	uint32_t *next; /* [switch_count] switch behind the entry, where it leads to one */
};

/* Memory is the arena's. Errors: -ENOMEM. */
int path_columns_init(struct path_columns *paths, const struct hd_columns *columns,
		      struct hd_arena *arena);

/* Takes a LID in hand; its block must be loaded. False when no switch has a cable to its port.
 * Cost: switches. */
bool path_columns_take(struct path_columns *paths, uint32_t lid);

/*
 * Follows the entries for the LID in hand from a switch. Returns the number of links, the first
 * `room` of which are written, or an enum path_fault. Cost: hops; in a loop the number of switches,
 * but only once for each loop.
 */
int path_columns_walk(struct path_columns *paths, uint32_t sw, uint32_t *links, uint32_t room);

#endif
