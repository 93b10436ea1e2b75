/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files that repair the closed form's tables share. */
#ifndef ENGINES_DMODK_REPAIRING_H
#define ENGINES_DMODK_REPAIRING_H

#include "dmodk_masks.h"

#include <heddle/fabric/routes.h>
#include <stdatomic.h>

/* One LID of a destination switch. */
struct item {
	uint32_t lid;
	uint32_t number; /* d of a host, the spread of a switch */
	bool to_switch; /* the switch's own LID */
	/* per level: the cable up and the cable down of the closed form, and the key of the orders
	 * of preference that begin with them */
	const uint8_t *climb, *descent;
	const uint32_t *key;
};

/* One worker's memory, and the destination that it is at. */
struct repairing {
	struct repair *repair;
	struct dmodk_reach reach;
	uint32_t sw; /* the destination switch */
	struct item *items; /* its LIDs */
	uint32_t item_count;
	uint8_t *numbers; /* of the items: [2 * level_count] each */
	uint32_t *keys; /* [level_count] each */
	/* per level and cable up: the first item that takes it in the closed form; and per item and
	 * level the next one. HD_NONE: none */
	uint32_t *first_item, *next_item;
	uint8_t *reached; /* [switch_count], see repair_rest() */
	uint32_t *rest; /* [switch_count] */
};

struct repair {
	const struct hd_regular_tree *tree;
	const uint32_t *position, *component;
	struct hd_routes *routes;
	struct dmodk_masks masks;
	struct repairing *workers;
	bool strays; /* a switch has cables but no place in the tree */
	atomic_bool cut;
};

/* A switch that is looked at. */
struct spot {
	uint32_t level, block, bit, sw;
};

static inline const struct hd_regular_tree *tree_of(const struct repairing *repairing)
{
	return repairing->repair->tree;
}

static inline const uint64_t *mask_of(const struct repairing *repairing, uint64_t **list,
				      uint32_t level, uint32_t block)
{
	return list[level] + (size_t)block * repairing->repair->masks.words[level];
}

static inline const uint64_t *reach_of(const struct repairing *repairing, uint64_t **list,
				       uint32_t level, uint32_t block)
{
	return dmodk_reach_mask(&repairing->repair->masks, &repairing->reach, list, level, block);
}

/* The i-th of the parallel cables up of a block's switches. */
static inline const uint64_t *cable_of(const struct repairing *repairing, uint32_t level,
				       uint32_t block, uint32_t i)
{
	const struct dmodk_masks *masks = &repairing->repair->masks;

	return masks->cable[level] + ((size_t)block * tree_of(repairing)->parent_links[level] + i) *
					 masks->words[level + 1];
}

static inline void set_entry(const struct repairing *repairing, uint32_t sw, uint32_t lid,
			     uint8_t port)
{
	hd_routes_row(repairing->repair->routes, sw)[lid] = port;
}

static inline void set_entries(const struct repairing *repairing, uint32_t sw, uint8_t port)
{
	for (uint32_t i = 0; i < repairing->item_count; i++)
		set_entry(repairing, sw, repairing->items[i].lid, port);
}

/*
 * Entries of switches that the masks do not reach, such as those without a place in the tree: in
 * rounds, each goes to its lowest-numbered neighbour that an earlier round has reached. Entries
 * that lead nowhere become holes. Cost: O(rounds * links of these switches).
 */
void dmodk_rest_repair(struct repairing *repairing);

#endif
