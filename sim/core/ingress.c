/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_switches.h"

#include "sim_hosts.h"

/* Sets out and lane_out. False: the packet has nowhere to go. */
static bool find_output(struct hd_sim *sim, struct sim_packet *packet)
{
	return sim->ports[packet->at].kind == SIM_SWITCH
		   ? selection_take(sim, packet)
		   : address_relay(sim, &sim->messages[packet->message], packet);
}

/* Finds the output. False: the packet has nowhere to go. */
static bool direct(struct hd_sim *sim, uint32_t packet)
{
	struct sim_packet *come = &sim->packets[packet];
	const struct sim_port *in = &sim->ports[come->at];

	if (come->flags & SIM_MULTICAST)
		return in->kind == SIM_SWITCH && copies_prepare(sim, packet);
	if (!find_output(sim, come))
		return false;
	come->ready = outputs_ready_time(sim, come, come->out);
	sim->ports[come->out].waiting += come->bytes;
	return true;
}

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

/* Chooses the output of the first packet of a queue. False: it has nowhere to go, and is dropped. */
static bool direct_first(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *advancing = &sim->queues[queue];
	uint32_t packet = advancing->head;

	if (sim->packets[packet].out != HD_NONE || sim->packets[packet].copies != HD_NONE ||
	    direct(sim, packet))
		return true;
	advancing->head = sim->packets[packet].next;
	sink_drop(sim, packet, &sim->dropped_route);
	return false;
}

static void ask(struct hd_sim *sim, uint32_t queue);

void ingress_advance(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *advancing = &sim->queues[queue];

	while (advancing->head != HD_NONE && !direct_first(sim, queue))
		;
	if (advancing->head == HD_NONE)
		return;
	advancing->since = sim->now;
	if (sim->lifetimes)
		watch_lifetime(sim, queue);
	if (sim->packets[advancing->head].ready > sim->now) {
		advancing->state = SIM_QUEUE_UNREADY;
		sim_push(sim, sim->packets[advancing->head].ready, SIM_READY, queue);
		return;
	}
	ask(sim, queue);
}

void ingress_ready(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *ready = &sim->queues[queue];

	if (ready->head == HD_NONE)
		return;
	if (ready->state == SIM_QUEUE_IDLE && ready->serving == HD_NONE &&
	    ready->busy_until <= sim->now)
		ingress_advance(sim, queue);
	else if (ready->state == SIM_QUEUE_UNREADY && sim->packets[ready->head].ready <= sim->now)
		ask(sim, queue);
}

/* Puts a packet, whose output is known, at the end of a queue. */
static void enqueue(struct hd_sim *sim, uint32_t queue, uint32_t packet)
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
	else if (entered->serving != HD_NONE)
		outputs_watch(sim, entered->serving);
	else
		sim_push(sim, entered->busy_until, SIM_READY, queue);
}

/* The packet leaves its queue when its last byte has come. */
static void leave_input(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *left = &sim->queues[queue];
	const struct sim_packet *packet = &sim->packets[left->head];

	left->head = packet->next;
	left->state = SIM_QUEUE_IDLE;
	left->busy_until = packet->tail > sim->now ? packet->tail : sim->now;
	left->serving = HD_NONE;
	outputs_return(sim, packet->at, packet->lane_in, left->busy_until, packet->bytes);
	if (left->head != HD_NONE)
		sim_push(sim, left->busy_until, SIM_READY, queue);
}

static void enter_central(struct hd_sim *sim, struct sim_node *node, uint32_t packet,
			  uint32_t number)
{
	struct sim_packet *entered = &sim->packets[packet];
	uint32_t queue = sim->ports[node->first_port].queue;

	entered->at = node->first_port;
	entered->out = node->first_port + number;
	entered->lane_in = entered->lane_out;
	enqueue(sim, queue + entered->lane_out * node->ports + number, packet);
}

static bool store(struct hd_sim *sim, uint32_t queue)
{
	struct sim_node *node = &sim->nodes[sim->ports[sim->queues[queue].port].node];
	uint32_t packet = sim->queues[queue].head, index = sim->packets[packet].copies;
	struct sim_copies *copies = &sim->copies[index];
	uint32_t bytes = sim->packets[packet].bytes;
	uint32_t left = hd_port_set_count(&copies->pending);

	if (node->central_bytes + bytes > sim->settings.central_buffer)
		return false;
	node->central_bytes += bytes;
	copies->shares = left;
	copies->node = sim->ports[sim->queues[queue].port].node;
	copies->bytes = bytes;
	leave_input(sim, queue);
	HD_PORT_SET_FOREACH(number, &copies->pending) {
		uint32_t copy = --left ? copies_clone(sim, packet) : packet;
		if (copy == HD_NONE)
			return true;
		enter_central(sim, node, copy, number);
	}
	return true;
}

/* The first packet of a queue asks its outputs. */
static void ask(struct hd_sim *sim, uint32_t queue)
{
	if (sim->packets[sim->queues[queue].head].out != HD_NONE)
		outputs_ask(sim, queue);
	else if (sim->settings.replication != HD_SIM_CENTRAL_BUFFER || !store(sim, queue))
		copies_ask(sim, queue);
}

static void withdraw(struct hd_sim *sim, uint32_t queue)
{
	if (sim->packets[sim->queues[queue].head].out != HD_NONE)
		outputs_withdraw(sim, queue);
	else
		copies_withdraw(sim, queue);
}

/* The first packet of a queue, which has an output, is dropped. */
static void drop_first(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *old = &sim->queues[queue];
	uint32_t packet = old->head;
	struct sim_packet *gone = &sim->packets[packet];
	bool by_head = gone->flags & SIM_DROPPABLE && sim->settings.head_lifetime != HD_SIM_NEVER &&
		       old->since + sim->settings.head_lifetime <= sim->now;

	if (old->state == SIM_QUEUE_ASKING)
		withdraw(sim, queue);
	old->state = SIM_QUEUE_IDLE;
	old->head = gone->next;
	if (gone->out != HD_NONE) {
		sim->ports[gone->out].waiting -= gone->bytes;
	} else {
		uint64_t end = copies_forget(sim, packet);
		if (end > gone->tail)
			gone->tail = end;
	}
	sink_drop(sim, packet, by_head ? &sim->dropped_head : &sim->dropped_switch);
	ingress_advance(sim, queue);
}

void ingress_lifetime(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *old = &sim->queues[queue];

	if (sim->lifetimes[queue] > sim->now)
		return;
	sim->lifetimes[queue] = HD_SIM_NEVER;
	if (old->state == SIM_QUEUE_IDLE)
		return;
	if (deadline(sim, old) > sim->now)
		watch_lifetime(sim, queue);
	else
		drop_first(sim, queue);
}

/* With FIFO the output is chosen when the packet is first in its queue. */
void ingress_arrive(struct hd_sim *sim, uint32_t packet)
{
	struct sim_packet *come = &sim->packets[packet];
	const struct sim_port *in = &sim->ports[come->at];
	uint32_t slot;

	come->ready = 0;
	if (sim->settings.queueing == HD_SIM_FIFO) {
		enqueue(sim, in->queue + come->lane_in, packet);
		return;
	}
	if (!direct(sim, packet)) {
		sink_drop(sim, packet, &sim->dropped_route);
		return;
	}
	come = &sim->packets[packet];
	slot = come->out == HD_NONE ? 0 : sim->ports[come->out].number;
	enqueue(sim, in->queue + come->lane_in * sim->nodes[in->node].ports + slot, packet);
}
