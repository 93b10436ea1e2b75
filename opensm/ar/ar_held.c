/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_held.h"

#include <errno.h>
#include <heddle/ar_manager/pins.h>
#include <stdlib.h>

static bool has_groups(const struct hd_ar_plan *plan, uint64_t guid)
{
	uint32_t index = plan ? hd_ar_plan_find(plan, guid) : HD_NONE;

	return index != HD_NONE && plan->switches[index].used;
}

bool ar_held_is_off(const struct hd_ar_switch_report *report)
{
	return report->standing == HD_AR_UNABLE || report->standing == HD_AR_FOREIGN ||
	       (report->standing >= HD_AR_ABLE && !report->uncertain && !report->info.enabled);
}

bool ar_held_is_unknown(const struct ar_held *held, const struct hd_ar_switch_report *report)
{
	return !ar_held_is_off(report) && !has_groups(held->plan, report->guid);
}

/* Whether it is not known that the switch has done what the last operation asked. */
static bool is_stuck(const struct hd_ar_switch_report *report)
{
	return !ar_held_is_off(report) &&
	       (report->rc || report->uncertain || report->standing < HD_AR_UNABLE);
}

static uint32_t find_stuck(const struct ar_held *held, const struct hd_ar_plan *plan,
			   const struct hd_ar_program *program, const struct hd_fabric *fabric,
			   bool *stuck)
{
	uint32_t count = hd_ar_program_switch_count(program), found = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count && sw < count; sw++) {
		const struct hd_ar_switch_report report = hd_ar_program_report(program, sw);
		stuck[sw] = is_stuck(&report) &&
			    (has_groups(held->plan, report.guid) || has_groups(plan, report.guid));
		found += stuck[sw];
	}
	return found;
}

static void take(struct ar_held *held, struct hd_ar_plan *plan, bool *stuck, uint32_t stuck_count)
{
	ar_held_release(held);
	if (plan && hd_ar_plan_has_groups(plan)) {
		*held = (struct ar_held){plan, stuck, stuck_count};
		return;
	}
	hd_ar_plan_free(plan);
	free(stuck);
}

int ar_held_update(struct ar_held *held, const struct hd_ar_plan *plan,
		   const struct hd_ar_program *program, const struct hd_fabric *fabric)
{
	const struct hd_ar_plan *was = held->plan ? held->plan : plan;
	bool *stuck = calloc(fabric->switch_count + 1u, sizeof(*stuck));
	struct hd_ar_plan *now = NULL;
	uint32_t count;

	if (!stuck)
		return -ENOMEM;
	count = find_stuck(held, plan, program, fabric, stuck);
	if (was && hd_ar_plan_held(plan, was, fabric, stuck, &now)) {
		free(stuck);
		return -ENOMEM;
	}
	take(held, now, stuck, count);
	return 0;
}

void ar_held_take(struct ar_held *held, struct hd_ar_plan *plan)
{
	hd_ar_plan_hold(plan);
	hd_ar_plan_free(held->plan);
	held->plan = plan;
}

bool ar_held_is_stuck(const struct ar_held *held, uint64_t guid)
{
	const uint32_t index = held->plan ? hd_ar_plan_find(held->plan, guid) : HD_NONE;

	return index != HD_NONE && held->stuck[index];
}

void ar_held_stuck(const struct ar_held *held, const struct hd_fabric *fabric, bool *stuck)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		stuck[sw] = ar_held_is_stuck(held, fabric->node_guid[sw]);
}

void ar_held_release(struct ar_held *held)
{
	hd_ar_plan_free(held->plan);
	free(held->stuck);
	*held = (struct ar_held){0};
}
