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

static struct hd_port_set ports_of(const struct hd_ar_switch *planned, uint32_t lid)
{
	const uint16_t number = planned->lid_group[0][lid];
	struct hd_port_set ports = {{0}};

	if (number != HD_AR_NO_GROUP) {
		ports = planned->groups[number].ports[0];
		hd_port_set_unite(&ports, &planned->groups[number].ports[1]);
	}
	if (planned->lid_port[0][lid] != HD_NO_PORT)
		hd_port_set_add(&ports, planned->lid_port[0][lid]);
	return ports;
}

/* Whether an entry has a port that it did not have before. */
static bool gets_port(const struct hd_ar_switch *before, const struct hd_ar_switch *next,
		      uint32_t lid)
{
	if (!before->used || !next->used)
		return !before->used != !next->used;
	const struct hd_port_set is = ports_of(next, lid), was = ports_of(before, lid);
	struct hd_port_set both = is;
	hd_port_set_intersect(&both, &was);
	return !hd_port_set_equal(&both, &is);
}

/* Whether that is so at any switch that is not stuck. */
static bool gets_any(const struct hd_fabric *fabric, const struct hd_ar_plan *before,
		     const bool *stuck, const struct hd_ar_plan *next, uint32_t lid)
{
	uint32_t sw = 0;

	while (before && sw < fabric->switch_count &&
	       (stuck[sw] || !gets_port(&before->switches[sw], &next->switches[sw], lid)))
		sw++;
	return sw < fabric->switch_count;
}

/* All entries for a LID become static. */
static int still_lid(struct hd_ar_plan_copy *copy, uint32_t lid)
{
	int rc = 0;

	for (uint32_t sw = 0; !rc && sw < copy->plan->switch_count; sw++) {
		if (!hd_ar_plan_copy_is_adaptive(copy, sw, lid))
			continue;
		rc = hd_ar_plan_copy_own(copy, sw);
		if (!rc)
			hd_ar_plan_copy_make_static(copy, sw, lid);
	}
	return rc;
}

int hd_ar_steps_beside(const struct hd_fabric *fabric, const struct hd_ar_plan *before,
		       const bool *stuck, const struct hd_ar_plan *next, struct hd_ar_plan **out)
{
	struct hd_ar_plan_copy was = {0}, copy = {0};
	int rc = before ? hd_ar_plan_copy_new(before, fabric, NULL, &was) : 0;

	if (!rc)
		rc = hd_ar_plan_copy_new(next, fabric, NULL, &copy);
	for (uint32_t lid = 1; !rc && lid < fabric->lid_count; lid++)
		if (gets_any(fabric, was.plan, stuck, next, lid))
			rc = still_lid(&copy, lid);
	hd_ar_plan_free(was.plan);
	if (rc)
		hd_ar_plan_free(copy.plan);
	else
		*out = copy.plan;
	return rc;
}
