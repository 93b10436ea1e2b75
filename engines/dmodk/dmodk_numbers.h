/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The numbers of D-mod-K: which of its cables a switch of the completed tree takes, and which
 * one if some are lost. */
#ifndef ENGINES_DMODK_NUMBERS_H
#define ENGINES_DMODK_NUMBERS_H

#include <heddle/fabric/regular_tree.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- the closed form ---- */

/* Cables up of a switch of the level. Cable n leads to parent n % parents. */
static inline uint32_t dmodk_cables_up(const struct hd_regular_tree *tree, uint32_t level)
{
	return tree->parents[level] * tree->parent_links[level];
}

/* The cable by which packets to host number d climb from a level. */
static inline uint32_t dmodk_host_climb(const struct hd_regular_tree *tree, uint32_t level,
					uint32_t d)
{
	return d / tree->above[level] % dmodk_cables_up(tree, level);
}

/* Of the cables to a child of a switch of the level: the one by which packets to host d descend. */
static inline uint32_t dmodk_host_descent(const struct hd_regular_tree *tree, uint32_t level,
					  uint32_t d)
{
	return dmodk_host_climb(tree, level - 1, d) / tree->parents[level - 1];
}

/*
 * The cable by which packets to a switch's own LID climb from a level: towards the switch while it
 * is higher, and to any parent otherwise. `spread` is the switch's ordinal plus the LID's offset.
 */
static inline uint32_t dmodk_switch_climb(const struct hd_regular_tree *tree, uint32_t level,
					  uint32_t target, uint32_t spread)
{
	uint32_t number = tree->level[target] > level ? tree->group[target] : spread;
	uint32_t parent = number / tree->above[level] % tree->parents[level];

	return spread % tree->parent_links[level] * tree->parents[level] + parent;
}

/* Of the cables to a child of a switch of the level: the one by which packets to a switch's own
 * LID descend. */
static inline uint32_t dmodk_switch_descent(const struct hd_regular_tree *tree, uint32_t level,
					    uint32_t spread)
{
	return spread % tree->child_links[level];
}

/* What tells numbers apart that have the same first cable at a level: spreads their other cables. */
static inline uint32_t dmodk_key(const struct hd_regular_tree *tree, uint32_t level,
				 uint32_t number)
{
	return number / (tree->above[level] * dmodk_cables_up(tree, level));
}

/* ---- orders of preference ---- */

/* Orders of preference among the cables of a switch. */

struct dmodk_order {
	uint32_t count; /* cables, numbered from 0, fewer than 256 */
	uint32_t first; /* the cable that is best */
	uint32_t key; /* spreads equal firsts evenly over the other cables */
};

typedef bool dmodk_usable(const void *context, uint32_t cable);

/*
 * Lists the other cables in order of preference: how many cables each is beyond the first one,
 * 1 .. count - 1. The second cable of an order is number key % (count - 1) of the others, counted
 * from the first one up and around; the third is number key / (count - 1) % (count - 2) of those
 * then left, and so on. Orders whose keys follow each other have all cables equally often in each
 * place. steps: [count - 1]. Cost: O(count * count).
 */
void dmodk_list_steps(uint32_t count, uint32_t key, uint8_t *steps);

/* The first usable cable of the order, or `count` if none is. Cost: O(count * count). */
uint32_t dmodk_choose(const struct dmodk_order *order, dmodk_usable *usable, const void *context);

/* The cable that is `step` beyond the first one. */
static inline uint32_t dmodk_beyond(uint32_t count, uint32_t first, uint32_t step)
{
	uint32_t cable = first + step;

	return cable >= count ? cable - count : cable;
}

#endif
