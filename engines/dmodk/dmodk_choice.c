/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_choice.h"

#include <string.h>

void dmodk_list_steps(uint32_t count, uint32_t key, uint8_t *steps)
{
	uint8_t left[256];

	for (uint32_t i = 0; i + 1 < count; i++)
		left[i] = (uint8_t)(i + 1);
	for (uint32_t many = count - 1; many && many < count; many--) {
		uint32_t at = key % many;
		*steps++ = left[at];
		memmove(left + at, left + at + 1, many - at - 1);
		key /= many;
	}
}

uint32_t dmodk_choose(const struct dmodk_order *order, dmodk_usable *usable, const void *context)
{
	uint8_t steps[256];

	if (usable(context, order->first))
		return order->first;
	dmodk_list_steps(order->count, order->key, steps);
	for (uint32_t i = 0; i + 1 < order->count; i++) {
		uint32_t cable = dmodk_beyond(order->count, order->first, steps[i]);
		if (usable(context, cable))
			return cable;
	}
	return order->count;
}
