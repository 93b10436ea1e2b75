/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The outputs that a packet may take at a switch. */
#ifndef CHOICE_H
#define CHOICE_H

#include "core_state.h"

/* The outputs among which a switch chooses. */
struct choice_ports {
	struct hd_port_set ports; /* by number, with cables alone; empty: the tables lead nowhere */
	struct hd_port_set detours; /* of DFP: for when those are loaded */
	uint32_t turn; /* where the choice goes on, in sim->turns; HD_NONE: the node's path_turn */
	struct sim_paused *paused; /* of a Bounded entry */
};

static inline bool choice_is_cabled(const struct hd_sim *sim, const struct sim_node *node,
				    uint32_t number)
{
	return number && number < node->ports &&
	       sim->ports[node->first_port + number].peer != HD_NONE;
}

/* All outputs that the tables of a switch allow a packet, which is at an input of it. */
void choice_allowed(const struct hd_sim *sim, const struct sim_packet *packet,
		    struct choice_ports *out);

/* The lane on which a packet goes on by an output of a switch: DFP raises it. */
uint8_t choice_lane(const struct hd_sim *sim, const struct sim_packet *packet, uint32_t out);

#endif
