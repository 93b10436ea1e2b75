/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One simulation of a point: its own copy of what a run may change, the traffic and the simulator. */
#ifndef SIM_SCENARIO_SIMULATION_H
#define SIM_SCENARIO_SIMULATION_H

#include "scenario_point.h"

#include <heddle/sim/scenario.h>
#include <heddle/sim/simulation.h>

struct scenario_simulation {
	const struct scenario_point *point;
	struct hd_sim_settings settings;
	struct hd_sim_subnet *subnets; /* copies of the network's */
	struct hd_sim_network network;
	struct hd_traffic_scene scene;
	struct hd_routes *tables; /* a copy, into which keys are written; NULL: several subnets */
	struct hd_mfts **mfts; /* [subnet_count] */
	struct hd_traffic *traffic;
	struct hd_sim *sim;
	enum hd_sim_end end;
	bool partial;
};

/* Prepares at time 0. Released by scenario_simulation_close() also after an error. */
int scenario_simulation_open(struct scenario_simulation *simulation,
			     const struct scenario_point *point, uint64_t seed,
			     struct hd_error *err);
void scenario_simulation_close(struct scenario_simulation *simulation);

/* Runs to the end, or until `watch` ends it. */
int scenario_simulation_run(struct scenario_simulation *simulation, uint32_t run,
			    const struct hd_scenario_watch *watch, struct hd_error *err);

/* Adds all figures to a record; with `lists` also those of each link, and throughput over time. */
void scenario_simulation_record(struct scenario_simulation *simulation, bool lists,
				struct hd_record *record);

/* Adds what each port of the first subnet has sent. */
void scenario_simulation_record_counters(struct scenario_simulation *simulation,
					 struct hd_record *record);

#endif
