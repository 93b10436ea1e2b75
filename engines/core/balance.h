/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Destination-first balance: chooses one of the allowed next hops for each switch.
 *
 * Paths to different destinations do not meet on their last links when each link near a destination
 * carries few destinations. So alternatives are compared from the destination outwards: to go to
 * switch t by link l costs the sequence cost(t) followed by load(l). Sequences are compared
 * lexicographically, equal ones by link index. The load of a link is the number of source hosts
 * whose paths cross it, over all destinations. A destination's own share is taken out of the loads
 * before it is routed again. Sequences are kept as ranks, level by level. Where distances are
 * weighted, a nearer t comes before a farther one.
 */
#ifndef ENGINES_BALANCE_H
#define ENGINES_BALANCE_H

#include "dag.h"
#include "resolved_policy.h"

/* The row for balance_plan.rebalance in an engine's option table. */
#define BALANCE_OPTION_REBALANCE                                                                   \
	{                                                                                          \
		.name = "rebalance",                                                               \
		.summary = "destinations that a sweep may move without need, to improve the "      \
			   "balance",                                                              \
		.type = HD_OPTION_INT, .fallback = "0", .minimum = 0, .maximum = HD_LID_LAST       \
	}

struct balance_destination {
	uint32_t lid;
	uint32_t sw; /* the destination switch */
	uint32_t host; /* index of the host, HD_NONE for a switch's own LID */
	uint8_t port; /* of the destination switch, to the host; 0 for the switch itself */
};

struct balance_plan {
	const struct hd_route_request *request;
	const struct resolved_policy *policy;
	unsigned passes; /* at most, over the hosts of one LID offset, 1 .. */
	bool
	    until_flat; /* a pass after the first that does not lower the largest load is the last */
	unsigned
	    rebalance; /* with previous tables: LIDs to move to where routing afresh puts them */
	/*
	 * Builds the next hops towards destination->sw. Called whenever that switch changes, or for
	 * every destination where per_destination is set. May refuse with a reason.
	 */
	int (*build)(void *context, const struct balance_destination *destination, struct dag *dag,
		     struct hd_error *err);
	void *context;
	bool per_destination;
	/* NULL, or the paths from which build() takes the next hops. Then a repair need not build
	 * them for every destination. */
	const struct dag_paths *paths;
	const uint8_t
	    *level; /* with paths: [switch_count] 0 for leaves, NULL where it is no tree */
	bool spread_lids; /* a repair keeps the LIDs of a host on different links */
	/*
	 * NULL, or called with each destination tree once it is routed: tree[s] is the number of
	 * the link that switch s takes among its own. The bytes stay in place and up to date while
	 * balance_route() runs, so that build() can keep later destinations away from these links.
	 */
	void (*routed)(void *context, const struct balance_destination *destination,
		       const uint8_t *tree);
	uint64_t *max_load; /* out, NULL = not wanted: source hosts over the most loaded link */
};

/*
 * Routes every LID: hosts offset by offset in the policy's order, then switches. A destination
 * keeps its previous entries if all of them are still allowed next hops; otherwise it keeps those
 * that are. Switches without a path keep HD_NO_PORT, and a remark counts them. Errors: those of
 * build, -ENOMEM. Cost: O(passes * destinations * (switches + candidates)) time, destinations *
 * switches bytes beside the result.
 */
int balance_route(const struct balance_plan *plan, struct hd_routes **out, struct hd_error *err);

/* Copies the entries for one LID from other tables of the same fabric. True when some differ. */
bool balance_take_column(struct hd_routes *routes, const struct hd_routes *from, uint32_t lid);

#endif
