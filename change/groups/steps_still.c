/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/ar_manager/plan_copy.h>
#include <heddle/change/steps.h>

static bool same_group(const struct hd_ar_switch *held, const struct hd_ar_switch *next,
		       uint32_t lid)
{
	const uint16_t was = held->lid_group[0][lid], is = next->lid_group[0][lid];

	if (was == HD_AR_NO_GROUP || is == HD_AR_NO_GROUP)
		return was == is;
	return hd_ar_group_equal(&held->groups[was], &next->groups[is]);
}

static int still_switch(struct hd_ar_plan_copy *copy, uint32_t sw, const struct hd_ar_switch *held,
			uint32_t lids)
{
	const struct hd_ar_switch *next = &copy->switches[sw];
	int rc = hd_ar_plan_copy_own(copy, sw);

	if (!rc && !held->used)
		hd_ar_plan_copy_switch_off(copy, sw);
	for (uint32_t lid = 1; !rc && held->used && lid < lids; lid++)
		if (held->lid_port[0][lid] != next->lid_port[0][lid] ||
		    !same_group(held, next, lid))
			hd_ar_plan_copy_make_static(copy, sw, lid);
	return rc;
}

int hd_ar_steps_still(const struct hd_fabric *fabric, const struct hd_ar_plan *held,
		      const struct hd_ar_plan *next, struct hd_ar_plan **out)
{
	struct hd_ar_plan_copy copy;
	int rc = hd_ar_plan_copy_new(next, fabric, NULL, &copy);

	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++)
		if (copy.switches[sw].used &&
		    !hd_ar_switch_same(&held->switches[sw], &copy.switches[sw]))
			rc = still_switch(&copy, sw, &held->switches[sw], fabric->lid_count);
	if (rc)
		hd_ar_plan_free(copy.plan);
	else
		*out = copy.plan;
	return rc;
}
