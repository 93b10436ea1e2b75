/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_choice.h"

/* Takes number `at` out of a list. */
static uint32_t take(uint8_t *list, uint32_t *count, uint32_t at)
{
	uint32_t taken = list[at];

	for (--*count; at < *count; at++)
		list[at] = list[at + 1];
	return taken;
}

uint32_t dmodk_choose_late(const struct dmodk_order *order, dmodk_usable *usable,
			   const void *context)
{
	uint8_t left[256];
	uint32_t count = order->count - 1, key = order->key;

	for (uint32_t i = 0; i < count; i++)
		left[i] = (uint8_t)((order->first + 1 + i) % order->count);
	take(left, &count, key % count);
	while (count) {
		key /= count + 1;
		uint32_t cable = take(left, &count, key % count);
		if (usable(context, cable))
			return cable;
	}
	return order->count;
}
