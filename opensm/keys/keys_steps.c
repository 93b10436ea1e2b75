/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_steps.h"
#include "keys_blocks.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <stdlib.h>
#include <string.h>

static struct hd_repair_write *append(struct keys_steps *order, uint32_t count)
{
	struct hd_repair_write *writes =
	    hd_grow(order->writes, order->count, count, &order->room, sizeof(*writes));

	if (!writes)
		return NULL;
	order->writes = writes;
	order->count += count;
	return writes + order->count - count;
}

static void fill(struct hd_repair_write *write, const struct keys_block *block, uint32_t step)
{
	write->sw = block->sw;
	write->block = block->number;
	write->step = step;
	memcpy(write->ports, block->after, HD_LFT_BLOCK);
}

int keys_steps_add_blocks(struct keys_steps *order, const struct keys_blocks *blocks)
{
	struct hd_repair_write *writes = blocks->count ? append(order, blocks->count) : NULL;

	if (!blocks->count)
		return 0;
	if (!writes)
		return -ENOMEM;
	for (uint32_t i = 0; i < blocks->count; i++)
		fill(&writes[i], &blocks->list[i], order->steps);
	order->steps++;
	return 0;
}

int keys_steps_add_plan(struct keys_steps *order, const struct hd_repair_plan *plan)
{
	struct hd_repair_write *writes =
	    plan->write_count ? append(order, plan->write_count) : NULL;

	if (!plan->write_count)
		return 0;
	if (!writes)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->write_count; i++) {
		writes[i] = plan->writes[i];
		writes[i].step += order->steps;
	}
	order->steps += plan->steps;
	return 0;
}

int keys_steps_add_holes(struct keys_steps *order, const struct keys_blocks *blocks)
{
	struct hd_repair_write *writes = blocks->count ? append(order, blocks->count) : NULL;

	if (!blocks->count)
		return 0;
	if (!writes)
		return -ENOMEM;
	for (uint32_t i = 0; i < blocks->count; i++) {
		const struct keys_block *block = &blocks->list[i];
		fill(&writes[i], block, order->steps);
		for (uint32_t j = 0; j < HD_LFT_BLOCK; j++)
			if (block->before[j] != block->after[j])
				writes[i].ports[j] = HD_NO_PORT;
	}
	order->steps++;
	return keys_steps_add_blocks(order, blocks);
}

void keys_steps_release(struct keys_steps *order)
{
	free(order->writes);
	*order = (struct keys_steps){0};
}

uint32_t keys_steps_end(const struct keys_steps *order, uint32_t begin)
{
	uint32_t end = begin;

	while (end < order->count && order->writes[end].step == order->writes[begin].step)
		end++;
	return end;
}

/* What the block of a write was before it. In one step no block comes twice. */
static const uint8_t *former(const struct keys_steps *order, uint32_t index,
			     const struct hd_routes *before)
{
	const struct hd_repair_write *write = &order->writes[index];

	while (write->step && index--)
		if (order->writes[index].sw == write->sw &&
		    order->writes[index].block == write->block)
			return order->writes[index].ports;
	return hd_routes_row(before, write->sw) + (size_t)write->block * HD_LFT_BLOCK;
}

int keys_steps_reverse(const struct keys_steps *order, uint32_t count,
		       const struct hd_routes *before, struct keys_steps *out)
{
	struct keys_steps back = {0};
	struct hd_repair_write *writes = count ? append(&back, count) : NULL;

	if (count && !writes)
		return -ENOMEM;
	back.steps = count ? order->writes[count - 1].step + 1 : 0;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t from = count - 1 - i;
		writes[i] = order->writes[from];
		writes[i].step = back.steps - 1 - order->writes[from].step;
		memcpy(writes[i].ports, former(order, from, before), HD_LFT_BLOCK);
	}
	*out = back;
	return 0;
}
