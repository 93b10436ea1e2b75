/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths of many flows through a tree that is not regular, so that links carry few of them. Flows from one switch to
 * one LID are an item, and the items of one LID a bundle: their paths stay together where they meet, because switches
 * forward by nothing but the LID.
 *
 * The paths are found by negotiation: a bundle on a link that carries too many flows is led again, by the cheapest
 * paths, and such links become dearer each time (L. McMurchie, C. Ebeling, "PathFinder", 1995).
 */
#ifndef KEYD_KEY_WAYS_H
#define KEYD_KEY_WAYS_H

#include "key_ranks.h"

#define KEY_HOPS_MAX (2 * HD_KEY_LEVELS)

struct key_way {
	uint32_t hops;
	uint32_t links[KEY_HOPS_MAX];
};

struct key_way_item {
	uint32_t source; /* switch */
	uint32_t weight; /* flows */
	struct key_way way; /* result; a path that is given to key_ways_move() */
};

struct key_bundle {
	uint32_t destination; /* switch, which all sources reach */
	uint32_t first, count; /* items */
};

struct key_ways {
	const struct key_ranks *ranks;
	struct key_way_item *items;
	struct key_bundle *bundles;
	uint32_t item_count, bundle_count;
	const uint32_t *others; /* [isl_count] flows that are there already; NULL: none */
	uint64_t variant; /* of choices between equal paths; 0: the first */
};

/*
 * Finds ways for all items: so that the most flows on a link are few, then that few flows share a link. at_least: a
 * number of flows that some link must carry. Errors: -ENOMEM. Cost: O(items * links above the leaves) for each of at
 * most a few hundred rounds, which end early where many links have been looked at.
 */
int key_ways_find(struct key_ways *ways, uint32_t at_least);

/*
 * Moves ways so that their links carry fewer flows together with those of others, and not more than `most` of the
 * items. The most flows on a link never become more. Errors and cost: as key_ways_find().
 */
int key_ways_move(struct key_ways *ways, uint32_t most);

#endif
