/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables that use the cables of a spanning tree alone. So there is one path between two switches,
 * it climbs towards the root and then descends, and all other cables stay idle. This is the
 * original Up/Down routing. It is there to compare with, not for use.
 * Source: Kim, Yum, Das et al., design alternatives for IBA fabrics, section 3.1.
 */
#ifndef ENGINES_SPANNING_TREE_H
#define ENGINES_SPANNING_TREE_H

#include "ranking.h"

/*
 * The tree: each switch has the cable with the lowest link index to a switch that is one step
 * nearer to the root by ranking->rank. If ranking->request has tables in place whose cables are a
 * forest, that forest stays: the cables of the baseline first, then those of the previous tables.
 * The tree above then joins only what they leave apart.
 *
 * *max_load is the number of source hosts that cross the most loaded link, over all LIDs of hosts;
 * NULL: not wanted. Each component has a tree; between components there are no entries, and a
 * remark counts them. Errors: -ENOMEM. Cost: O(switches * (switches + LIDs)).
 */
int spanning_tree_route(const struct ranking *ranking, uint64_t *max_load, struct hd_routes **out,
			struct hd_error *err);

#endif
