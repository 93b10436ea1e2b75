/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Path bits after a change: a cycle more or less gives every path another pattern, so what
 * today's cycles say must not be what moves the tables. A LID's entries stay as they are as long
 * as they lead there, by whatever way; where some do not, no more of them change than must.
 */
#ifndef ENGINES_MULTIPATH_KEEP_H
#define ENGINES_MULTIPATH_KEEP_H

#include <heddle/engines.h>

struct multipath_keeper {
	const struct hd_route_request *request; /* with tables in place */
	struct hd_routes *routes; /* to be written */
	struct hd_arena arena;
	uint32_t *next; /* [switch_count] link taken towards the LID at hand, HD_NONE = none */
	uint32_t *hops; /* [switch_count] by those links; HD_NONE: they do not lead there */
	uint64_t *use; /* [isl_count] LIDs forwarded by the link, of the columns written */
};

/* Memory from the keeper's arena. Errors: -ENOMEM, also when the arena has failed before. */
int multipath_keep_allocate(struct multipath_keeper *keeper);

/*
 * True when the tables in place lead to some LID of the host by more or fewer hops than to its
 * base LID, as path bits do and other shortest paths never do. Cost: O(LIDs * switches).
 */
bool multipath_keep_lengths_differ(struct multipath_keeper *keeper, uint32_t host);

enum multipath_column {
	MULTIPATH_COLUMN_VALID, /* written: at home, or as it is in the switches */
	MULTIPATH_COLUMN_BROKEN, /* some entries lead nowhere */
	MULTIPATH_COLUMN_UNKNOWN /* the switches have nothing for this LID */
};

/* Looks at one LID and writes its column where it stands. Cost: O(switches * hops). */
enum multipath_column multipath_keep_column(struct multipath_keeper *keeper, uint32_t lid);

/*
 * Writes a column that is broken: switches that lead nowhere are joined, one at a time, to those
 * that lead there. First go those that have no next hop at all (the link is gone), then any; of
 * several joints the one of fewest hops, then by the least used link, then the first. Each joint
 * changes one entry and brings everything behind it along. Cost: O(joints * links).
 */
void multipath_keep_repair(struct multipath_keeper *keeper, uint32_t lid);

#endif
