/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What TREE and LAG share. Both sort the LIDs at a switch into classes whose LIDs want the same set
 * of links: by destination switch, or by the link of the static port.
 */
#ifndef AR_MANAGER_PLAN_SHARED_H
#define AR_MANAGER_PLAN_SHARED_H

#include "planning.h"

/* Memory for so many classes in each worker. Errors: -ENOMEM. */
int plan_shared_prepare(struct planner *planner, uint32_t classes);

/* Gives a set to a class; a set of one link or none is no wish. */
void plan_shared_set(struct planner_worker *worker, const uint64_t *set, uint32_t class);

/* Makes the wishes of the sets, and marks the entries: each wants the set of its class if its
 * static port is in it, and no link of it is cut. */
void plan_shared_mark(const struct planner *planner, struct planner_worker *worker, uint32_t sw,
		      const uint32_t *class_of_lid);

#endif
