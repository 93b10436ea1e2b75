/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans as data: what is in them, and their memory. */
#include "plan_holder.h"
#include "plan_memory.h"
#include "plan_row.h"

#include <stdlib.h>

void hd_ar_plan_free(struct hd_ar_plan *plan)
{
	struct plan_holder *holder = (struct plan_holder *)plan;

	if (!holder || atomic_fetch_sub(&holder->others, 1))
		return;
	hd_ar_plan_free(holder->unpinned);
	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		plan_row_release(plan->switches[sw].row);
	plan_memory_free(holder->memory);
	hd_arena_release(&holder->arena);
	free(holder);
}

const char *hd_ar_state_name(enum hd_ar_state state)
{
	static const char *const names[] = {"bounded", "free", "static", "hash"};

	return names[state];
}

uint32_t hd_ar_plan_find(const struct hd_ar_plan *plan, uint64_t guid)
{
	uint32_t low = 0, high = plan->switch_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (plan->switches[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < plan->switch_count && plan->switches[low].guid == guid ? low : HD_NONE;
}

bool hd_ar_plan_equal(const struct hd_ar_plan *a, const struct hd_ar_plan *b)
{
	if (a->switch_count != b->switch_count || a->lid_count != b->lid_count ||
	    a->table_count != b->table_count || a->mode != b->mode)
		return false;
	for (uint32_t sw = 0; sw < a->switch_count; sw++)
		if (!plan_row_equal(&a->switches[sw], &b->switches[sw], a->table_count,
				    a->lid_count))
			return false;
	return true;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0.0;
}

double hd_ar_plan_share(const struct hd_ar_plan *plan)
{
	return share(plan->adaptive, plan->entries);
}

double hd_ar_plan_possible_share(const struct hd_ar_plan *plan)
{
	return share(plan->possible, plan->entries);
}

bool hd_ar_plan_has_groups(const struct hd_ar_plan *plan)
{
	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		if (plan->switches[sw].used)
			return true;
	return false;
}
