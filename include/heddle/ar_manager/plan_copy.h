/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A plan in the shape of another state of the fabric, whose entries may still be changed. */
#ifndef HEDDLE_AR_MANAGER_PLAN_COPY_H
#define HEDDLE_AR_MANAGER_PLAN_COPY_H

#include <heddle/ar_manager/plan.h>

struct hd_ar_plan_copy {
	struct hd_ar_plan *plan; /* freed with hd_ar_plan_free() */
	struct hd_ar_switch *switches; /* of the plan */
	uint16_t *lid_group; /* [tables * switch_count * lid_count] of the plan */
	uint8_t *lid_port; /* the same */
};

/* Entries of switches and LIDs that `plan` does not have are static, without a port. `go_on`
 * (NULL: never stop) is asked for each switch. Errors: -ECANCELED, -ENOMEM; without a reason, and *out is
 * all 0. Cost: O(switches * LIDs). */
int hd_ar_plan_copy_new(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
			const struct hd_go_on *go_on, struct hd_ar_plan_copy *out);

/* The entries of a switch. */
static inline uint16_t *hd_ar_plan_copy_groups(const struct hd_ar_plan_copy *copy, uint32_t sw,
					       uint32_t table)
{
	size_t row = (size_t)table * copy->plan->switch_count + sw;

	return copy->lid_group + row * copy->plan->lid_count;
}

/* The static ports of a switch. */
static inline uint8_t *hd_ar_plan_copy_ports(const struct hd_ar_plan_copy *copy, uint32_t sw,
					     uint32_t table)
{
	size_t row = (size_t)table * copy->plan->switch_count + sw;

	return copy->lid_port + row * copy->plan->lid_count;
}

/* Empty groups for a switch, which live as long as the plan; the caller puts them into the switch. NULL: no
 * memory. */
struct hd_ar_group *hd_ar_plan_copy_new_groups(struct hd_ar_plan_copy *copy, uint32_t count);

/* Makes one entry static in all tables. Returns how many were adaptive. O(1). */
uint64_t hd_ar_plan_copy_make_static(struct hd_ar_plan_copy *copy, uint32_t sw, uint32_t lid);

/* Takes all groups from a switch, so that its AR is to be off. Returns how many entries were
 * adaptive. O(LIDs). */
uint64_t hd_ar_plan_copy_switch_off(struct hd_ar_plan_copy *copy, uint32_t sw);

#endif
