/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_differences.h"

static bool is_on(const struct hd_ar_switch_report *report)
{
	return report->standing >= HD_AR_ABLE && report->info.enabled;
}

struct hd_port_set ar_differences_sub_group(const struct hd_ar_switch_report *report,
					    uint32_t table, uint32_t group, uint32_t sub)
{
	const struct hd_ar_image *held = report->held;
	const uint32_t sub_groups = hd_ar_sub_groups(&report->info, &held->quirks);
	struct hd_port_set sets[HD_AR_GROUP_BLOCK];

	if (sub >= sub_groups)
		return (struct hd_port_set){{0}};
	uint32_t element =
	    hd_ar_group_element(&held->quirks, report->info.group_top + 1, sub_groups, group, sub);
	const uint8_t *block = hd_ar_image_groups(held, table, element / HD_AR_GROUP_BLOCK);
	if (!block)
		return (struct hd_port_set){{0}};
	hd_ar_group_block_decode(block, sets);
	return sets[element % HD_AR_GROUP_BLOCK];
}

struct hd_port_set ar_differences_group(const struct hd_ar_switch_report *report, uint32_t table,
					uint32_t group)
{
	const uint32_t sub_groups = hd_ar_sub_groups(&report->info, &report->held->quirks);
	struct hd_port_set all = {{0}};

	for (uint32_t sub = 0; sub < sub_groups; sub++) {
		struct hd_port_set ports = ar_differences_sub_group(report, table, group, sub);
		hd_port_set_unite(&all, &ports);
	}
	return all;
}

struct ar_effect ar_differences_held(const struct hd_ar_switch_report *report, uint32_t table,
				     uint32_t lid)
{
	const struct hd_ar_image *held = report->held;
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK] = {{0}};
	struct ar_effect effect = {.known = false};
	uint32_t lids, block;

	if (!is_on(report) || !held || table >= held->table_count)
		return effect;
	lids = held->form == HD_AR_FORM_OLD ? held->quirks.old_block_lids : HD_AR_REV1_BLOCK;
	if (lid / lids >= held->lft_blocks)
		return effect;
	block = table * held->lft_blocks + lid / lids;
	if (!held->lft_known[block])
		return effect;
	if (held->form == HD_AR_FORM_OLD)
		hd_ar_old_decode(held->lft[block], entries);
	else
		hd_ar_rev1_decode(held->lft[block], entries);
	const struct hd_ar_entry *entry = &entries[lid % lids];
	effect = (struct ar_effect){
	    .known = true, .state = entry->state, .port = entry->port, .group = HD_AR_NO_GROUP};
	if (entry->state != HD_AR_STATIC) {
		effect.group = entry->group;
		effect.ports = ar_differences_group(report, table, entry->group);
	}
	return effect;
}

static struct ar_effect planned_effect(const struct hd_ar_plan *plan, uint32_t sw, uint32_t table,
				       uint32_t lid)
{
	const struct hd_ar_switch *planned = &plan->switches[sw];
	const uint32_t group = hd_ar_plan_group(plan, sw, table, lid);
	struct ar_effect effect = {.known = true,
				   .state = hd_ar_plan_state(plan, sw, table, lid),
				   .port = planned->lid_port[table][lid],
				   .group = (uint16_t)group};

	if (group == HD_AR_NO_GROUP)
		return effect;
	effect.ports = planned->groups[group].ports[0];
	hd_port_set_unite(&effect.ports, &planned->groups[group].ports[1]);
	return effect;
}

/* In the old form only static entries have a port. */
static bool is_same(const struct ar_effect *planned, const struct ar_effect *held, bool old)
{
	const bool adaptive = planned->state != HD_AR_STATIC;

	if (!held->known)
		return false;
	if (adaptive != (held->state != HD_AR_STATIC) ||
	    !hd_port_set_equal(&planned->ports, &held->ports))
		return false;
	return (old && adaptive) || planned->port == held->port;
}

/* Blocks of private tables; AR is on. */
static uint32_t private_differences(const struct hd_ar_plan *plan, uint32_t sw,
				    const struct hd_ar_switch_report *report)
{
	uint32_t count = 1;

	if (plan->table_count == 1)
		return 0;
	if (report->held)
		hd_ar_private_differences(plan, sw, report->held, &count);
	return count;
}

uint32_t ar_differences_find(const struct hd_ar_plan *plan, uint32_t sw,
			     const struct hd_ar_switch_report *report,
			     void (*found)(void *context, const struct ar_difference *difference),
			     void *context)
{
	const bool wanted = plan->switches[sw].used > 0, on = is_on(report);
	const bool old = plan->switches[sw].form == HD_AR_FORM_OLD;
	uint32_t count = 0;

	if (!wanted && !on)
		return 0;
	if (on)
		count = private_differences(plan, sw, report);
	for (uint32_t i = 0; i < plan->table_count * plan->lid_count; i++) {
		const uint32_t table = i / plan->lid_count, lid = i % plan->lid_count;
		const struct ar_difference difference = {table, lid,
							 planned_effect(plan, sw, table, lid),
							 ar_differences_held(report, table, lid)};
		if (difference.planned.port == HD_NO_PORT)
			continue;
		if (!on && difference.planned.state == HD_AR_STATIC)
			continue; /* the forwarding table decides */
		if (is_same(&difference.planned, &difference.held, old))
			continue;
		count++;
		if (found)
			found(context, &difference);
	}
	return count;
}
