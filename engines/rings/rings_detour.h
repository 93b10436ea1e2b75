/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detours: paths from switches that reach a destination by no turns in the order of dimensions, because a switch is
 * missing on the way. Each joins the tree of the destination by the link with the fewest hops; a turn that is in no set
 * so far counts as some hops more, so that such turns are at few switches.
 */
#ifndef ENGINES_RINGS_DETOUR_H
#define ENGINES_RINGS_DETOUR_H

#include "rings_levels.h"
#include "turn_tree.h"

struct rings_detours {
	struct rings_levels *levels;
	struct turn_trees *trees;
	uint32_t *left; /* [switch_count] switches that are not in the tree */
	uint32_t
	    *cost; /* [switch_count] of those in the tree: hops, and more for turns that were new */
	bool *refused; /* [isl_count] no level takes the turn that follows it */
	uint32_t new_turn_hops; /* for how many hops a new turn counts */
};

/* Errors: -ENOMEM. */
int rings_detours_begin(struct rings_detours *detours, struct rings_levels *levels,
			struct turn_trees *trees, struct hd_arena *arena);

/* Completes the tree at hand, after turn_trees_grow_some(). levels->sets.lanes must be levels->all. False: some switches
 * find no path. Cost: O(switches that are left ^ 2 * radix), and that of turn_order_add(). */
bool rings_detours_find(struct rings_detours *detours, uint8_t *tree);

#endif
