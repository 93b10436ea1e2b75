/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A quick proof that one lane is enough: it is where all paths between hosts climb away from the
 * hosts, then descend, as on most fat trees. Much cheaper than channel dependency graphs.
 */
#ifndef ENGINES_LANE_CLIMB_H
#define ENGINES_LANE_CLIMB_H

#include <heddle/base/error.h>
#include <heddle/fabric/routes.h>

/*
 * *proved says whether no path from a host to a host's LID climbs after it has descended, or goes
 * sideways. Levels are those of hd_fabric_levels(). otherwise[lid_count], false beforehand, becomes
 * true for LIDs of hosts to which some switch, with hosts or without, may send in another way; NULL:
 * not wanted; if nothing is proved, it is not complete. Errors: -ENOMEM. Cost: O(switches * LIDs) on
 * `threads` threads, about a nanosecond each.
 */
int lane_climb_prove(const struct hd_fabric *fabric, const struct hd_routes *routes,
		     unsigned threads, bool *otherwise, bool *proved, struct hd_error *err);

#endif
