/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files that repair the closed form's tables share. */
#ifndef ENGINES_DMODK_REPAIRING_H
#define ENGINES_DMODK_REPAIRING_H

#include "dmodk_masks.h"

#include <heddle/fabric/routes.h>
#include <stdatomic.h>
#include <string.h>

/* One LID of a destination switch. */
struct dmodk_item {
	uint32_t lid;
	uint32_t number; /* d of a host, the spread of a switch */
	bool to_switch; /* the switch's own LID */
	const uint8_t *descent; /* per level: the cable down of the closed form */
};

/* LIDs of the items that follow each other. */
struct dmodk_span {
	uint32_t lid, count;
};

/* Items that follow each other and have the same order of preference at a level. */
struct dmodk_run {
	uint32_t begin, end; /* items */
	uint32_t key; /* of the order; the number of the switch's block is added */
	uint32_t first; /* the cable up of the closed form, the first of the order */
	uint32_t lid; /* of the first item */
	bool follow; /* the LIDs of the others follow it */
	uint32_t next; /* at the leaves: the next run with the same first cable; HD_NONE: none */
};

/* One worker's memory, and the destination that it is at. */
struct dmodk_repairing {
	struct dmodk_damage *damage;
	struct dmodk_reach reach;
	uint32_t sw; /* the destination switch */
	struct dmodk_item *items; /* its LIDs */
	struct dmodk_span *spans;
	uint32_t item_count, span_count;
	uint8_t *descents; /* of the items: [level_count] each */
	struct dmodk_run **runs; /* per level below the top */
	uint32_t *run_count;
	/* of the leaves, by bit of the masks of their cables: the first run that takes the cable in
	 * the closed form; HD_NONE: none */
	uint32_t *first_run;
	uint64_t *taken; /* the same as masks: cables that a run takes */
	uint8_t *reached; /* [switch_count], see repair_rest() */
	uint32_t *rest; /* [switch_count] */
};

/* The switches of a level and their cables up. What would be divisions or far away is looked up. */
struct dmodk_cables {
	uint32_t count;
	uint8_t parent[HD_TREE_FANOUT], parallel[HD_TREE_FANOUT]; /* of each cable */
	uint16_t leaf_bit[HD_TREE_FANOUT]; /* level 0: of each cable in the masks of a leaf */
	/* [key * (count - 1)]: dmodk_list_steps() of each key */
	uint8_t *steps;
	uint8_t *ports; /* [(block * above + group) * (count + 1)], the last is HD_NO_PORT */
};

struct dmodk_damage {
	const struct hd_regular_tree *tree;
	const uint32_t *position, *component;
	struct hd_routes *routes;
	/* baseline and tables in place, of the same size: entries that cannot have the cable of the
	 * closed form keep the first of them that leads to the destination */
	const struct hd_routes *kept[2];
	uint32_t kept_count;
	struct dmodk_masks masks;
	struct dmodk_cables *cables; /* per level below the top */
	uint8_t ***row; /* per level: the table of each switch, [block * above + group] */
	struct dmodk_repairing *workers;
	bool strays; /* a switch has cables but no place in the tree */
	atomic_bool cut;
};

/* A switch that is looked at. */
struct dmodk_spot {
	uint32_t level, block, bit;
	uint32_t place; /* block * above + group */
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

static inline uint8_t *dmodk_row_of(const struct dmodk_repairing *repairing,
				    const struct dmodk_spot *spot)
{
	return repairing->damage->row[spot->level][spot->place];
}

/* The n-th kept table of a switch whose new one is `row`. */
static inline const uint8_t *dmodk_kept_row(const struct dmodk_damage *damage, uint32_t n,
					    const uint8_t *row)
{
	return damage->kept[n]->lft + (row - damage->routes->lft);
}

static inline uint32_t dmodk_switch_of(const struct dmodk_repairing *repairing,
				       const struct dmodk_spot *spot)
{
	return dmodk_tree_of(repairing)->at[spot->level][spot->place];
}

static inline void dmodk_set_entries(const struct dmodk_repairing *repairing, uint8_t *row,
				     uint8_t port)
{
	for (uint32_t i = 0; i < repairing->span_count; i++)
		memset(row + repairing->spans[i].lid, port, repairing->spans[i].count);
}

static inline struct dmodk_spot dmodk_spot_at(const struct dmodk_repairing *repairing,
					      uint32_t level, uint32_t block, uint32_t bit)
{
	const struct dmodk_masks *masks = &repairing->damage->masks;

	return (struct dmodk_spot){.level = level,
				   .block = block,
				   .bit = bit,
				   .place = block * dmodk_tree_of(repairing)->above[level] +
					    masks->group_of[level][bit]};
}

/* ---- dmodk_items.c ---- */

/* Lists the LIDs of a destination switch, and the runs of them. */
void dmodk_items_list(struct dmodk_repairing *repairing, uint32_t sw);

/* Most LIDs that one switch and its hosts have. */
uint32_t dmodk_items_most(const struct hd_fabric *fabric);

/* ---- dmodk_paths.c ---- */

/* Entries of a level's switches that have a legal path, but not by the cable of the closed form. */
void dmodk_paths_repair(struct dmodk_repairing *repairing, uint32_t level);

/* Leads all entries up, each by the first of its cables that leads to a switch of `classes`. */
void dmodk_paths_climb(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
		       uint64_t **classes);

/* Leads an entry down to a child by the first usable cable. */
void dmodk_paths_descend(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			 const struct dmodk_item *item, uint32_t child);

/* ---- dmodk_detours.c ---- */

/* Entries of a level's switches without a legal path. */
void dmodk_detours_repair(struct dmodk_repairing *repairing, uint32_t level);

/* ---- dmodk_rest.c ---- */

/*
 * Entries of switches that the masks do not reach, such as those without a place in the tree: in
 * rounds, each goes to its lowest-numbered neighbour that an earlier round has reached. Entries
 * that lead nowhere become holes. Cost: O(rounds * links of these switches).
 */
void dmodk_rest_repair(struct dmodk_repairing *repairing);

#endif
