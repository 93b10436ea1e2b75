/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A buffer is stuck when none of its packets will ever move. At first all buffers are suspected in
 * which each first packet of a queue waits for credits that are not on their way. Then those are
 * cleared that have a packet for a host, or for a buffer that is not suspected, until none is left
 * to be cleared. From a stuck buffer, the waits lead only to stuck buffers, and so into a cycle.
 */
#include "sim_switches.h"

#include <errno.h>
#include <stdlib.h>

/* A buffer is a lane of an input: port * lanes + lane. */
struct search {
	struct hd_sim *sim;
	bool *suspected; /* [port_count * lanes] */
};

static uint32_t slots_of(const struct hd_sim *sim, const struct sim_port *in)
{
	bool many = sim->settings.queueing == HD_SIM_VOQ || !in->number;

	return many ? sim->nodes[in->node].ports : 1;
}

/* Whether the output can never send another packet of the lane with the credits that it has, and
 * with those that are on their way. */
static bool is_starved(const struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t bytes)
{
	const struct sim_lane *next = sim_lane(sim, port, lane);
	int64_t credits = next->credits;

	for (uint32_t item = next->first; item != HD_NONE; item = sim->returns[item].next)
		credits += sim->returns[item].bytes;
	return credits < bytes;
}

/* The buffer for which a packet waits at an output; HD_NONE: the packet will move. */
static uint32_t waits_at(const struct search *search, const struct sim_packet *packet,
			 uint32_t port)
{
	struct hd_sim *sim = search->sim;
	const struct sim_port *out = &sim->ports[port];
	uint32_t next = out->peer * sim->lanes + packet->lane_out, queue, bytes = packet->bytes;
	bool together = packet->out == HD_NONE && sim->settings.replication == HD_SIM_SYNCHRONOUS;

	/* outputs are reserved for a limited time, so that does not count */
	if (out->peer_kind == SIM_HOST || !search->suspected[next])
		return HD_NONE;
	if (!together) {
		outputs_next(sim, port, packet->lane_out, &queue);
		bytes = sim->packets[sim->queues[queue].head].bytes;
	}
	return is_starved(sim, port, packet->lane_out, bytes) ? next : HD_NONE;
}

static bool may_expire(const struct hd_sim *sim, const struct sim_packet *packet)
{
	return sim->settings.switch_lifetime != HD_SIM_NEVER ||
	       (sim->settings.head_lifetime != HD_SIM_NEVER && packet->flags & SIM_DROPPABLE);
}

/* The buffer for which the first packet of a queue waits, and the output; HD_NONE: it will move. */
static uint32_t waits_for(const struct search *search, const struct sim_queue *queue, uint32_t *out)
{
	const struct hd_sim *sim = search->sim;
	const struct sim_packet *packet = &sim->packets[queue->head];
	uint32_t first = sim->nodes[sim->ports[queue->port].node].first_port, next = HD_NONE;

	if (queue->state != SIM_QUEUE_ASKING || may_expire(sim, packet))
		return HD_NONE;
	*out = packet->out;
	if (packet->out != HD_NONE)
		return waits_at(search, packet, packet->out);
	/* a multicast packet stays as long as one of its copies */
	HD_PORT_SET_FOREACH(number, &sim->copies[packet->copies].pending) {
		if (next != HD_NONE)
			break;
		*out = first + number;
		next = waits_at(search, packet, *out);
	}
	return next;
}

/* Whether no queue of a suspected buffer can move. */
static bool is_stuck(const struct search *search, uint32_t buffer)
{
	const struct hd_sim *sim = search->sim;
	const struct sim_port *in = &sim->ports[buffer / sim->lanes];
	uint32_t slots = slots_of(sim, in), out;
	uint32_t first = in->queue + buffer % sim->lanes * slots;

	for (uint32_t i = first; i < first + slots; i++)
		if (sim->queues[i].head != HD_NONE &&
		    waits_for(search, &sim->queues[i], &out) == HD_NONE)
			return false;
	return true;
}

/* All buffers with packets. With VOQ, a packet that has not reached its buffer yet may find a free
 * queue. */
