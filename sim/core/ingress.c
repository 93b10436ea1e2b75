/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ingress.h"

#include "choice.h"
#include "egress.h"
#include "sink.h"

/* ---- queues ---- */

/* When the first packet of a queue is dropped, HD_SIM_NEVER: it is not. */
static uint64_t deadline(const struct hd_sim *sim, const struct sim_queue *queue)
{
	const struct sim_packet *packet = &sim->packets[queue->head];
	uint64_t head = sim->settings.head_lifetime, whole = sim->settings.switch_lifetime;
	uint64_t end = HD_SIM_NEVER;

	if (head != HD_SIM_NEVER && packet->flags & SIM_DROPPABLE)
		end = queue->since + head;
	if (whole != HD_SIM_NEVER && packet->arrived + whole < end)
		end = packet->arrived + whole;
	return end;
}

static void watch_lifetime(struct hd_sim *sim, uint32_t queue)
{
	uint64_t end = deadline(sim, &sim->queues[queue]);

	if (end >= sim->lifetimes[queue])
		return;
	if (end < sim->now)
		end = sim->now;
	sim->lifetimes[queue] = end;
	sim_push(sim, end, SIM_LIFETIME, queue);
}

void ingress_advance(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *advancing = &sim->queues[queue];
	const struct sim_packet *packet = &sim->packets[advancing->head];

	advancing->since = sim->now;
	if (sim->lifetimes)
		watch_lifetime(sim, queue);
	if (packet->ready > sim->now) {
		advancing->state = SIM_QUEUE_UNREADY;
		sim_push(sim, packet->ready, SIM_READY, queue);
		return;
	}
	egress_ask(sim, queue);
}

void ingress_ready(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *ready = &sim->queues[queue];

	if (ready->state == SIM_QUEUE_UNREADY && sim->packets[ready->head].ready <= sim->now)
		egress_ask(sim, queue);
}

void ingress_enqueue(struct hd_sim *sim, uint32_t queue, uint32_t packet)
{
	struct sim_queue *entered = &sim->queues[queue];

	sim->packets[packet].next = HD_NONE;
	if (entered->head != HD_NONE) {
		sim->packets[entered->tail].next = packet;
		entered->tail = packet;
		return;
	}
	entered->head = entered->tail = packet;
	if (entered->busy_until <= sim->now)
		ingress_advance(sim, queue);
	else
		egress_watch(sim, entered->serving);
}

void ingress_lifetime(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *old = &sim->queues[queue];
	uint32_t packet = old->head;

	if (sim->lifetimes[queue] > sim->now)
		return;
	sim->lifetimes[queue] = HD_SIM_NEVER;
	if (old->state == SIM_QUEUE_IDLE)
		return;
	if (deadline(sim, old) > sim->now) {
		watch_lifetime(sim, queue);
		return;
	}
	if (old->state == SIM_QUEUE_ASKING)
		egress_withdraw(sim, queue);
	old->state = SIM_QUEUE_IDLE;
	old->head = sim->packets[packet].next;
	sim->ports[sim->packets[packet].out].waiting -= sim->packets[packet].bytes;
	sink_drop(sim, packet,
		  sim->packets[packet].flags & SIM_DROPPABLE ? &sim->dropped_head
							     : &sim->dropped_switch);
	if (old->head != HD_NONE)
		ingress_advance(sim, queue);
}

/* ---- arrival ---- */

/* An output that is faster than the input may not start so soon that it runs dry. */
static uint64_t ready_time(const struct hd_sim *sim, const struct sim_packet *packet)
{
	const struct sim_port *in = &sim->ports[packet->at], *out = &sim->ports[packet->out];
	uint64_t whole;

	if (out->rate <= in->rate)
		return 0;
	whole = packet->tail + sim->settings.switch_latency;
	return whole - sim_time(sim, out, packet->bytes);
}

void ingress_arrive(struct hd_sim *sim, uint32_t packet)
{
	struct sim_packet *come = &sim->packets[packet];
	const struct sim_port *in = &sim->ports[come->at];
	const struct sim_node *node = &sim->nodes[in->node];
	bool found = choice_unicast(sim, in->node, come);

	if (!found) {
		sink_drop(sim, packet, &sim->dropped_route);
		return;
	}
	come->ready = ready_time(sim, come);
	sim->ports[come->out].waiting += come->bytes;
	if (sim->settings.queueing == HD_SIM_VOQ)
		ingress_enqueue(
		    sim, in->queue + come->lane_in * node->ports + sim->ports[come->out].number,
		    packet);
	else
		ingress_enqueue(sim, in->queue + come->lane_in, packet);
}
