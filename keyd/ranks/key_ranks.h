/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees that are not regular: leaves with different numbers of cables, directors, cascades, hosts on switches above
 * the leaves. Levels are those that dmodk routes by. A path climbs to a switch above its destination, and then
 * descends. A switch that is above the destination never climbs. So all paths of keys, and those that begin in the
 * tables without keys and go on in a key's entries, climb and then descend.
 */
#ifndef KEYD_KEY_RANKS_H
#define KEYD_KEY_RANKS_H

#include "key_tree.h"

/* The levels of a tree that is not regular. */

/*
 * Finds the levels: the first tree of hd_tree_find() in which all leaves have paths to each other, as dmodk does; else
 * the one of these, of the tree without stray cables, and of those in which routers make no leaf, in which the fewest
 * pairs of leaves have none. Memory is the arena's. Errors: -ENOTSUP the fabric is no tree, or has too many levels,
 * with the reason; -ENOMEM. Cost: O(links * switches / 64) for each tree.
 */
int key_levels_find(const struct hd_fabric *fabric, struct hd_arena *arena, struct key_ranks **out,
		    struct hd_error *err);

enum key_direction { KEY_CLIMBS, KEY_DESCENDS, KEY_STRAY };

struct key_ranks {
	const struct hd_fabric *fabric;
	uint32_t words; /* of a set of switches */
	uint32_t highest; /* level */
	uint8_t *level; /* [switch_count] HD_TREE_NO_LEVEL: none */
	uint8_t *direction; /* [isl_count] enum key_direction */
	uint64_t *
	    below; /* [switch_count * words] switches that each one reaches by descending, and itself */
	uint64_t *
	    reach; /* [switch_count * words] those that it reaches by climbing and then descending */
};

static inline bool key_ranks_is_above(const struct key_ranks *ranks, uint32_t sw,
				      uint32_t destination)
{
	return ranks->below[(size_t)sw * ranks->words + destination / 64] >> destination % 64 & 1;
}

static inline bool key_ranks_reaches(const struct key_ranks *ranks, uint32_t sw,
				     uint32_t destination)
{
	return ranks->reach[(size_t)sw * ranks->words + destination / 64] >> destination % 64 & 1;
}

/* Whether a link may be the next hop of a path to the destination, which the switch reaches. */
static inline bool key_ranks_is_step(const struct key_ranks *ranks, uint32_t sw, uint32_t link,
				     uint32_t destination)
{
	uint32_t to = ranks->fabric->isl_to[link];

	return key_ranks_is_above(ranks, sw, destination)
		   ? ranks->direction[link] == KEY_DESCENDS &&
			 key_ranks_is_above(ranks, to, destination)
		   : ranks->direction[link] == KEY_CLIMBS &&
			 key_ranks_reaches(ranks, to, destination);
}

/* The highest of the levels of switches that have one. O(switches) */
uint32_t key_ranks_highest(const struct hd_fabric *fabric, const uint8_t *level);

/*
 * The tree of these levels, which are copied: HD_TREE_NO_LEVEL where a switch has none. Memory is the arena's. Errors:
 * -ENOMEM. Cost: O(links * switches / 64).
 */
int key_ranks_make(const struct hd_fabric *fabric, const uint8_t *level, struct hd_arena *arena,
		   struct key_ranks **out);

#endif
