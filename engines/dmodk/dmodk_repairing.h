/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files that repair the closed form's tables share. */
#ifndef ENGINES_DMODK_REPAIRING_H
#define ENGINES_DMODK_REPAIRING_H

#include "dmodk_masks.h"

#include <heddle/fabric/routes.h>
#include <stdatomic.h>

/* One LID of a destination switch. */
struct dmodk_item {
	uint32_t lid;
	uint32_t number; /* d of a host, the spread of a switch */
	bool to_switch; /* the switch's own LID */
	/* per level: the cable up and the cable down of the closed form, and the key of the orders
	 * of preference that begin with them */
	const uint8_t *climb, *descent;
	const uint32_t *key;
	const uint8_t *turn; /* dmodk_turn() of the key, among the cables up */
};

/* One worker's memory, and the destination that it is at. */
struct dmodk_repairing {
	struct dmodk_damage *damage;
	struct dmodk_reach reach;
	uint32_t sw; /* the destination switch */
	struct dmodk_item *items; /* its LIDs */
	uint32_t item_count;
	uint8_t *numbers; /* of the items: [3 * level_count] each */
	uint32_t *keys; /* [level_count] each */
	/* per level and cable up: the first item that takes it in the closed form; and per item and
	 * level the next one. HD_NONE: none */
	uint32_t *first_item, *next_item;
	uint8_t *reached; /* [switch_count], see repair_rest() */
	uint32_t *rest; /* [switch_count] */
};

/* The cables up of the switches of a level. What would be divisions is looked up. */
struct dmodk_cables {
	uint32_t count;
	uint8_t parent[HD_TREE_FANOUT], parallel[HD_TREE_FANOUT]; /* of each cable */
	uint8_t *block_turn; /* dmodk_turn() of each block */
};

struct dmodk_damage {
	const struct hd_regular_tree *tree;
	const uint32_t *position, *component;
	struct hd_routes *routes;
	struct dmodk_masks masks;
	struct dmodk_cables *cables; /* per level below the top */
	struct dmodk_repairing *workers;
	bool strays; /* a switch has cables but no place in the tree */
	atomic_bool cut;
};

/* A switch that is looked at. */
struct dmodk_spot {
	uint32_t level, block, bit, sw;
};

static inline const struct hd_regular_tree *dmodk_tree_of(const struct dmodk_repairing *repairing)
{
	return repairing->damage->tree;
}

static inline const uint64_t *dmodk_mask_of(const struct dmodk_repairing *repairing,
					    uint64_t **list, uint32_t level, uint32_t block)
{
	return list[level] + (size_t)block * repairing->damage->masks.words[level];
}

static inline const uint64_t *dmodk_reach_of(const struct dmodk_repairing *repairing,
					     uint64_t **list, uint32_t level, uint32_t block)
{
	return dmodk_reach_mask(&repairing->damage->masks, &repairing->reach, list, level, block);
}

/* The i-th of the parallel cables up of a block's switches. */
static inline const uint64_t *dmodk_cable_of(const struct dmodk_repairing *repairing,
					     uint32_t level, uint32_t block, uint32_t i)
{
	const struct dmodk_masks *masks = &repairing->damage->masks;

	return masks->cable[level] +
	       ((size_t)block * dmodk_tree_of(repairing)->parent_links[level] + i) *
		   masks->words[level + 1];
}

static inline void dmodk_set_entry(const struct dmodk_repairing *repairing, uint32_t sw,
				   uint32_t lid, uint8_t port)
{
	hd_routes_row(repairing->damage->routes, sw)[lid] = port;
}

static inline void dmodk_set_entries(const struct dmodk_repairing *repairing, uint32_t sw,
				     uint8_t port)
{
	for (uint32_t i = 0; i < repairing->item_count; i++)
		dmodk_set_entry(repairing, sw, repairing->items[i].lid, port);
}

/* Calls visit for each bit of a word of a mask whose switch is present. */
static inline void dmodk_each_bit(struct dmodk_repairing *repairing, uint32_t level, uint32_t block,
				  uint32_t word, uint64_t bits,
				  void (*visit)(struct dmodk_repairing *repairing,
						const struct dmodk_spot *spot,
						const struct dmodk_item *item),
				  const struct dmodk_item *item)
{
	const struct dmodk_masks *masks = &repairing->damage->masks;
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);

	for (; bits; bits &= bits - 1) {
		uint32_t bit = word * 64 + (uint32_t)__builtin_ctzll(bits);
		uint32_t group = masks->group_of[level][bit];
		const struct dmodk_spot spot = {
		    .level = level,
		    .block = block,
		    .bit = bit,
		    .sw = tree->at[level][(size_t)block * tree->above[level] + group]};
		visit(repairing, &spot, item);
	}
}

/* ---- dmodk_items.c ---- */

/* Lists the LIDs of a destination switch. */
void dmodk_items_list(struct dmodk_repairing *repairing, uint32_t sw);

/* Most LIDs that one switch and its hosts have. */
uint32_t dmodk_items_most(const struct hd_fabric *fabric);

/* ---- dmodk_paths.c ---- */

/* Entries of a block's switches that have a legal path, but not by the cable of the closed form. */
void dmodk_paths_repair(struct dmodk_repairing *repairing, uint32_t level, uint32_t block);

/* Leads an entry up by the first cable that leads to a switch of `classes`. */
void dmodk_paths_climb(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
		       const struct dmodk_item *item, uint64_t **classes);

/* Leads an entry down to a child by the first usable cable. */
void dmodk_paths_descend(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			 const struct dmodk_item *item, uint32_t child);

/* ---- dmodk_detours.c ---- */

/* Entries of a block's switches without a legal path. */
void dmodk_detours_repair(struct dmodk_repairing *repairing, uint32_t level, uint32_t block);

/* ---- dmodk_rest.c ---- */

/*
 * Entries of switches that the masks do not reach, such as those without a place in the tree: in
 * rounds, each goes to its lowest-numbered neighbour that an earlier round has reached. Entries
 * that lead nowhere become holes. Cost: O(rounds * links of these switches).
 */
void dmodk_rest_repair(struct dmodk_repairing *repairing);

#endif
