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

#include "balance_plan.h"

/*
 * Routes every LID: hosts offset by offset in the policy's order, then switches. A destination
 * keeps its previous entries if all of them are still allowed next hops; otherwise it keeps those
 * that are. Switches without a path keep HD_NO_PORT, and a remark counts them. Errors: those of
 * build, -ENOMEM. Cost: O(passes * destinations * (switches + candidates)) time, destinations *
 * switches bytes beside the result.
 */
int balance_route(const struct balance_plan *plan, struct hd_routes **out, struct hd_error *err);

/* Copies the entries for one LID from other tables of the same fabric. */
void balance_take_column(struct hd_routes *routes, const struct hd_routes *from, uint32_t lid);

#endif
