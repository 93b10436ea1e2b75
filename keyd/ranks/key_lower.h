/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches with hosts that are better off below others than above them. */
#ifndef KEYD_KEY_LOWER_H
#define KEYD_KEY_LOWER_H

#include "key_ranks.h"

/*
 * Levels are counted from the switches with the most hosts. So a leaf with few hosts can be the top of a tree by its
 * cables: then its hosts have no path to most others. Such a switch goes below its neighbours, if no path passes it
 * that climbs and then descends by the fewest hops, as those of dmodk do. The same holds for a switch whose cables all
 * lead to one other. Paths that begin or end there climb and descend by the new levels, too, and all others are as
 * they were. So the tables of dmodk stay free of deadlock together with keys.
 *
 * Writes new levels to *out, memory of the arena. component: [switch_count] of hd_tree_components(). Errors: -ENOMEM.
 * Cost: O(switches^2 * switches / 64) for each switch that could be lowered.
 */
int key_lower(const struct key_ranks *ranks, const uint32_t *component, struct hd_arena *arena,
	      uint8_t **out);

#endif
