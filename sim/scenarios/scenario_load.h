/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SIM_SCENARIO_LOAD_H
#define SIM_SCENARIO_LOAD_H

#include "scenario_simulation.h"

#define SCENARIO_LOAD_FULL "load.full"

/*
 * Adds load.offered, the share of its cable that each host sends, and load.full, the share at which the busiest link
 * carries all that it can. Only if all traffic goes to all hosts alike, by fixed paths or by path bits. Cost:
 * O(hosts^2 * hops * LIDs of a host).
 */
void scenario_load_record(const struct scenario_simulation *simulation,
			  const struct hd_go_on *go_on, struct hd_record *record);

#endif
