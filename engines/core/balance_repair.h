/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repair of tables in place: entries that are valid stay, and the cost is that of looking at them
 * once. Each of the others is chosen on its own, by the balance's rule: the cost of a path is the
 * sequence of the loads of its links, from the destination outwards. Here the load of a link is the
 * number of LIDs that its switch forwards by it.
 */
#ifndef ENGINES_BALANCE_REPAIR_H
#define ENGINES_BALANCE_REPAIR_H

#include "balance_plan.h"

/*
 * Makes plan->request->previous (and the baseline) valid for plan->paths. *out stays NULL if this
 * is not the right method: too many entries are invalid, or packets of hosts would have to take
 * steps against the tree. Errors: -ENOMEM. Cost:
 * O(switches * LIDs), about two nanoseconds each on `threads` threads, and O(radix * hops) for each
 * invalid entry.
 */
int balance_repair(const struct balance_plan *plan, const struct destinations *list,
		   struct hd_routes **out, struct hd_error *err);

#endif
