/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plan_holder.h"
#include "plan_row.h"

#include <errno.h>
#include <heddle/ar_manager/plan_copy.h>
#include <stdlib.h>
#include <string.h>

/* What both shapes have of one switch; the rest is static, without a port. */
static void copy_entries(const struct hd_ar_switch *was, uint32_t lids_before,
			 struct hd_ar_row *row)
{
	const size_t cells = (size_t)row->table_count * row->lid_count;
	const uint32_t both = lids_before < row->lid_count ? lids_before : row->lid_count;

	memset(row->lid_group, 0xFF, cells * sizeof(*row->lid_group));
	memset(row->lid_port, HD_NO_PORT, cells);
	for (uint32_t table = 0; was && table < row->table_count; table++) {
		const size_t first = (size_t)table * row->lid_count;
		memcpy(row->lid_group + first, was->lid_group[table],
		       both * sizeof(*row->lid_group));
		memcpy(row->lid_port + first, was->lid_port[table], both);
	}
}

/* A row of its own for a switch: what `was` has, whose plan has so many LIDs; NULL: nothing. Errors: -ENOMEM. */
static int copy_row(const struct hd_ar_plan *plan, const struct hd_ar_switch *was,
		    uint32_t lids_before, struct hd_ar_switch *sw)
{
	struct hd_ar_row *row =
	    plan_row_new(plan->table_count, plan->lid_count, was ? was->group_count : 0);

	if (!row)
		return -ENOMEM;
	copy_entries(was, lids_before, row);
	if (was && was->group_count)
		memcpy(row->groups, was->groups, was->group_count * sizeof(*row->groups));
	plan_row_use(row, sw);
	return 0;
}

static int copy_switch(struct hd_ar_plan_copy *copy, const struct hd_ar_plan *from, uint64_t guid,
		       uint32_t sw)
{
	const uint32_t index = hd_ar_plan_find(from, guid);
	const struct hd_ar_switch *was = index == HD_NONE ? NULL : &from->switches[index];
	struct hd_ar_switch *now = &copy->switches[sw], made;
	uint64_t entries, adaptive;
	int rc = 0;

	made = was ? *was : (struct hd_ar_switch){.guid = guid};
	if (was && was->row && from->lid_count == copy->plan->lid_count)
		plan_row_hold(was->row);
	else
		rc = copy_row(copy->plan, was, from->lid_count, &made);
	if (rc)
		return rc;
	*now = made;
	plan_row_count(now, copy->plan->table_count, copy->plan->lid_count, &entries, &adaptive);
	copy->plan->entries += entries;
	copy->plan->adaptive += adaptive;
	return 0;
}

static int copy_switches(struct hd_ar_plan_copy *copy, const struct hd_ar_plan *from,
			 const struct hd_fabric *fabric, const struct hd_go_on *go_on)
{
	int rc = 0;

	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++)
		rc = hd_go_on_ask(go_on) ? copy_switch(copy, from, fabric->node_guid[sw], sw)
					 : -ECANCELED;
	return rc;
}

int hd_ar_plan_copy_new(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
			const struct hd_go_on *go_on, struct hd_ar_plan_copy *out)
{
	struct plan_holder *holder = calloc(1, sizeof(*holder));

	*out = (struct hd_ar_plan_copy){0};
	if (!holder)
		return -ENOMEM;
	struct hd_ar_plan_copy copy = {.plan = &holder->plan};
	copy.switches =
	    hd_arena_alloc(&holder->arena, fabric->switch_count, sizeof(*copy.switches));
	if (!copy.switches) {
		hd_ar_plan_free(&holder->plan);
		return -ENOMEM;
	}
	holder->plan = *plan;
	holder->plan.switch_count = fabric->switch_count;
	holder->plan.lid_count = fabric->lid_count;
	holder->plan.switches = copy.switches;
	holder->plan.entries = holder->plan.adaptive = 0;
	int rc = copy_switches(&copy, plan, fabric, go_on);
	if (rc)
		hd_ar_plan_free(&holder->plan);
	else
		*out = copy;
	return rc;
}

/* ---- changes ---- */

/* The row of a switch that the copy owns. */
static struct hd_ar_row *own_row(const struct hd_ar_plan_copy *copy, uint32_t sw)
{
	struct hd_ar_row *row = (struct hd_ar_row *)(uintptr_t)copy->switches[sw].row;

	assert(row && atomic_load(&row->holders) == 1 && !row->counted);
	return row;
}

int hd_ar_plan_copy_own(struct hd_ar_plan_copy *copy, uint32_t sw)
{
	struct hd_ar_switch *now = &copy->switches[sw];
	struct hd_ar_row *row = (struct hd_ar_row *)(uintptr_t)now->row;

	if (atomic_load_explicit(&row->holders, memory_order_acquire) == 1) {
		row->counted = false;
		return 0;
	}
	int rc = copy_row(copy->plan, now, copy->plan->lid_count, now);
	if (!rc)
		plan_row_release(row);
	return rc;
}

int hd_ar_plan_copy_share(struct hd_ar_plan_copy *copy, uint32_t sw,
			  const struct hd_ar_switch *from)
{
	struct hd_ar_plan *plan = copy->plan;
	struct hd_ar_switch *now = &copy->switches[sw], made = *from;
	uint64_t entries, adaptive;
	int rc = 0;

	if (from->row)
		plan_row_hold(from->row);
	else
		rc = copy_row(plan, from, plan->lid_count, &made);
	if (rc)
		return rc;
	plan_row_count(now, plan->table_count, plan->lid_count, &entries, &adaptive);
	plan->entries -= entries;
	plan->adaptive -= adaptive;
	plan_row_release(now->row);
	made.guid = now->guid;
	*now = made;
	plan_row_count(now, plan->table_count, plan->lid_count, &entries, &adaptive);
	plan->entries += entries;
	plan->adaptive += adaptive;
	return 0;
}

struct hd_ar_group *hd_ar_plan_copy_new_groups(struct hd_ar_plan_copy *copy, uint32_t sw,
					       uint32_t count)
{
	struct hd_ar_row *row = own_row(copy, sw);
	struct hd_ar_group *groups = calloc(count + 1u, sizeof(*groups));

	if (!groups)
		return NULL;
	free(row->more);
	row->more = row->groups = groups;
	copy->switches[sw].groups = groups;
	copy->switches[sw].group_count = count;
	return groups;
}

uint64_t hd_ar_plan_copy_make_static(struct hd_ar_plan_copy *copy, uint32_t sw, uint32_t lid)
{
	uint64_t changed = 0;

	own_row(copy, sw);
	for (uint32_t table = 0; table < copy->plan->table_count; table++) {
		uint16_t *group = &hd_ar_plan_copy_groups(copy, sw, table)[lid];
		changed += *group != HD_AR_NO_GROUP;
		*group = HD_AR_NO_GROUP;
	}
	copy->plan->adaptive -= changed;
	return changed;
}

uint64_t hd_ar_plan_copy_switch_off(struct hd_ar_plan_copy *copy, uint32_t sw)
{
	uint64_t changed = 0;

	for (uint32_t lid = 0; lid < copy->plan->lid_count; lid++)
		changed += hd_ar_plan_copy_make_static(copy, sw, lid);
	copy->switches[sw].group_count = copy->switches[sw].used = 0;
	return changed;
}
