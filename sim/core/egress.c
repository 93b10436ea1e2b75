/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_switches.h"

#include "sim_hosts.h"

/* What a lane of an output would send; false: it has to wait for credits. */
static bool offer(struct hd_sim *sim, uint32_t port, uint32_t lane, struct arbiter_offer *out)
{
	if (sim->ports[port].kind == SIM_HOST) {
		out->bytes = source_bytes(sim, port, lane);
	} else {
		out->input = outputs_next(sim, port, lane, &out->queue);
		out->bytes = sim->packets[sim->queues[out->queue].head].bytes;
	}
	out->lane = lane;
	if (outputs_credits(sim, sim_lane(sim, port, lane)) >= out->bytes)
		return true;
	outputs_await(sim, port, lane, out->bytes);
	return false;
}

/* The first packet of a queue leaves; the queue's next one is first when its last byte has left. */
static void send_queued(struct hd_sim *sim, uint32_t port, const struct arbiter_offer *offer)
{
	struct sim_queue *queue = &sim->queues[offer->queue];
	struct sim_packet *packet = &sim->packets[queue->head];
	uint32_t leaving = queue->head, input = packet->at, lane = packet->lane_in;
	uint32_t copies = packet->copies;
	struct sim_port *out = &sim->ports[port];

	if (packet->out == HD_NONE) {
		copies_send(sim, port, offer);
		return;
	}

	queue->head = packet->next;
	queue->state = SIM_QUEUE_IDLE;
	outputs_forget(sim, port, offer->lane, offer->input);
	sim_lane(sim, port, offer->lane)->turn = (uint8_t)offer->input;
	out->waiting -= packet->bytes;
	out->serving = offer->queue;
	queue->serving = port;
	queue->busy_until = outputs_depart(sim, port, leaving);
	if (copies == HD_NONE)
		outputs_return(sim, input, lane, queue->busy_until, offer->bytes);
	else
		outputs_release_copy(sim, copies, queue->busy_until);
	if (queue->head != HD_NONE || out->wanted)
		outputs_watch(sim, port);
}

static void send(struct hd_sim *sim, uint32_t port, uint32_t able,
		 const struct arbiter_offer *offers)
{
	struct sim_port *out = &sim->ports[port];
	uint32_t lane = (uint32_t)__builtin_ctz(able);

	if (able & (able - 1) || sim->arbiters)
		lane = arbiter_choose(sim, port, able, offers);
	out->last_lane = (uint8_t)lane;
	if (out->kind == SIM_HOST)
		source_send(sim, port, lane);
	else
		send_queued(sim, port, &offers[lane]);
}

/* Copies that leave together, and for which lanes of the output are reserved; false: all of them wait
 * for credits. */
static bool send_reserved(struct hd_sim *sim, uint32_t port)
{
	const struct sim_port *out = &sim->ports[port];
	uint32_t later = out->reserved_lanes & ~((2u << out->last_lane) - 1);
	uint32_t sooner = out->reserved_lanes & ~later;

	for (; later; later &= later - 1)
		if (copies_send_together(
			sim, sim->reserved[port * sim->lanes + (uint32_t)__builtin_ctz(later)]))
			return true;
	for (; sooner; sooner &= sooner - 1)
		if (copies_send_together(
			sim, sim->reserved[port * sim->lanes + (uint32_t)__builtin_ctz(sooner)]))
			return true;
	return false;
}

void egress_choose(struct hd_sim *sim, uint32_t port)
{
	struct sim_port *out = &sim->ports[port];
	struct arbiter_offer offers[HD_SIM_LANES];
	uint32_t able = 0, wanted = out->wanted & ~(uint32_t)out->reserved_lanes, lane;

	if (out->busy_until > sim->now || (!out->reserved_lanes && !out->wanted))
		return;
	if (out->reserved_lanes && send_reserved(sim, port))
		return;
	for (uint32_t left = wanted; left; left &= left - 1) {
		lane = (uint32_t)__builtin_ctz(left);
		if (offer(sim, port, lane, &offers[lane]))
			able |= 1u << lane;
	}
	outputs_note_blocked(sim, port, !able);
	if (able)
		send(sim, port, able, offers);
}

void egress_credit(struct hd_sim *sim, uint32_t lane_index)
{
	struct sim_lane *lane = &sim->lane[lane_index];
	uint32_t port = lane_index / sim->lanes;

	lane->timer = HD_SIM_NEVER;
	lane->starved = false;
	copies_reserve(sim, sim->ports[port].node);
	if (sim->ports[port].reserved_lanes)
		outputs_wake(sim, port);
	if (sim->ports[port].busy_until <= sim->now)
		sim_touch(sim, port);
}

void egress_free(struct hd_sim *sim, uint32_t port)
{
	struct sim_port *out = &sim->ports[port];
	struct sim_queue *queue;

	out->scheduled = false;
	if (out->wanted || out->reserved_lanes)
		sim_touch(sim, port);
	if (out->kind == SIM_HOST) {
		source_sent(sim, port);
		return;
	}
	if (out->serving == HD_NONE)
		return;
	queue = &sim->queues[out->serving];
	if (queue->head != HD_NONE && queue->state == SIM_QUEUE_IDLE &&
	    queue->busy_until <= sim->now)
		ingress_advance(sim, out->serving);
}
