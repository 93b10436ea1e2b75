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
