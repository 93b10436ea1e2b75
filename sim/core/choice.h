/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The output that a packet takes at a switch. */
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

/* All outputs that the tables of a switch allow a packet, which is at an input of it. */
void choice_allowed(const struct hd_sim *sim, const struct sim_packet *packet,
		    struct choice_ports *out);

/* The lane on which a packet goes on by an output of a switch: DFP raises it. */
uint8_t choice_lane(const struct hd_sim *sim, const struct sim_packet *packet, uint32_t out);

/* The number of the best of these outputs, of which there is one. The packet takes it. */
uint32_t choice_select(struct hd_sim *sim, const struct sim_packet *packet,
		       const struct choice_ports *allowed);

/* Sets out and lane_out of a packet that has come to a switch. False: the tables lead nowhere. */
bool choice_take(struct hd_sim *sim, struct sim_packet *packet);

#endif
