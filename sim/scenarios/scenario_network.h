/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The network of a point: fabrics, tables, adaptive routing, and the routers between subnets. Points
 * that differ in other sections share one. */
#ifndef SIM_SCENARIO_NETWORK_H
#define SIM_SCENARIO_NETWORK_H

#include "scenario_fabric.h"

#include <heddle/ar_manager/plan.h>
#include <heddle/ir_router/relay.h>
#include <heddle/sim/simulation.h>

extern const struct hd_option scenario_routing_keys[];
extern const unsigned scenario_routing_key_count;

struct scenario_subnet {
	struct scenario_fabric source;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
	struct hd_map *map;
};

struct scenario_network {
	char *digest; /* the text of all that it depends on; malloc'ed */
	uint32_t users; /* points */
	char name[200]; /* of tables and adaptive routing: "dmodk, AR tree" */
	uint32_t subnet_count;
	struct scenario_subnet *subnets; /* by prefix */
	struct hd_interconnect *interconnect; /* NULL: one subnet */
	struct hd_isfr_plan *isfr;
	struct hd_relay_firmware *firmware; /* of the routers */
	struct hd_relay relay;
	struct hd_sim_subnet *sim_subnets; /* [subnet_count] */
	struct hd_sim_network sim;
	struct hd_arena arena;
};

/* Makes the network; *out is freed with scenario_network_free() once for each user. Errors: with the
 * place, those of readers, engines and plans. */
int scenario_network_new(const struct hd_scenario *scenario,
			 const struct hd_scenario_request *request, struct scenario_network **out,
			 struct hd_error *err);
void scenario_network_free(struct scenario_network *network);

/* The text that decides on the network; malloc'ed; NULL: no memory. */
char *scenario_network_digest(const struct hd_scenario *scenario);

#endif
