/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Destination-first balance: which of the allowed next hops each switch takes.
 *
 * Contention on the way down to a destination can be avoided altogether when each link near it
 * carries few destinations. So alternatives are compared from the destination outwards: going
 * to switch t by link l costs the sequence cost(t) followed by load(l), compared
 * lexicographically, ties by link index. The load of a link is the number of source hosts whose
 * routes cross it, over all destinations; a destination's own earlier share is taken out before
 * it is routed again. Sequences are kept as ranks, level by level. Where distances are weighted,
 * a nearer t goes before a farther one.
 */
#ifndef ENGINES_BALANCE_H
#define ENGINES_BALANCE_H

#include "dag.h"
#include "resolved_policy.h"

/* The row for balance_plan.rebalance in an engine's option table. */
#define BALANCE_OPTION_REBALANCE                                                                   \
	{                                                                                          \
		.name = "rebalance",                                                               \
		.summary = "destinations that a sweep may move without need, towards the best "    \
			   "balance",                                                              \
		.type = HD_OPTION_INT, .fallback = "0", .minimum = 0, .maximum = HD_LID_LAST       \
	}

struct balance_destination {
	uint32_t lid;
	uint32_t exit; /* switch at which it leaves the fabric */
	uint32_t host; /* index of the host, HD_NONE for a switch's own LID */
	uint8_t exit_port; /* 0 for the switch itself */
};

struct balance_plan {
	const struct hd_route_request *request;
	const struct resolved_policy *policy;
	unsigned passes; /* over the hosts of one LID offset, 1 .. */
	unsigned
	    rebalance; /* with previous tables: LIDs to move to where a fresh start puts them */
	/*
	 * Builds the ways to destination->exit. Called whenever the exit changes, or, where
	 * per_destination is set, for every destination. May refuse with a reason.
	 */
	int (*build)(void *context, const struct balance_destination *destination, struct dag *dag,
		     struct hd_error *err);
	void *context;
	bool per_destination;
	/*
	 * NULL, or told of each tree once it is routed: tree[s] is the number of the link that
	 * switch s takes among its own. The bytes stay in place and up to date while
	 * balance_route() runs, so that build() can lead later destinations clear of them.
	 */
	void (*routed)(void *context, const struct balance_destination *destination,
		       const uint8_t *tree);
	uint64_t *max_load; /* out, NULL = not asked: source hosts over the most loaded link */
};

/*
 * Routes every LID: hosts offset by offset in the policy's order, then switches. Destinations
 * whose previous entries are all among today's candidates keep them; others keep what they can.
 * Switches without a way keep HD_NO_PORT and are counted in a remark. Errors: what build says,
 * -ENOMEM. Cost: O(passes * destinations * (switches + candidates)) time, destinations *
 * switches bytes beside the result.
 */
int balance_route(const struct balance_plan *plan, struct hd_routes **out, struct hd_error *err);

/* Takes the entries for one LID over from other tables of the same fabric; true when some differ.
 */
bool balance_take_column(struct hd_routes *routes, const struct hd_routes *from, uint32_t lid);

#endif
