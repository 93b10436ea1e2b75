/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files that repair the closed form's tables share. */
#ifndef ENGINES_DMODK_REPAIRING_H
#define ENGINES_DMODK_REPAIRING_H

#include <heddle/fabric/regular_tree.h>
#include <heddle/fabric/routes.h>
#include <stdatomic.h>

/* ---- masks of a damaged tree ---- */

/*
 * What a damaged tree still has, as bit masks over the groups of a level, and what of it leads to
 * one destination. 64 switches or cables are looked at at once.
 *
 * Layout of a mask of level l: one bit for each group. The groups above one group of level l - 1
 * are as many slices, each in the layout of level l - 1; slices of level 1 are single bits.
 */

struct dmodk_masks {
	const struct hd_regular_tree *tree;
	uint32_t *words; /* per level: words of a mask */
	uint32_t **group_of; /* per level: group of each bit */
	uint64_t **valid; /* per level: [words] a bit for each group */
	uint64_t **present; /* per level: [block * words]: switches of the block */
	/* per level: [block] nothing is missing in the subtree and of its cables up */
	bool **whole;
	/* per level above the leaves, by block: its subtrees that are not whole,
	 * torn[block * children ..], and their number */
	uint32_t **torn, **torn_count;
	uint32_t **parent_block; /* per level below the top: [block] the block one level up */
	/* per level below the top, by block: the cables up of its switches. A bit stands for the
	 * switch at the upper end, so the layout is that of the level above. */
	uint64_t **cable; /* [(block * parent_links + i) * words above]: the i-th of parallel ones
			   */
	uint64_t **any; /* [block * words above]: at least one of the parallel ones */
};

/* A switch of the completed tree. */
struct dmodk_place {
	uint32_t level, block, group;
};

/*
 * Which switches lead to a destination: [block * words] per level. Each class leads to the class
 * itself or to one before it, never in a circle. Where all is as in the intact tree, in a whole
 * subtree, above it and on the way down, there are no masks.
 */
struct dmodk_reach {
	struct dmodk_place to;
	uint32_t *chain; /* per level: the block that has the destination in it; HD_NONE below it */
	bool **open; /* per level: [block] the masks are set */
	uint32_t **opened, *opened_count; /* per level: list of these blocks, and its length */
	uint64_t **legal; /* by climbing, then descending */
	uint64_t **descend; /* or by descending to such a switch */
	uint64_t **climb; /* or by climbing to such a switch */
	uint64_t **intact; /* per level: groups that are legal in the intact tree */
	/* the lowest level whose switches have lost one of several cables down which the closed form
	 * leads to the destination's block one level below; the number of levels: none */
	uint32_t lost_level;
	/* all switches of open blocks are legal; then `descend` and `climb` are not set */
	bool all;
	bool all_climb; /* all switches of open blocks are in `climb` */
};

/* Masks of the tree, in memory of the arena. Errors: -ENOMEM. Cost: O(cables + switches). */
int dmodk_masks_make(const struct hd_regular_tree *tree, struct hd_arena *arena,
		     struct dmodk_masks *out);

/* Memory for one reach at a time. Errors: -ENOMEM. */
int dmodk_reach_allocate(const struct dmodk_masks *masks, struct hd_arena *arena,
			 struct dmodk_reach *out);

/* Finds the reach of a destination. Cost: a word operation for each mask of `any`, and as many for
 * `descend` and `climb` where they are needed. */
void dmodk_reach_find(const struct dmodk_masks *masks, struct dmodk_place to,
		      struct dmodk_reach *reach);

/* The mask of a block in one of the lists of a reach: all of it where the block is not open. */
static inline const uint64_t *dmodk_reach_mask(const struct dmodk_masks *masks,
					       const struct dmodk_reach *reach, uint64_t **list,
					       uint32_t level, uint32_t block)
{
	uint64_t **of = reach->open[level][block] ? list : masks->present;

	return of[level] + (size_t)block * masks->words[level];
}

/* Whether a block has the destination in it, below its switches or as one of them. */
static inline bool dmodk_contains(const struct dmodk_reach *reach, uint32_t level, uint32_t block)
{
	return reach->chain[level] == block;
}

static inline bool dmodk_bit(const uint64_t *mask, uint32_t bit)
{
	return mask[bit / 64] >> bit % 64 & 1;
}

/* The bit, in the layout of the level above, of the parent of a switch's bit. */
static inline uint32_t dmodk_parent_bit(const struct dmodk_masks *masks, uint32_t level,
					uint32_t bit, uint32_t parent)
{
	return level ? parent * masks->words[level] * 64 + bit : parent;
}

/* Word `word`, in the layout of the level above, of a mask that is repeated for each parent. */
static inline uint64_t dmodk_repeated(const struct dmodk_masks *masks, uint32_t level,
				      const uint64_t *mask, uint32_t word)
{
	if (!level)
		return 0 - (mask[0] & 1);
	return mask[masks->words[level] == 1 ? 0 : word % masks->words[level]];
}

/* ---- the repair ---- */

#define DMODK_ANY 0xFF /* number of no parent */

/* One LID of a destination switch. */
struct dmodk_item {
	uint32_t lid;
	uint32_t number; /* d of a host, the spread of a switch */
	bool to_switch; /* the switch's own LID */
	uint8_t
	    avoid; /* parent that the sibling takes in the closed form, at part_level; DMODK_ANY */
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
	uint8_t avoid; /* parent that is taken last, DMODK_ANY */
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
	/* [host_count] see heddle/fabric/siblings.h; NULL: there are none */
	uint32_t *sibling;
	uint32_t
	    part_level; /* the lowest level with several parents: there the paths to siblings part */
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

/* ---- dmodk_paths.c ---- */

/* Entries of a level's switches that have a legal path, but not by the cable of the closed form. */
void dmodk_paths_repair(struct dmodk_repairing *repairing, uint32_t level);

/* Leads all entries up, each by the first of its cables that leads to a switch of `classes`. */
void dmodk_paths_climb(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
		       uint64_t **classes);

/* Leads an entry down to a child by the first usable cable. */
void dmodk_paths_descend(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			 const struct dmodk_item *item, uint32_t child);

#endif
