/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What has changed since the previous plan was made. */
#ifndef AR_MANAGER_PLAN_CHANGES_H
#define AR_MANAGER_PLAN_CHANGES_H

#include "planning.h"

struct plan_changes {
	const struct hd_ar_plan *previous;
	const struct plan_memory *known; /* of the previous plan */
	uint32_t *before; /* [switch_count] the index in the previous plan, or HD_NONE */
	bool *whole; /* [switch_count] the switch has come, or has other links or other room */
	uint32_t *changed; /* [changed_count] switches that have come, lost links or got some */
	uint32_t changed_count;
	/* LIDs that have another owner, and those that only one of the fabrics has: bits. */
	uint32_t words;
	uint64_t *lids; /* [words] */
	bool any_lid;
	/* The LIDs that may adapt, by number of their destination. */
	uint32_t *number; /* [switch_count] of the destination, or HD_NONE */
	uint32_t *lid_base, *lid_list; /* [destinations + 1], [lid_base[destinations]] */
	/* For each switch that is not whole, the numbers of destinations towards which other links than before may be
	 * on shortest paths. */
	uint32_t *pair_base; /* [switch_count + 1] */
	uint32_t *destinations; /* [pair_base[switch_count]] */
};

/*
 * Finds planner->changes, which stays NULL if the previous plan is of another kind, or if too much has changed. To be
 * called when planner->stray and planner->level are known. Errors: -ENOMEM. Cost: O(links + LIDs).
 */
int plan_changes_find(struct planner *planner);

/*
 * Fills `hops` with the hop counts of the previous plan, brought up to date: [switch_count * hop_stride], all 0 before.
 * Without planner->changes nothing happens. They become NULL if that cannot be done, and `hops` is undefined. Errors:
 * -ENOMEM. Cost: that of hop_update_do(), and O(switches^2) for a copy.
 */
int plan_changes_hops(struct planner *planner, uint8_t *hops);

#endif
