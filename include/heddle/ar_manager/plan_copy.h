/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A plan in the shape of another state of the fabric, whose switches may still be changed. It shares the rows of
 * the plan that it is a copy of. Before a switch is changed, the copy gets a row of its own for it:
 *
 *   rc = hd_ar_plan_copy_own(&copy, sw);
 *   if (!rc)
 *           hd_ar_plan_copy_make_static(&copy, sw, lid);
 *
 * What follows says of each function whether it changes a switch. When others may have got the plan or a copy of
 * it since, hd_ar_plan_copy_own() is called again before the next change.
 */
#ifndef HEDDLE_AR_MANAGER_PLAN_COPY_H
#define HEDDLE_AR_MANAGER_PLAN_COPY_H

#include <heddle/ar_manager/plan.h>

struct hd_ar_plan_copy {
	struct hd_ar_plan *plan; /* freed with hd_ar_plan_free() */
	struct hd_ar_switch *switches; /* of the plan */
};

/* Entries of switches and LIDs that `plan` does not have are static, without a port. `go_on`
 * (NULL: never stop) is asked for each switch. Errors: -ECANCELED, -ENOMEM; without a reason, and *out is
 * all 0. Cost: O(switches); O(LIDs) more for each switch that `plan` does not have or that has no row, and for
 * all if the number of LIDs differs. */
int hd_ar_plan_copy_new(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
			const struct hd_go_on *go_on, struct hd_ar_plan_copy *out);

/* Gives a row to the copy for a switch, with the same groups and entries, unless it has one that nobody else has.
 * Pointers to the entries and groups before are invalid then. Errors: -ENOMEM, nothing has changed. Cost: O(LIDs +
 * groups), O(1) if the row is its own. */
int hd_ar_plan_copy_own(struct hd_ar_plan_copy *copy, uint32_t sw);

/* Changes a switch: it gets the groups and entries of a switch of another plan, with as many LIDs and tables, and shares
 * its row. Errors: -ENOMEM, nothing has changed. Cost: O(LIDs) where the row is not counted yet. */
int hd_ar_plan_copy_share(struct hd_ar_plan_copy *copy, uint32_t sw,
			  const struct hd_ar_switch *from);

/* The entries of a switch, to be changed. */
static inline uint16_t *hd_ar_plan_copy_groups(const struct hd_ar_plan_copy *copy, uint32_t sw,
					       uint32_t table)
{
	return (uint16_t *)(uintptr_t)copy->switches[sw].lid_group[table];
}

/* The static ports of a switch, to be changed. */
static inline uint8_t *hd_ar_plan_copy_ports(const struct hd_ar_plan_copy *copy, uint32_t sw,
					     uint32_t table)
{
	return (uint8_t *)(uintptr_t)copy->switches[sw].lid_port[table];
}

/* Changes a switch: it gets `count` empty groups, which the caller fills, in place of those that it had; its `used`
 * stays as it is. NULL: no memory, nothing has changed. */
struct hd_ar_group *hd_ar_plan_copy_new_groups(struct hd_ar_plan_copy *copy, uint32_t sw,
					       uint32_t count);

/* Changes a switch: makes one entry static in all tables. Returns how many were adaptive. O(1). */
uint64_t hd_ar_plan_copy_make_static(struct hd_ar_plan_copy *copy, uint32_t sw, uint32_t lid);

/* Changes a switch: takes all groups from it, so that its AR is to be off. Returns how many entries were
 * adaptive. O(LIDs). */
uint64_t hd_ar_plan_copy_switch_off(struct hd_ar_plan_copy *copy, uint32_t sw);

/* Whether a switch has an adaptive entry for a LID, so that hd_ar_plan_copy_make_static() would change it. */
static inline bool hd_ar_plan_copy_is_adaptive(const struct hd_ar_plan_copy *copy, uint32_t sw,
					       uint32_t lid)
{
	for (uint32_t table = 0; table < copy->plan->table_count; table++)
		if (copy->switches[sw].lid_group[table][lid] != HD_AR_NO_GROUP)
			return true;
	return false;
}

#endif
