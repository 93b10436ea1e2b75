/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The section [routing]: the tables of a fabric, single entries, and adaptive routing. */
#ifndef SIM_SCENARIO_ROUTING_H
#define SIM_SCENARIO_ROUTING_H

#include "scenario_network.h"

struct scenario_routing {
	const struct hd_scenario *scenario;
	const struct scenario_section *section; /* NULL: none */
	struct hd_options *options;
	struct hd_arena *arena; /* of texts */
	unsigned threads;
	const struct hd_log *log;
};

/* Fills in routes and plan of a subnet whose fabric is known. */
int scenario_routing_make(const struct scenario_routing *routing, struct scenario_subnet *subnet,
			  struct hd_error *err);

/* "dmodk, AR tree": into a buffer. */
void scenario_routing_name(const struct scenario_routing *routing, char *buffer, size_t size);

#endif
