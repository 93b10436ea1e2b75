/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plan_copy.h"

#include <stdlib.h>

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
static void copy_entries(struct plan_copy *copy, const struct hd_ar_plan *from,
			 const struct hd_ar_switch *was, uint32_t sw)
{
	struct hd_ar_plan *plan = copy->plan;
	uint32_t shared = from->lid_count < plan->lid_count ? from->lid_count : plan->lid_count;

	for (uint32_t table = 0; table < plan->table_count; table++) {
		uint16_t *groups = plan_copy_groups(copy, sw, table);
		uint8_t *ports = plan_copy_ports(copy, sw, table);
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

static int copy_switches(struct plan_copy *copy, const struct hd_ar_plan *from,
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

static int count_entries(struct plan_copy *copy, const struct hd_go_on *go_on)
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

int plan_copy_new(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
		  const struct hd_go_on *go_on, struct plan_copy *out)
{
	struct planner_holder *holder = calloc(1, sizeof(*holder));
	size_t switches = fabric->switch_count;
	size_t cells = plan->table_count * switches * fabric->lid_count;

	if (!holder)
		return -ENOMEM;
	*out = (struct plan_copy){.plan = &holder->plan};
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
		*out = (struct plan_copy){0};
		return rc;
	}
	return 0;
}

uint64_t plan_copy_make_static(struct plan_copy *copy, uint32_t sw, uint32_t lid)
{
	uint64_t changed = 0;

	for (uint32_t table = 0; table < copy->plan->table_count; table++) {
		uint16_t *group = &plan_copy_groups(copy, sw, table)[lid];
		changed += *group != HD_AR_NO_GROUP;
		*group = HD_AR_NO_GROUP;
	}
	copy->plan->adaptive -= changed;
	return changed;
}

uint64_t plan_copy_switch_off(struct plan_copy *copy, uint32_t sw)
{
	uint64_t changed = 0;

	for (uint32_t lid = 0; lid < copy->plan->lid_count; lid++)
		changed += plan_copy_make_static(copy, sw, lid);
	copy->switches[sw].group_count = copy->switches[sw].used = 0;
	return changed;
}
