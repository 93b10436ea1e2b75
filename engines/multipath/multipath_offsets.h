/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LID offsets without path bits, for fabrics with too many cycles to list their paths: every
 * further LID of a host gets shortest paths that keep clear of those of its lower LIDs.
 */
#ifndef ENGINES_MULTIPATH_OFFSETS_H
#define ENGINES_MULTIPATH_OFFSETS_H

#include "balance.h"

/*
 * The base LIDs, and those of switches, get the tables of the engine `spf`. For LID base + n a
 * switch has, of the next hops on shortest ways, those whose best continuation shares fewest
 * links with the trees of base .. base + n - 1, a link counted once for each of these trees that
 * brings any host's packets over it; among them the balance chooses as always. So from every
 * switch the path shares as little as any shortest path does. plan->build and what goes with it
 * are set here. Errors: -ENOMEM. Cost: that of balance_route(), plus O(offset * switches) for
 * each LID and pass.
 */
int multipath_offsets_route(struct balance_plan *plan, struct hd_routes **out,
			    struct hd_error *err);

#endif
