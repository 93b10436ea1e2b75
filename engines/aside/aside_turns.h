/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where paths of a tree may turn from descending to climbing. From one switch above the leaves to
 * another such a turn is often the only path. If every switch turned where it likes, the turns
 * would close credit loops. So all of them go towards one leaf: each switch has a link that leads
 * there by climbing, then descending, and a path may turn only where it meets a legal path to its
 * destination. As many switches as possible share one link down to the leaf, one link down to the
 * switch above it, and so on: a path that has turned and climbs away does not come down by these
 * again.
 */
#ifndef ENGINES_ASIDE_TURNS_H
#define ENGINES_ASIDE_TURNS_H

#include "aside_paths.h"

struct aside_turns {
	uint32_t leaf;
	uint32_t *towards; /* [switch_count] link towards the leaf; HD_NONE: the leaf itself, and
			    * switches with no path */
	bool *turns; /* [switch_count] some switch descends to it */
};

#define ASIDE_TURNS_CHOICES 8u

/*
 * With choice 0, takes the leaf to which most switches have legal paths, of a few; with 1
 * .. ASIDE_TURNS_CHOICES - 1 another leaf. Memory from the arena of the paths. Errors: -ENOMEM.
 * Cost: O(links) for each leaf tried.
 */
int aside_turns_find(struct aside_paths *paths, unsigned choice, struct aside_turns *out);

/*
 * Trees for two leaves. The first is of the caller's choice, HD_NONE: the best one. The second is
 * below the same switches, if possible. Switches without a legal path to the first leaf go to the
 * second. Errors: -ENOMEM.
 */
int aside_turns_find_two(struct aside_paths *paths, uint32_t leaf, struct aside_turns out[2]);

/*
 * Changes the column: a switch without a legal path goes towards the leaf; a switch where paths may
 * turn climbs by links that lead towards the leaf from above, if such a path is legal. Entries that
 * are fixed stay. component[switch_count] is equal for switches with a path between them.
 */
void aside_turns_apply(const struct aside_turns *turns, const uint32_t *component,
		       struct aside_paths *paths);

#endif
