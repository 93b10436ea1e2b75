/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A point of the sweeps, ready to run. */
#ifndef SIM_SCENARIO_POINT_H
#define SIM_SCENARIO_POINT_H

#include "scenario_network.h"
#include "scenario_settings.h"

#include <heddle/sim/workload.h>

struct scenario_ebb; /* see scenario_ebb.h */

struct scenario_point {
	struct scenario_network *network; /* shared */
	struct scenario_run run;
	struct hd_traffic_request *traffics; /* [traffic_count] */
	uint32_t traffic_count, host_count; /* hosts that take part, once they are known */
	struct scenario_ebb *ebbs; /* [ebb_count] */
	uint32_t ebb_count;
};

extern const struct hd_option scenario_traffic_keys[];
extern const unsigned scenario_traffic_key_count;

/* Reads all but the network. What it needs belongs to `arena`, except options, which
 * scenario_point_release() frees. Errors: with the place. */
int scenario_point_read(const struct hd_scenario *scenario, struct hd_arena *arena,
			struct scenario_point *point, struct hd_error *err);
void scenario_point_release(struct scenario_point *point);

#endif
