/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a plan that was read from a file belongs to these tables. */
#ifndef HEDDLE_AR_MANAGER_PLAN_CHECK_H
#define HEDDLE_AR_MANAGER_PLAN_CHECK_H

#include <heddle/ar_manager/plan.h>

/*
 * Looks for entries of the plan by which packets would be lost, at switches with groups, for LIDs
 * that the tables route: an entry that is missing; a static port that is not that of the tables (in
 * plans without private tables); a port of a group that has no cable, that leads to an adapter
 * without the LID, or to a switch without a route to the LID. *wrong is their number. Returns 0 if that
 * is 0, else -EINVAL with the first one in `err`. Whether packets arrive is not proved beyond the
 * next hop. `go_on` (NULL: never stop) is asked for each switch; -ECANCELED: *wrong is not written. Cost: O(switches * LIDs * ports of a group).
 */
int hd_ar_plan_check(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
		     const struct hd_routes *routes, const struct hd_go_on *go_on, uint64_t *wrong,
		     struct hd_error *err);

#endif
