/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys and shifts in trees that are not regular. */
#ifndef KEYD_KEY_CLIMB_H
#define KEYD_KEY_CLIMB_H

#include "key_ranks.h"
#include "key_shift.h"

/*
 * Fills in the routes of a key whose sources, destinations and offsets are known, and the tightest switch. All flows
 * that are not left out have paths. Errors: -ENOMEM. Cost: that of key_ways_find().
 */
int key_climb_make(const struct hd_key_request *request, struct hd_key *key);

/* Fills in the paths of a shift. Errors and cost: those of key_ways_move(). */
int key_climb_shift(const struct hd_key_tree *tree, const struct hd_key *key,
		    const struct hd_key_loads *loads, struct hd_key_shift *shift);

/* hd_key_path() for these trees. O(hops + log flows) */
uint32_t key_climb_path(const struct hd_key_tree *tree, const struct hd_key_route *route,
			const struct hd_key_shift *shift, uint32_t *links);

/* hd_key_climbs() for these trees. */
uint32_t key_climb_height(const struct hd_key_tree *tree, const struct hd_key_route *route,
			  const struct hd_key_shift *shift);

#endif
