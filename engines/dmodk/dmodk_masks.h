/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a damaged tree still has, as bit masks over the groups of a level, and what of it leads to
 * one destination. 64 switches or cables are looked at at once.
 *
 * Layout of a mask of level l: one bit for each group. The groups above one group of level l - 1
 * are as many slices, each in the layout of level l - 1; slices of level 1 are single bits.
 */
#ifndef ENGINES_DMODK_MASKS_H
#define ENGINES_DMODK_MASKS_H

#include <heddle/fabric/regular_tree.h>

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

#endif
