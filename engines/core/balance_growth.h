/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Growth of a balance: some entries move to links that are new, so that these carry their share, and entries for new LIDs
 * of hosts find the best links. All other entries stay.
 *
 * Conflicts decide, as in conflicts.h: the cost of a path is the number of flows to other destinations on its links. An
 * entry moves if that saves so much that a link would notice. The search begins at both ends of each new link, for each
 * destination to which the link is a next hop: there the switch itself, and those behind it, which reach the link
 * through it, compare it with what they have. Where an entry has moved, the switches behind it compare, too. So the cost
 * follows the new links. A destination switch gets at first no more than its even share of a link, so that a new link
 * carries paths to many switches.
 */
#ifndef ENGINES_BALANCE_GROWTH_H
#define ENGINES_BALANCE_GROWTH_H

#include "balance_plan.h"

/* Above this share of new links (one in so many), routing afresh is better, and entries stay here (route.c). */
#define BALANCE_GROWTH_MUCH 20u

/* More new LIDs of hosts are routed tree by tree (balance.h), and do not move here. */
#define BALANCE_GROWTH_LIDS 100u

/*
 * Moves entries of `routes`, which are valid for plan->paths, to links that plan->request->baseline does not use.
 * Nothing moves if there is no such link and no new LID, or where such links are many. Errors: -ECANCELED, -ENOMEM. Cost: O(links) without a
 * new link; else O(switches * LIDs) to count the flows, and O(radix * hops) for each entry that is compared. Two bytes
 * for each entry.
 */
int balance_growth(const struct balance_plan *plan, const struct destinations *list,
		   struct hd_routes *routes, struct hd_error *err);

/* ---- what comes before: balance_repair.c ---- */

/*
 * Repair of tables in place: entries that are valid stay, and the cost is that of looking at them
 * once. An entry returns to its baseline if that is valid. Each of the others is chosen on its own among the valid
 * links, by rendezvous hashing of the GUIDs and ports: so it depends on the baseline and on what is missing, not on
 * the order in which that failed. An entry without a baseline stays as long as it is valid;
 * balance_growth() then balances those that are new.
 */

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
