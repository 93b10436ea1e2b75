/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "rechoice.h"

#include "choice.h"
#include "egress.h"
#include "ingress.h"

bool rechoice_may(const struct hd_sim *sim, const struct sim_packet *packet)
{
	return sim->settings.choice == HD_SIM_WHILE_WAITING && packet->out != HD_NONE &&
	       packet->flags >> SIM_ROUTING_SHIFT && sim->ports[packet->at].kind == SIM_SWITCH;
}

static bool has_credits(struct hd_sim *sim, const struct sim_packet *packet, uint32_t out)
{
	struct sim_lane *lane = sim_lane(sim, out, choice_lane(sim, packet, out));

	return egress_credits(sim, lane) >= packet->bytes;
}

/* Leaves the outputs that have credits; the others wake the switch when they have. */
static void keep_able(struct hd_sim *sim, const struct sim_packet *packet,
		      struct hd_port_set *ports)
{
	uint32_t first = sim->nodes[sim->ports[packet->at].node].first_port;

	HD_PORT_SET_FOREACH(number, ports) {
		uint32_t out = first + number;
		if (has_credits(sim, packet, out))
			continue;
		egress_await(sim, out, choice_lane(sim, packet, out), packet->bytes);
		hd_port_set_remove(ports, number);
	}
}

static void change(struct hd_sim *sim, uint32_t queue, uint32_t out)
{
	struct sim_packet *packet = &sim->packets[sim->queues[queue].head];

	egress_withdraw(sim, queue);
	sim->ports[packet->out].waiting -= packet->bytes;
	if (sim->settings.selection == HD_SIM_LEAST_USED) {
		sim->counted[packet->out].chosen--;
		sim->counted[out].chosen++;
	}
	packet->out = out;
	packet->lane_out = choice_lane(sim, packet, out);
	packet->ready = ingress_ready_time(sim, packet, out);
	sim->ports[out].waiting += packet->bytes;
	if (packet->ready > sim->now) {
		sim->queues[queue].state = SIM_QUEUE_UNREADY;
		sim_push(sim, packet->ready, SIM_READY, queue);
	} else {
		egress_ask(sim, queue);
	}
}

static void reconsider(struct hd_sim *sim, uint32_t queue)
{
	const struct sim_queue *waiting = &sim->queues[queue];
	const struct sim_packet *packet;
	struct choice_ports allowed;

	if (waiting->state != SIM_QUEUE_ASKING)
		return;
	packet = &sim->packets[waiting->head];
	if (!rechoice_may(sim, packet) || has_credits(sim, packet, packet->out))
		return;
	choice_allowed(sim, packet, &allowed);
	if (allowed.paused)
		return;
	keep_able(sim, packet, &allowed.ports);
	keep_able(sim, packet, &allowed.detours);
	if (!hd_port_set_is_empty(&allowed.ports) || !hd_port_set_is_empty(&allowed.detours))
		change(sim, queue,
		       sim->nodes[sim->ports[packet->at].node].first_port +
			   choice_select(sim, packet, &allowed));
}

void rechoice_all(struct hd_sim *sim, uint32_t node_index)
{
	const struct sim_node *node = &sim->nodes[node_index];

	if (node->kind != SIM_SWITCH)
		return;
	for (uint32_t number = 1; number < node->ports; number++) {
		const struct sim_port *in = &sim->ports[node->first_port + number];
		for (uint32_t lane = 0; in->peer != HD_NONE && lane < sim->lanes; lane++)
			reconsider(sim, in->queue + lane);
	}
}
