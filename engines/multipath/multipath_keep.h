/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Path bits after a change in the fabric. One more or one less cycle gives every path another
 * pattern, so today's cycles must not decide what changes. The entries for a LID stay as long as
 * they lead to it, by whatever path. If some do not, no more of them change than necessary.
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
	MULTIPATH_COLUMN_VALID, /* written: the baseline, or as it is in the switches */
	MULTIPATH_COLUMN_BROKEN, /* some entries do not lead to the LID */
	MULTIPATH_COLUMN_UNKNOWN /* the switches have nothing for this LID */
};

/* Looks at the column of one LID, its entries in all switches, and writes it if it is valid. Cost:
 * O(switches * hops). */
enum multipath_column multipath_keep_column(struct multipath_keeper *keeper, uint32_t lid);

/*
 * Repairs and writes a broken column. Switches that do not lead to the LID are joined, one at a
 * time, to switches that do. First come those that have no next hop at all because their link is
 * gone, then any. Of several joints it takes that of fewest hops, then that by the least used link,
 * then the first. Each joint changes one entry, and everything behind it leads to the LID too.
 * Cost: O(joints
 * * links).
 */
void multipath_keep_repair(struct multipath_keeper *keeper, uint32_t lid);

#endif
