/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_hosts.h"

#include "core_state.h"
#include "sim_switches.h"

#include <errno.h>

static struct sim_line *line_of(const struct hd_sim *sim, uint32_t endpoint, uint32_t lane)
{
	return &sim->lines[endpoint * sim->lanes + lane];
}

/* Payload of the next packet of a message. */
static uint32_t payload(const struct hd_sim *sim, const struct sim_message *message)
{
	uint32_t left = message->what.bytes - message->injected_packets * sim->settings.mtu;

	return left < sim->settings.mtu ? left : sim->settings.mtu;
}

uint32_t source_bytes(const struct hd_sim *sim, uint32_t port, uint32_t lane)
{
	uint32_t endpoint = sim->nodes[sim->ports[port].node].index;
	const struct sim_message *message = &sim->messages[line_of(sim, endpoint, lane)->head];

	return payload(sim, message) + sim->settings.header;
}

static uint8_t packet_flags(const struct sim_message *message)
{
	uint32_t number = message->injected_packets, flags = 0;
	uint32_t dropping = message->what.dropping;

	if (dropping == HD_SIM_DROP_ALL ||
	    (dropping == HD_SIM_DROP_MIDDLE && number && number + 1 < message->packets))
		flags |= SIM_DROPPABLE;
	if (message->what.destination == HD_NONE)
		flags |= SIM_MULTICAST;
	return (uint8_t)(flags | (uint32_t)message->what.routing << SIM_ROUTING_SHIFT);
}

static void fill(struct hd_sim *sim, uint32_t packet, uint32_t index)
{
	struct sim_message *message = &sim->messages[index];

	sim->packets[packet] = (struct sim_packet){
	    .injected = sim->now,
	    .next = HD_NONE,
	    .message = index,
	    .bytes = payload(sim, message) + sim->settings.header,
	    .out = HD_NONE,
	    .copies = HD_NONE,
	    .dlid = message->dlid,
	    .slid = message->slid,
	    .lane_in = message->lane,
	    .lane_out = message->lane,
	    .sl = message->sl,
	    .flags = packet_flags(message),
	};
	if (!message->injected_packets++)
		message->injected = sim->now;
	message->live++;
	stall_watch(sim);
	sim->made++;
	sim->in_flight++;
	if (sim_counts(sim))
		sim->classes[message->what.traffic_class].packets_injected++;
}

void source_send(struct hd_sim *sim, uint32_t port, uint32_t lane)
{
	uint32_t endpoint = sim->nodes[sim->ports[port].node].index;
	struct sim_host *host = &sim->hosts[endpoint];
	struct sim_line *line = line_of(sim, endpoint, lane);
	uint32_t index = line->head, packet = pools_packet(sim);
	struct sim_message *message = &sim->messages[index];

	if (packet == HD_NONE)
		return;
	host->backlog -= payload(sim, message);
	fill(sim, packet, index);
	if (message->injected_packets == message->packets) {
		line->head = message->next;
		host->sending = index;
		if (line->head == HD_NONE)
			sim->ports[port].wanted &= (uint16_t) ~(1u << lane);
	}
	outputs_depart(sim, port, packet);
	if (host->sending != HD_NONE || sim->ports[port].wanted)
		outputs_watch(sim, port);
}

void source_sent(struct hd_sim *sim, uint32_t port)
{
	struct sim_host *host = &sim->hosts[sim->nodes[sim->ports[port].node].index];
	uint32_t message = host->sending;

	host->sending = HD_NONE;
	if (message != HD_NONE)
		sink_sent(sim, message);
}

bool source_fits(const struct hd_sim *sim, const struct hd_sim_message *message)
{
	const struct hd_sim_settings *settings = &sim->settings;

	return message->source < sim->endpoint_count && message->bytes &&
	       sim->hosts[message->source].port != HD_NONE &&
	       message->traffic_class < settings->class_count &&
	       (message->flow == HD_NONE || message->flow < settings->flow_count);
}

static void append(struct hd_sim *sim, uint32_t index)
{
	struct sim_message *message = &sim->messages[index];
	struct sim_host *host = &sim->hosts[message->what.source];
	struct sim_line *line = line_of(sim, message->what.source, message->lane);

	message->next = HD_NONE;
	if (line->head == HD_NONE)
		line->head = index;
	else
		sim->messages[line->tail].next = index;
	line->tail = index;
	host->backlog += message->what.bytes;
	sim->ports[host->port].wanted |= (uint16_t)(1u << message->lane);
	outputs_wake(sim, host->port);
}

int hd_sim_send(struct hd_sim *sim, const struct hd_sim_message *message)
{
	struct sim_message made = {.what = *message, .created = sim->now};
	uint32_t index;

	if (!source_fits(sim, message) || !address_message(sim, &made))
		return -EINVAL;
	index = pools_message(sim);
	if (index == HD_NONE)
		return -ENOMEM;
	made.packets = (message->bytes - 1) / sim->settings.mtu + 1;
	sim->messages[index] = made;
	if (message->destination == HD_NONE && groups_of_hosts_begin(sim, &sim->messages[index])) {
		sim->rc = -ENOMEM;
		return -ENOMEM;
	}
	if (message->source != message->destination) {
		append(sim, index);
		return sim->rc;
	}
	sim->messages[index].packets = 0;
	sim_push(sim, sim->now, SIM_SELF, index);
	return sim->rc;
}

uint64_t hd_sim_backlog(const struct hd_sim *sim, uint32_t endpoint)
{
	return sim->hosts[endpoint].backlog;
}
