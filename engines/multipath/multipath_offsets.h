/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LID offsets without path bits, for fabrics with too many cycles to list their paths: every
 * further LID of a host gets shortest paths that keep away from those of its lower LIDs.
 */
#ifndef ENGINES_MULTIPATH_OFFSETS_H
#define ENGINES_MULTIPATH_OFFSETS_H

#include "balance.h"

/*
 * The base LIDs, and the LIDs of switches, get the tables of the engine `spf`. For LID base + n a
 * switch may take those next hops on shortest paths whose best continuation shares fewest links
 * with the trees of base .. base + n - 1. A link counts once for each of these trees that brings
 * any host's packets over it. Among the next hops that are left the balance decides. So from every
 * switch the path shares as few links as any shortest path can. Sets plan->build and what belongs
 * to it. Errors: -ENOMEM. Cost: that of balance_route(), plus O(offset * switches) for each LID and
 * pass.
 */
int multipath_offsets_route(struct balance_plan *plan, struct hd_routes **out,
			    struct hd_error *err);

#endif
