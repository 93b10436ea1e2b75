/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree of one destination by turns of the sets. It grows from the destination, level by level: a switch joins by a
 * link after which all turns to the destination are in the set of one and the same lane. Among such links the one with
 * the fewest conflicts is taken (conflicts.h). If switches are left over, those nearest to the destination get their
 * paths in the spanning tree, and the tree grows again around these.
 */
#ifndef ENGINES_TURN_TREE_H
#define ENGINES_TURN_TREE_H

#include "link_number.h"
#include "turn_sets.h"

struct turn_trees {
	const struct turn_sets *sets;
	const struct hd_fabric *fabric;
	const uint32_t *parallel; /* [isl_count] classes of links: parallel_links.h */
	const bool *uncounted; /* [isl_count] links without a load; NULL: none */
	uint32_t *load; /* [isl_count] source hosts over a link, of the trees that are counted */
	uint32_t *own; /* [isl_count] LIDs to which a switch with hosts sends over its link */
	/* ---- of the tree at hand ---- */
	uint32_t destination;
	uint32_t reached;
	uint32_t *order; /* [switch_count] the switches in the tree, the destination first */
	uint32_t *hops; /* [switch_count] to the destination; HD_NONE: not in the tree */
	uint16_t *lanes; /* [switch_count] bits: those in which all turns are */
	uint64_t *length; /* [switch_count] sum of the loads to the destination */
	/* ---- for turn_tree.c alone ---- */
	uint32_t *next, *level; /* [switch_count] lists of switches that join at a level */
	uint32_t *down; /* [switch_count] link to the destination, for its ancestors */
	uint32_t *weight; /* [switch_count] */
	uint64_t *cost; /* [switch_count] of the best link so far */
	bool *fixed; /* [switch_count] it has its path in the spanning tree */
	uint8_t *before; /* [switch_count] the entries so far */
};

/* Without any tree. Errors: -ENOMEM. */
int turn_trees_begin(struct turn_trees *trees, const struct turn_sets *sets,
		     const uint32_t *parallel, const bool *uncounted, struct hd_arena *arena);

/*
 * Fills tree[switch_count], numbers of links among those of each switch, and what is known of the tree at hand. On
 * entry tree[] has the entries so far; among equal links they stay, with `keep` wherever they can. free: any turn will do.
 * False: there is no such tree, and tree[] means nothing. Cost: O(links) for each attempt, of which there are at most
 * log2(switches) + 1.
 */
bool turn_trees_grow(struct turn_trees *trees, uint32_t destination, bool keep, bool free,
		     uint8_t *tree);

/* The same without paths in the spanning tree: switches that no turns reach keep LINK_NUMBER_NONE. False: some do. Cost:
 * O(links). */
bool turn_trees_grow_some(struct turn_trees *trees, uint32_t destination, bool keep, uint8_t *tree);

/* Finds the order and the hops of a tree that is there. False: an entry is missing, or there is a loop. Cost:
 * O(switches). */
bool turn_trees_follow(struct turn_trees *trees, uint32_t destination, const uint8_t *tree);

/* After turn_trees_follow(): finds the lanes. False: the path from some switch with hosts is in no lane. Cost:
 * O(switches). */
bool turn_trees_find_lanes(struct turn_trees *trees, const uint8_t *tree);

/* Counts the tree at hand, or takes it out with sign UINT32_MAX. Cost: O(switches). */
void turn_trees_count(struct turn_trees *trees, const uint8_t *tree, uint32_t sign);

#endif
