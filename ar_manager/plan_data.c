/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans as data: what is in them, their memory, and copies that can be changed. */
#include "plan_holder.h"

#include <errno.h>
#include <heddle/ar_manager/plan.h>
#include <heddle/ar_manager/plan_copy.h>
#include <stdlib.h>
#include <string.h>

const struct hd_ar_capability hd_ar_capability_full = {.form = HD_AR_FORM_REV1,
						       .group_cap = HD_AR_GROUPS_MAX,
						       .sub_groups = HD_AR_SUB_GROUPS,
						       .private_tables = true};

void hd_ar_plan_free(struct hd_ar_plan *plan)
{
	struct plan_holder *holder = (struct plan_holder *)plan;

	if (!holder || atomic_fetch_sub(&holder->others, 1))
		return;
	hd_ar_plan_free(holder->unpinned);
	for (unsigned i = 0; i < holder->worker_count; i++)
		hd_arena_release(&holder->worker_arenas[i]);
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

static bool same_switch(const struct hd_ar_plan *a, const struct hd_ar_plan *b, uint32_t sw)
{
	const struct hd_ar_switch *left = &a->switches[sw], *right = &b->switches[sw];

	if (left->guid != right->guid || left->form != right->form ||
	    left->sub_groups != right->sub_groups || left->group_count != right->group_count)
		return false;
	for (uint32_t group = 0; group < left->group_count; group++)
		if (!hd_ar_group_equal(&left->groups[group], &right->groups[group]))
			return false;
	for (uint32_t table = 0; table < a->table_count; table++)
		if (memcmp(left->lid_group[table], right->lid_group[table],
			   a->lid_count * sizeof(*left->lid_group[table])) ||
		    memcmp(left->lid_port[table], right->lid_port[table], a->lid_count))
			return false;
	return true;
}

bool hd_ar_plan_equal(const struct hd_ar_plan *a, const struct hd_ar_plan *b)
{
	if (a->switch_count != b->switch_count || a->lid_count != b->lid_count ||
	    a->table_count != b->table_count || a->mode != b->mode)
		return false;
	for (uint32_t sw = 0; sw < a->switch_count; sw++)
		if (!same_switch(a, b, sw))
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

/* ---- copies ---- */

static int copy_groups(const struct hd_ar_switch *from, struct hd_arena *arena,
		       struct hd_ar_switch *to)
{
	struct hd_ar_group *groups = hd_arena_alloc(arena, from->group_count, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	if (from->group_count)
		memcpy(groups, from->groups, from->group_count * sizeof(*groups));
	*to = *from;
	to->groups = groups;
	return 0;
}

/* What both plans have of one switch; the rest is static, without a port. */
static void copy_entries(struct hd_ar_plan_copy *copy, const struct hd_ar_plan *from,
			 const struct hd_ar_switch *was, uint32_t sw)
{
	struct hd_ar_plan *plan = copy->plan;
	uint32_t shared = from->lid_count < plan->lid_count ? from->lid_count : plan->lid_count;

	for (uint32_t table = 0; table < plan->table_count; table++) {
		uint16_t *groups = hd_ar_plan_copy_groups(copy, sw, table);
		uint8_t *ports = hd_ar_plan_copy_ports(copy, sw, table);
		memset(groups, 0xFF, plan->lid_count * sizeof(*groups));
		memset(ports, HD_NO_PORT, plan->lid_count);
		copy->switches[sw].lid_group[table] = groups;
		copy->switches[sw].lid_port[table] = ports;
		if (!was)
			continue;
		memcpy(groups, was->lid_group[table], shared * sizeof(*groups));
		memcpy(ports, was->lid_port[table], shared);
	}
}

static int copy_switches(struct hd_ar_plan_copy *copy, const struct hd_ar_plan *from,
			 const struct hd_fabric *fabric, const struct hd_go_on *go_on,
			 struct hd_arena *arena)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (!hd_go_on_ask(go_on))
			return -ECANCELED;
		uint32_t index = hd_ar_plan_find(from, fabric->node_guid[sw]);
		const struct hd_ar_switch *was = index == HD_NONE ? NULL : &from->switches[index];
		if (was && copy_groups(was, arena, &copy->switches[sw]))
			return -ENOMEM;
		copy->switches[sw].guid = fabric->node_guid[sw];
		copy_entries(copy, from, was, sw);
	}
	return 0;
}

static int count_entries(struct hd_ar_plan_copy *copy, const struct hd_go_on *go_on)
{
	struct hd_ar_plan *plan = copy->plan;
	const size_t rows = (size_t)plan->table_count * plan->switch_count;

	plan->entries = plan->adaptive = 0;
	for (size_t row = 0; row < rows; row++) {
		const uint8_t *port = copy->lid_port + row * plan->lid_count;
		const uint16_t *group = copy->lid_group + row * plan->lid_count;
		if (!hd_go_on_ask(go_on))
			return -ECANCELED;
		for (uint32_t lid = 0; lid < plan->lid_count; lid++) {
			plan->entries += port[lid] != HD_NO_PORT;
			plan->adaptive += group[lid] != HD_AR_NO_GROUP;
		}
	}
	return 0;
}

int hd_ar_plan_copy_new(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
			const struct hd_go_on *go_on, struct hd_ar_plan_copy *out)
{
	struct plan_holder *holder = calloc(1, sizeof(*holder));
	size_t switches = fabric->switch_count;
	size_t cells = plan->table_count * switches * fabric->lid_count;

	if (!holder)
		return -ENOMEM;
	*out = (struct hd_ar_plan_copy){.plan = &holder->plan};
	out->switches = hd_arena_alloc(&holder->arena, switches, sizeof(*out->switches));
	out->lid_group = hd_arena_alloc(&holder->arena, cells, sizeof(*out->lid_group));
	out->lid_port = hd_arena_alloc(&holder->arena, cells, sizeof(*out->lid_port));
	holder->plan = *plan;
	holder->plan.switch_count = fabric->switch_count;
	holder->plan.lid_count = fabric->lid_count;
	holder->plan.switches = out->switches;
	int rc = hd_arena_check(&holder->arena);
	if (!rc)
		rc = copy_switches(out, plan, fabric, go_on, &holder->arena);
	if (!rc)
		rc = count_entries(out, go_on);
	if (rc) {
		hd_ar_plan_free(&holder->plan);
		*out = (struct hd_ar_plan_copy){0};
		return rc;
	}
	return 0;
}

struct hd_ar_group *hd_ar_plan_copy_new_groups(struct hd_ar_plan_copy *copy, uint32_t count)
{
	struct plan_holder *holder = (struct plan_holder *)copy->plan;

	return hd_arena_alloc(&holder->arena, count, sizeof(struct hd_ar_group));
}

uint64_t hd_ar_plan_copy_make_static(struct hd_ar_plan_copy *copy, uint32_t sw, uint32_t lid)
{
	uint64_t changed = 0;

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