static void suspect(const struct search *search)
{
	const struct hd_sim *sim = search->sim;

	for (uint32_t i = 0; i < sim->queue_count; i++)
		if (sim->queues[i].head != HD_NONE)
			search->suspected[sim->queues[i].port * sim->lanes + sim->queues[i].lane] =
			    true;
	if (sim->settings.queueing != HD_SIM_VOQ)
		return;
	for (uint32_t i = 0; i < sim->packet_count; i++) {
		const struct sim_packet *packet = &sim->packets[i];
		if (packet->message != HD_NONE && packet->ready == HD_SIM_NEVER)
			search->suspected[packet->at * sim->lanes + packet->lane_in] = false;
	}
}

/* Clears buffers until all that are left wait for each other. Returns one of them, or HD_NONE. */
static uint32_t clear_all(const struct search *search)
{
	uint32_t buffers = search->sim->port_count * search->sim->lanes, left;
	bool changed = true;

	do {
		changed = false;
		left = HD_NONE;
		for (uint32_t i = 0; i < buffers; i++) {
			if (!search->suspected[i])
				continue;
			search->suspected[i] = is_stuck(search, i);
			if (search->suspected[i])
				left = i;
			else
				changed = true;
		}
	} while (changed);
	return left;
}

/* The buffer for which a stuck one waits first, and the output. */
static uint32_t next_of(const struct search *search, uint32_t buffer, uint32_t *out)
{
	const struct hd_sim *sim = search->sim;
	const struct sim_port *in = &sim->ports[buffer / sim->lanes];
	uint32_t queue = in->queue + buffer % sim->lanes * slots_of(sim, in);

	while (sim->queues[queue].head == HD_NONE)
		queue++;
	return waits_for(search, &sim->queues[queue], out);
}

static uint8_t lane_of(const struct hd_sim *sim, uint32_t lane)
{
	return (uint8_t)(lane == sim->lanes - 1 ? HD_SIM_LANES - 1 : lane);
}

/* From a buffer of the cycle once around. */
static void store_cycle(const struct search *search, uint32_t first)
{
	struct hd_sim *sim = search->sim;
	uint32_t length = 0, buffer = first, out;

	do {
		buffer = next_of(search, buffer, &out);
		length++;
	} while (buffer != first);
	free(sim->cycle);
	sim->cycle = calloc(length, sizeof(*sim->cycle));
	sim->cycle_length = sim->cycle ? length : 0;
	if (!sim->cycle)
		sim->rc = -ENOMEM;
	for (uint32_t i = 0; i < sim->cycle_length; i++) {
		const struct sim_origin *at = &sim->origins[buffer / sim->lanes];
		uint32_t lane = buffer % sim->lanes;
		buffer = next_of(search, buffer, &out);
		sim->cycle[i] = (struct hd_sim_buffer){at->subnet, at->port, lane_of(sim, lane),
						       sim->origins[out].port};
	}
}

/* Two walkers, one twice as fast, meet in the cycle. */
static uint32_t enter_cycle(const struct search *search, uint32_t from)
{
	uint32_t slow = from, fast = from, out;

	do {
		slow = next_of(search, slow, &out);
		fast = next_of(search, next_of(search, fast, &out), &out);
	} while (slow != fast);
	return slow;
}

bool stall_search(struct hd_sim *sim)
{
	struct search search = {sim, calloc((size_t)sim->port_count * sim->lanes, sizeof(bool))};
	uint32_t stuck;

	if (!search.suspected) {
		sim->rc = -ENOMEM;
		return false;
	}
	suspect(&search);
	stuck = clear_all(&search);
	if (stuck != HD_NONE)
		store_cycle(&search, enter_cycle(&search, stuck));
	free(search.suspected);
	return stuck != HD_NONE;
}

void stall_watch(struct hd_sim *sim)
{
	uint64_t pause = sim->settings.deadlock_check;

	if (sim->searching || !pause || pause > HD_SIM_NEVER - sim->now)
		return;
	sim->searching = true;
	sim_push(sim, sim->now + pause, SIM_SEARCH, 0);
}

void stall_check(struct hd_sim *sim)
{
	sim->searching = false;
	if (stall_search(sim))
		sim->deadlocked = true;
	else if (sim->any_touched || agenda_peek(&sim->agenda))
		stall_watch(sim);
}
