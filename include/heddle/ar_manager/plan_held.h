/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What switches may hold when some of them have not answered. */
#ifndef HEDDLE_AR_MANAGER_PLAN_HELD_H
#define HEDDLE_AR_MANAGER_PLAN_HELD_H

#include <heddle/ar_manager/plan.h>

/*
 * A plan for proofs, in the shape of the fabric, to be freed with hd_ar_plan_free(). It says what
 * the switches may do: those that are stuck[switch_count] whatever `held` or `plan` says, static
 * ports too; all others what `plan` says (NULL: they have no AR). Nobody may program it: it has
 * groups of one port. Plans with private tables (DFP) are not united: it is a copy of `plan`, or of
 * `held` if only that has private tables and a switch is stuck. Errors: -ENOMEM. Cost: O(switches * LIDs), and O(LIDs * groups) for each stuck switch.
 */
int hd_ar_plan_held(const struct hd_ar_plan *plan, const struct hd_ar_plan *held,
		    const struct hd_fabric *fabric, const bool *stuck, struct hd_ar_plan **out);

/* Whether any switch has AR. */
bool hd_ar_plan_has_groups(const struct hd_ar_plan *plan);

#endif
