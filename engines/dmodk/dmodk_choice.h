/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Orders of preference among the cables of a switch. */
#ifndef ENGINES_DMODK_CHOICE_H
#define ENGINES_DMODK_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct dmodk_order {
	uint32_t count; /* cables, numbered from 0, fewer than 256 */
	uint32_t first; /* the cable that is best */
	uint32_t second; /* dmodk_second() of dmodk_turn() of the key; any number if count < 2 */
	uint32_t key; /* spreads equal firsts evenly over the other cables */
};

typedef bool dmodk_usable(const void *context, uint32_t cable);

/* The first usable cable after the first two of the order, or `count`. Cost: O(cables tried *
 * count). */
uint32_t dmodk_choose_late(const struct dmodk_order *order, dmodk_usable *usable,
			   const void *context);

/* By how many of the other cables a key's second cable is beyond the one after the first. */
static inline uint32_t dmodk_turn(uint32_t count, uint32_t key)
{
	return count < 2 ? 0 : key % (count - 1);
}

/* The second cable of an order. */
static inline uint32_t dmodk_second(uint32_t count, uint32_t first, uint32_t turn)
{
	uint32_t second = first + 1 + turn;

	return second >= count ? second - count : second;
}

/*
 * The first cable of the order that is usable, or `count` if none is. The second cable of an order
 * is number key % (count - 1) of the others, counted from the first one up and around; the third is
 * number key / (count - 1) % (count - 2) of those then left, and so on. Orders whose keys follow
 * each other have all cables equally often in each place. Inline, because most calls end with the
 * second cable.
 */
static inline uint32_t dmodk_choose(const struct dmodk_order *order, dmodk_usable *usable,
				    const void *context)
{
	if (usable(context, order->first))
		return order->first;
	if (order->count < 2)
		return order->count;
	return usable(context, order->second) ? order->second
					      : dmodk_choose_late(order, usable, context);
}

#endif
