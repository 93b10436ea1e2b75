/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repair of tables in place: entries that are valid stay, and the cost is that of looking at them
 * once. An entry returns to its baseline if that is valid. Each of the others is chosen on its own among the valid
 * links, by rendezvous hashing of the GUIDs and ports: so it depends on the baseline and on what is missing, not on
 * the order in which that failed. An entry without a baseline stays as long as it is valid;
 * balance_growth() then balances those that are new.
 */
#ifndef ENGINES_BALANCE_REPAIR_H
#define ENGINES_BALANCE_REPAIR_H

#include "balance_plan.h"

/*
 * Makes plan->request->previous (and the baseline) valid for plan->paths. *out stays NULL if this
 * is not the right method: too many entries are new, or packets of hosts would have to take
 * steps against the tree. Errors: -ENOMEM. Cost:
 * O(switches * LIDs), about two nanoseconds each on `threads` threads, and O(radix) for each
 * invalid entry.
 */
int balance_repair(const struct balance_plan *plan, const struct destinations *list,
		   struct hd_routes **out, struct hd_error *err);

#endif
