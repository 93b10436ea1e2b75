/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_differences.h"

static bool is_on(const struct hd_ar_switch_report *report)
{
	return report->standing >= HD_AR_ABLE && report->info.enabled;
}

static struct hd_port_set group_ports(const struct hd_ar_switch_report *report, uint32_t group)
{
	const struct hd_ar_image *held = report->held;
	const uint32_t active = report->info.sub_grps_active + held->quirks.active_minus_one;
	const uint32_t sub_groups = active ? active : 1;
	struct hd_port_set all = {{0}}, sets[HD_AR_GROUP_BLOCK];

	for (uint32_t sub = 0; sub < sub_groups; sub++) {
		uint32_t element = held->quirks.sub_group_major
				       ? sub * (report->info.group_top + 1) + group
				       : group * sub_groups + sub;
		if (element / HD_AR_GROUP_BLOCK >= held->group_blocks)
			continue;
		hd_ar_group_block_decode(held->groups[element / HD_AR_GROUP_BLOCK], sets);
		hd_port_set_unite(&all, &sets[element % HD_AR_GROUP_BLOCK]);
	}
	return all;
}

struct ar_effect ar_differences_held(const struct hd_ar_switch_report *report, uint32_t lid)
{
	const struct hd_ar_image *held = report->held;
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK] = {{0}};
	struct ar_effect effect = {.known = false};
	uint32_t lids, block;

	if (!is_on(report) || !held || !held->table_count)
		return effect;
	lids = held->form == HD_AR_FORM_OLD ? held->quirks.old_block_lids : HD_AR_REV1_BLOCK;
	block = lid / lids;
	if (block >= held->lft_blocks || !held->lft_known[block])
		return effect;
	if (held->form == HD_AR_FORM_OLD)
		hd_ar_old_decode(held->lft[block], entries);
	else
		hd_ar_rev1_decode(held->lft[block], entries);
	const struct hd_ar_entry *entry = &entries[lid % lids];
	effect = (struct ar_effect){.known = true, .state = entry->state, .port = entry->port};
	if (entry->state != HD_AR_STATIC)
		effect.ports = group_ports(report, entry->group);
	return effect;
}

static struct ar_effect planned_effect(const struct hd_ar_plan *plan, uint32_t sw, uint32_t lid)
{
	const struct hd_ar_switch *planned = &plan->switches[sw];
	const uint32_t group = hd_ar_plan_group(plan, sw, 0, lid);
	struct ar_effect effect = {.known = true,
				   .state = hd_ar_plan_state(plan, sw, 0, lid),
				   .port = planned->lid_port[0][lid]};

	if (group != HD_AR_NO_GROUP)
		effect.ports = planned->groups[group].ports[0];
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
	for (uint32_t lid = 0; lid < plan->lid_count; lid++) {
		const struct ar_difference difference = {lid, planned_effect(plan, sw, lid),
							 ar_differences_held(report, lid)};
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
