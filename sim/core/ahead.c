/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ahead.h"

/* How many events before its own turn an event is looked at. */
enum { FIRST_LOOK = 12, SECOND_LOOK = 9, THIRD_LOOK = 6, FOURTH_LOOK = 3 };

/* The empty instruction keeps the compiler from leaving out functions that do nothing else. */
static inline void load(const void *place)
{
	__builtin_prefetch(place);
	__asm__ volatile("" : : "r"(place));
}

static uint32_t index_of(uint32_t what)
{
	return what & ((1u << SIM_EVENT_BITS) - 1);
}

/* What the event itself names. */
static void look_first(const struct hd_sim *sim, uint32_t what)
{
	uint32_t index = index_of(what);

	switch (what >> SIM_EVENT_BITS) {
	case SIM_ARRIVE:
		load(&sim->packets[index]);
		break;
	case SIM_FREE:
		load(&sim->ports[index]);
		load(sim_lane(sim, index, 0));
		load(&sim->link[index]);
		break;
	case SIM_CREDIT:
		load(&sim->lane[index]);
		load(&sim->ports[index / sim->lanes]);
		break;
	case SIM_READY:
		load(&sim->queues[index]);
		break;
	case SIM_WAKE:
		load(&sim->wakes[index]);
		break;
	default:
		break;
	}
}

/* The packet's port; the queue from which a port has sent. */
static void look_second(const struct hd_sim *sim, uint32_t what)
{
	uint32_t index = index_of(what);

	if (what >> SIM_EVENT_BITS == SIM_ARRIVE) {
		load(&sim->ports[sim->packets[index].at]);
		load(&sim->messages[sim->packets[index].message]);
	} else if (what >> SIM_EVENT_BITS == SIM_FREE) {
		const struct sim_port *port = &sim->ports[index];
		if (port->kind == SIM_HOST)
			load(&sim->nodes[port->node]);
		else if (port->serving != HD_NONE)
			load(&sim->queues[port->serving]);
		load(sim_asking(sim, index, 0));
		load(sim->link[index]);
	}
}

/* What a packet needs at its input; the next packet of the queue, or the host, of a port. */
static void look_third(const struct hd_sim *sim, uint32_t what)
{
	uint32_t index = index_of(what);

	if (what >> SIM_EVENT_BITS == SIM_ARRIVE) {
		const struct sim_packet *packet = &sim->packets[index];
		const struct sim_port *in = &sim->ports[packet->at];
		const struct sim_node *node = &sim->nodes[in->node];
		load(sim_lane(sim, in->peer, packet->lane_in));
		if (in->kind != SIM_SWITCH)
			return;
		if (sim->settings.queueing == HD_SIM_FIFO)
			load(&sim->queues[in->queue + packet->lane_in]);
		if (packet->dlid < node->row_length)
			load(&node->row[packet->dlid]);
	} else if (what >> SIM_EVENT_BITS == SIM_FREE) {
		const struct sim_port *port = &sim->ports[index];
		if (port->kind == SIM_HOST)
			load(&sim->hosts[sim->nodes[port->node].index]);
		else if (port->serving != HD_NONE && sim->queues[port->serving].head != HD_NONE)
			load(&sim->packets[sim->queues[port->serving].head]);
	}
}

/* The packet that chooses its output next; HD_NONE: no packet does. */
static uint32_t packet_of(const struct hd_sim *sim, uint32_t what)
{
	uint32_t index = index_of(what), queue;

	if (what >> SIM_EVENT_BITS == SIM_ARRIVE)
		return index;
	if (what >> SIM_EVENT_BITS != SIM_FREE)
		return HD_NONE;
	queue = sim->ports[index].serving;
	return queue == HD_NONE ? HD_NONE : sim->queues[queue].head;
}

/* The output, by the forwarding table. */
static void look_fourth(const struct hd_sim *sim, uint32_t what)
{
	uint32_t index = packet_of(sim, what), out;
	const struct sim_packet *packet;
	const struct sim_node *node;

	if (index == HD_NONE)
		return;
	packet = &sim->packets[index];
	node = &sim->nodes[sim->ports[packet->at].node];
	if (node->kind != SIM_SWITCH || packet->dlid >= node->row_length ||
	    node->row[packet->dlid] >= node->ports)
		return;
	out = node->first_port + node->row[packet->dlid];
	load(&sim->ports[out]);
	load(sim_lane(sim, out, packet->lane_in));
	load(sim_asking(sim, out, packet->lane_in));
	load(sim->link[out]);
}

void ahead_load(const struct hd_sim *sim)
{
	const struct agenda_event *next = &sim->agenda.current[sim->agenda.position];
	uint32_t left = sim->agenda.count - sim->agenda.position;

	if (left > FIRST_LOOK)
		look_first(sim, next[FIRST_LOOK].what);
	if (left > SECOND_LOOK)
		look_second(sim, next[SECOND_LOOK].what);
	if (left > THIRD_LOOK)
		look_third(sim, next[THIRD_LOOK].what);
	if (left > FOURTH_LOOK)
		look_fourth(sim, next[FOURTH_LOOK].what);
}
