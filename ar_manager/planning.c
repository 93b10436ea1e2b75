/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "planning.h"

const struct hd_ar_capability hd_ar_capability_full = {.form = HD_AR_FORM_REV1,
						       .group_cap = HD_AR_GROUPS_MAX,
						       .sub_groups = HD_AR_SUB_GROUPS,
						       .private_tables = true};

const struct hd_ar_capability *planning_capability(const struct planner *planner, uint32_t sw)
{
	return planner->request->capabilities ? &planner->request->capabilities[sw]
					      : &hd_ar_capability_full;
}

uint32_t planning_room(const struct planner *planner, uint32_t sw)
{
	const struct hd_ar_capability *can = planning_capability(planner, sw);
	uint32_t most = can->form == HD_AR_FORM_OLD ? HD_AR_OLD_GROUPS_MAX : HD_AR_GROUPS_MAX;
	uint32_t limit = planner->request->group_cap;

	if (can->form == HD_AR_FORM_NONE)
		return 0;
	most = can->group_cap < most ? can->group_cap : most;
	return limit && limit < most ? limit : most;
}
