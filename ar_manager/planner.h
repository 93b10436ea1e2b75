/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef AR_MANAGER_PLANNER_H
#define AR_MANAGER_PLANNER_H

#include "planning.h"

/* Makes a plan with one algorithm, without its proof. Groups leave out the links that are cut
 * (NULL: none). *out is freed with hd_ar_plan_free(). Errors:
 * those of the algorithm, -ECANCELED, -ENOMEM. */
int planner_run(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		const struct cuts *cuts, struct hd_ar_plan **out, struct hd_error *err);

#endif
