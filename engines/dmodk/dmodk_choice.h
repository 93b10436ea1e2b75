/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Orders of preference among the cables of a switch. */
#ifndef ENGINES_DMODK_CHOICE_H
#define ENGINES_DMODK_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct dmodk_order {
	uint32_t count; /* cables, numbered from 0, fewer than 256 */
	uint32_t first; /* the cable that is best */
	uint32_t key; /* spreads equal firsts evenly over the other cables */
};

/*
 * The first cable of the order that is usable, or `count` if none is. The second cable of an order
 * is number key % (count - 1) of the others, counted from the first one up and around; the third is
 * number key / (count - 1) % (count - 2) of those then left, and so on. Orders whose keys follow
 * each other have all cables equally often in each place. Cost: O(cables tried * count).
 */
uint32_t dmodk_choose(const struct dmodk_order *order,
		      bool (*usable)(const void *context, uint32_t cable), const void *context);

#endif
