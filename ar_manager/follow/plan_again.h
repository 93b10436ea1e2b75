/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A plan from the one before. A switch has the same row as before if its links, its room for groups, its hop counts
 * and those of its neighbours, its static ports and the owners of the LIDs are the same: planned afresh, each
 * of its groups would keep its number. Where hop counts, ports or owners differ for some LIDs only, these entries are
 * made again, and the numbers of groups follow from those before. All other switches are planned afresh.
 */
#ifndef AR_MANAGER_PLAN_AGAIN_H
#define AR_MANAGER_PLAN_AGAIN_H

#include "planning.h"

/* Memory of a worker; the arena notes failures. */
void plan_again_init_worker(struct planner *planner, struct planner_worker *worker);

/* Makes the row of a switch by that before. False: the switch has to be planned afresh. worker->failed: no
 * memory. */
bool plan_again_switch(const struct planner *planner, struct planner_worker *worker, uint32_t sw);

#endif
