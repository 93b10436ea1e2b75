/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The service levels in force: those that path records have told of before the sweep. */
#ifndef OPENSM_SWEEP_LEVELS_H
#define OPENSM_SWEEP_LEVELS_H

#include <heddle/base/error.h>

struct hd_fabric;
struct hd_routes;
struct part_context;
struct sweep_goal;

/*
 * Tables in the shape of the goal, with rows as long as OpenSM's, and with the service levels in force: those of the published routing, or
 * of an earlier run of OpenSM if its state file is there. Where neither has an entry, no packets flow, and the level
 * is that of the routing that comes. If nothing is known, all levels are. For the hook `computed`. *out is the
 * caller's. Errors: -ENOMEM. Cost: O(switches * LIDs).
 */
int sweep_levels_find(const struct part_context *context, const struct sweep_goal *goal,
		      struct hd_routes **out, struct hd_error *err);

#endif
