/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the entries before and after each step of a plan can lead in a circle together. */
#include "mixture.h"
#include "remains.h"

#include <errno.h>
#include <heddle/change/repair.h>
#include <string.h>

struct checking {
	struct hd_arena arena;
	struct remains remains;
	struct mixture mixture;
	uint32_t stride;
	uint8_t *now, *then; /* [switch_count * stride] */
	bool *changes; /* [stride] an entry for the LID changes in the step */
};

static int begin(struct checking *checking, const struct hd_fabric *fabric,
		 const struct hd_routes *in_place, const struct hd_fabric *damaged)
{
	const size_t entries = (size_t)fabric->switch_count * in_place->stride;
	struct hd_arena *arena = &checking->arena;

	checking->stride = in_place->stride;
	checking->now = hd_arena_alloc(arena, entries, 1);
	checking->then = hd_arena_alloc(arena, entries, 1);
	checking->changes = hd_arena_alloc(arena, in_place->stride, sizeof(bool));
	if (remains_init(&checking->remains, fabric, damaged, arena) ||
	    mixture_init(&checking->mixture, fabric, checking->remains.port_step, arena))
		return -ENOMEM;
	memcpy(checking->now, in_place->lft, entries);
	memcpy(checking->then, in_place->lft, entries);
	checking->mixture.tables[0] = checking->now;
	checking->mixture.tables[1] = checking->then;
	checking->mixture.stride[0] = checking->mixture.stride[1] = in_place->stride;
	return 0;
}

static uint8_t *block_in(const struct checking *checking, uint8_t *tables,
			 const struct hd_repair_write *write)
{
	return tables + (size_t)write->sw * checking->stride + (size_t)write->block * HD_LFT_BLOCK;
}

static void take(struct checking *checking, const struct hd_repair_write *write)
{
	const uint8_t *before = block_in(checking, checking->now, write);

	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++)
		checking->changes[write->block * HD_LFT_BLOCK + i] |= before[i] != write->ports[i];
	memcpy(block_in(checking, checking->then, write), write->ports, HD_LFT_BLOCK);
}

/* Returns a LID that can loop in some step, 0: none. */
static uint32_t check_steps(struct checking *checking, const struct hd_repair_plan *plan)
{
	for (uint32_t begin = 0, end; begin < plan->write_count; begin = end) {
		memset(checking->changes, 0, checking->stride);
		for (end = begin;
		     end < plan->write_count && plan->writes[end].step == plan->writes[begin].step;
		     end++)
			take(checking, &plan->writes[end]);
		for (uint32_t lid = 0; lid < checking->stride; lid++)
			if (checking->changes[lid] && mixture_loops(&checking->mixture, lid))
				return lid;
		for (uint32_t i = begin; i < end; i++)
			memcpy(block_in(checking, checking->now, &plan->writes[i]),
			       plan->writes[i].ports, HD_LFT_BLOCK);
	}
	return 0;
}

int hd_repair_find_loop(const struct hd_fabric *fabric, const struct hd_routes *in_place,
			const struct hd_fabric *damaged, const struct hd_repair_plan *plan,
			uint32_t *lid, struct hd_error *err)
{
	struct checking checking = {.stride = 0};
	int rc = begin(&checking, fabric, in_place, damaged) ? hd_error_no_memory(err) : 0;

	if (!rc)
		*lid = check_steps(&checking, plan);
	hd_arena_release(&checking.arena);
	return rc;
}
