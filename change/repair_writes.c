/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The writes of a plan, from the steps of its entries. A block is written in each step in which an
 * entry of it changes, with its other entries as they are after that step.
 */
#include "repair_work.h"

#include <errno.h>
#include <string.h>

/* The changes begin .. end-1 are of one block of a switch. */
static uint32_t block_end(const struct hd_repair_plan *plan, uint32_t begin)
{
	const struct hd_repair_change *first = &plan->changes[begin];
	uint32_t end = begin;

	while (end < plan->entries && plan->changes[end].sw == first->sw &&
	       plan->changes[end].lid / HD_LFT_BLOCK == first->lid / HD_LFT_BLOCK)
		end++;
	return end;
}

/* The first step from `from` on in which a block changes; HD_NONE: it does not change any more. */
static uint32_t next_step(const struct hd_repair_change *changes, uint32_t count, uint32_t from)
{
	uint32_t step = HD_NONE;

	for (uint32_t i = 0; i < count; i++)
		if (changes[i].step >= from && changes[i].step < step)
			step = changes[i].step;
	return step;
}

static void fill(struct hd_repair_write *write, const struct hd_routes *in_place,
		 const struct hd_repair_change *changes, uint32_t count, uint32_t step)
{
	const uint32_t lid = changes->lid / HD_LFT_BLOCK * HD_LFT_BLOCK;

	write->sw = changes->sw;
	write->block = lid / HD_LFT_BLOCK;
	write->step = step;
	memcpy(write->ports, hd_routes_row(in_place, changes->sw) + lid, HD_LFT_BLOCK);
	for (uint32_t i = 0; i < count; i++)
		if (changes[i].step <= step)
			write->ports[changes[i].lid - lid] = changes[i].after;
}

/* Counts the writes of each step in at[step + 1], or fills them in where at[step] says. */
static void list(const struct hd_repair_plan *plan, const struct hd_routes *in_place, uint32_t *at,
		 struct hd_repair_write *writes)
{
	for (uint32_t begin = 0, end; begin < plan->entries; begin = end) {
		const struct hd_repair_change *changes = &plan->changes[begin];
		end = block_end(plan, begin);
		for (uint32_t step = next_step(changes, end - begin, 0); step != HD_NONE;
		     step = next_step(changes, end - begin, step + 1)) {
			if (writes)
				fill(&writes[at[step]++], in_place, changes, end - begin, step);
			else
				at[step + 1]++;
		}
	}
}

int repair_writes_list(struct hd_repair_plan *plan, const struct hd_routes *in_place)
{
	uint32_t *at = hd_arena_alloc(&plan->arena, plan->steps + 1u, sizeof(*at));

	if (!at)
		return -ENOMEM;
	list(plan, in_place, at, NULL);
	for (uint32_t step = 0; step < plan->steps; step++)
		at[step + 1] += at[step];
	const uint32_t count = at[plan->steps];
	struct hd_repair_write *writes = hd_arena_alloc(&plan->arena, count, sizeof(*writes));
	if (!writes)
		return -ENOMEM;
	list(plan, in_place, at, writes);
	plan->writes = writes;
	plan->write_count = count;
	return 0;
}

int hd_repair_plan_reorder(struct hd_repair_plan *plan, const struct hd_routes *in_place,
			   uint32_t steps, hd_repair_step_fn *step, void *context,
			   struct hd_error *err)
{
	const struct hd_repair_plan before = *plan;
	struct hd_repair_change *changes =
	    hd_arena_alloc(&plan->arena, plan->entries, sizeof(*changes));

	for (uint32_t i = 0; changes && i < plan->entries; i++) {
		changes[i] = before.changes[i];
		changes[i].step = step(context, changes[i].sw, changes[i].lid);
	}
	plan->changes = changes;
	plan->steps = steps;
	if (changes && !repair_writes_list(plan, in_place))
		return 0;
	plan->changes = before.changes;
	plan->steps = before.steps;
	return hd_error_no_memory(err);
}
