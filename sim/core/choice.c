/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "choice.h"

#include "egress.h"

/* The output with that number; HD_NONE: there is none, or it has no cable. */
static uint32_t cabled(const struct hd_sim *sim, const struct sim_node *node, uint32_t number)
{
	uint32_t port = node->first_port + number;

	if (!number || number >= node->ports || sim->ports[port].peer == HD_NONE)
		return HD_NONE;
	return port;
}

bool choice_unicast(struct hd_sim *sim, uint32_t node, struct sim_packet *packet)
{
	const struct sim_node *here = &sim->nodes[node];

	packet->lane_out = packet->lane_in;
	if (packet->dlid >= here->row_length)
		return false;
	packet->out = cabled(sim, here, here->row[packet->dlid]);
	return packet->out != HD_NONE;
}
