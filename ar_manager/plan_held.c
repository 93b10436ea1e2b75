/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the fabric holds if some switches keep old entries: switches that do not answer, while others get a new
 * plan. Callers prove the plan that hd_ar_plan_held() makes, so that packets cannot deadlock in the meantime.
 *
 * Entries of such switches are united with those of the new plan: each LID may take the ports of both.
 */
#include <heddle/ar_manager/plan_copy.h>

#include <errno.h>
#include <heddle/ar_manager/plan.h>
#include <stdlib.h>
#include <string.h>

/* A stuck switch while its entries are united. */
struct uniting {
	const struct hd_ar_switch *plans[2]; /* in any order; NULL: it has none */
	uint32_t lid_counts[2];
	struct hd_ar_group *groups; /* scratch: [count], with room for one of each LID */
	uint32_t count;
};

/* All ports that one LID may take. */
static struct hd_port_set ports_of(const struct uniting *uniting, uint32_t lid)
{
	struct hd_port_set ports = {{0}};

	for (unsigned i = 0; i < 2; i++) {
		const struct hd_ar_switch *sw = uniting->plans[i];
		if (!sw || lid >= uniting->lid_counts[i])
			continue;
		uint16_t number = sw->lid_group[0][lid];
		if (sw->lid_port[0][lid] != HD_NO_PORT)
			hd_port_set_add(&ports, sw->lid_port[0][lid]);
		if (number == HD_AR_NO_GROUP)
			continue;
		hd_port_set_unite(&ports, &sw->groups[number].ports[0]);
		hd_port_set_unite(&ports, &sw->groups[number].ports[1]);
	}
	return ports;
}

static const struct hd_ar_switch *switch_of(const struct hd_ar_plan *plan, uint64_t guid)
{
	uint32_t index = plan ? hd_ar_plan_find(plan, guid) : HD_NONE;

	return index == HD_NONE ? NULL : &plan->switches[index];
}

static int switch_off(struct hd_ar_plan_copy *copy, uint32_t sw)
{
	int rc = hd_ar_plan_copy_own(copy, sw);

	if (!rc)
		hd_ar_plan_copy_switch_off(copy, sw);
	return rc;
}

static void unite_entries(struct hd_ar_plan_copy *copy, uint32_t sw, struct uniting *uniting)
{
	uint16_t *groups = hd_ar_plan_copy_groups(copy, sw, 0);

	for (uint32_t lid = 1; lid < copy->plan->lid_count; lid++) {
		struct hd_port_set ports = ports_of(uniting, lid);
		if (!hd_port_set_is_empty(&ports)) {
			uint32_t number = 0;
			while (number < uniting->count &&
			       !hd_port_set_equal(&uniting->groups[number].ports[0], &ports))
				number++;
			if (number == uniting->count)
				uniting->groups[uniting->count++] =
				    (struct hd_ar_group){.ports = {ports}};
			groups[lid] = (uint16_t)number;
			copy->plan->adaptive++;
		}
	}
}

static int unite_switch(struct hd_ar_plan_copy *copy, uint32_t sw, struct uniting *uniting)
{
	int rc = switch_off(copy, sw);

	if (rc)
		return rc;
	unite_entries(copy, sw, uniting);
	struct hd_ar_group *groups = hd_ar_plan_copy_new_groups(copy, sw, uniting->count);
	if (!groups)
		return -ENOMEM;
	memcpy(groups, uniting->groups, uniting->count * sizeof(*groups));
	copy->switches[sw].form = HD_AR_FORM_REV1;
	copy->switches[sw].sub_groups = 1;
	copy->switches[sw].used = uniting->count;
	return 0;
}

static int unite(struct hd_ar_plan_copy *copy, const struct hd_ar_plan *plan,
		 const struct hd_ar_plan *held, const struct hd_fabric *fabric, const bool *stuck)
{
	struct hd_ar_group *scratch = malloc((fabric->lid_count + 1u) * sizeof(*scratch));
	int rc = scratch ? 0 : -ENOMEM;

	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++) {
		uint64_t guid = fabric->node_guid[sw];
		struct uniting uniting = {
		    .plans = {switch_of(held, guid), switch_of(plan, guid)},
		    .lid_counts = {held->lid_count, plan ? plan->lid_count : 0},
		    .groups = scratch};
		if (stuck[sw] && uniting.plans[0])
			rc = unite_switch(copy, sw, &uniting);
		else if (!plan)
			rc = switch_off(copy, sw);
	}
	free(scratch);
	return rc;
}

static bool is_private(const struct hd_ar_plan *plan)
{
	return plan && plan->table_count > 1;
}

static bool any(const bool *stuck, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (stuck[i])
			return true;
	return false;
}

int hd_ar_plan_held(const struct hd_ar_plan *plan, const struct hd_ar_plan *held,
		    const struct hd_fabric *fabric, const bool *stuck, struct hd_ar_plan **out)
{
	/* Entries of private tables are not united. While the plan held has them, a change switches
	 * AR off anyway. */
	bool private = is_private(held) || is_private(plan);
	bool keep =
	    !plan || (is_private(held) && !is_private(plan) && any(stuck, fabric->switch_count));
	const struct hd_ar_plan *base = keep ? held : plan;
	struct hd_ar_plan_copy copy;
	int rc = hd_ar_plan_copy_new(base, fabric, NULL, &copy);

	if (rc)
		return rc;
	if (private && !plan) {
		/* AR was to be off, and only these switches have it still. */
		rc = 0;
		for (uint32_t sw = 0; !rc && sw < copy.plan->switch_count; sw++)
			if (!stuck[sw])
				rc = switch_off(&copy, sw);
	} else if (!private)
		rc = unite(&copy, plan, held, fabric, stuck);
	if (rc) {
		hd_ar_plan_free(copy.plan);
		return rc;
	}
	*out = copy.plan;
	return 0;
}
