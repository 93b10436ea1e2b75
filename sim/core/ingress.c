/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inputs of switches and routers: the queues of their lanes, and packets that leave in several copies.
 *
 * ingress_arrive() is the event of a packet whose header is decoded. It puts the packet into a queue: with VOQ the
 * output is chosen now, with FIFO when the packet is first. ingress_advance() is called when a queue has a new first
 * packet: it chooses the output, watches its lifetime, and asks the output (outputs.c) when it may leave.
 *
 * A multicast packet has no one output but `copies`. Asynchronous copies ask each output on their own. Synchronous
 * ones stand in a line of the switch and reserve their lane of all outputs at once; see sim_switches.h. With a central
 * buffer they move there at once if it has room. States of a queue: idle, unready (SIM_READY will come), asking.
 */
#include "core_state.h"
#include "sim_hosts.h"
#include "sim_switches.h"

/* Credits that may come in vain before copies insist; for how many packets' time they do so: 2^2 at
 * first, and 2^16 at most. */
#define TRIES 8u
#define PATIENCE_LEAST 2u
#define PATIENCE_MOST 16u

static struct sim_node *node_of(const struct hd_sim *sim, uint32_t queue)
{
	return &sim->nodes[sim->ports[sim->queues[queue].port].node];
}

/* A multicast packet has come: sets `copies`. False: it has nowhere to go. */
static bool copies_prepare(struct hd_sim *sim, uint32_t packet)
{
	struct sim_packet *come = &sim->packets[packet];
	const struct sim_port *in = &sim->ports[come->at];
	const struct sim_node *node = &sim->nodes[in->node];
	struct hd_port_set ports = groups_of_hosts_ports(sim, in->node, come->dlid, in->number);
	uint32_t copies;

	if (hd_port_set_is_empty(&ports))
		return false;
	copies = pools_copies(sim);
	if (copies == HD_NONE)
		return false;
	sim->copies[copies] = (struct sim_copies){.pending = ports, .out = HD_NONE};
	come->copies = copies;
	come->out = HD_NONE;
	come->lane_out = come->lane_in;
	come->ready = 0;
	HD_PORT_SET_FOREACH(number, &ports) {
		uint64_t ready = outputs_ready_time(sim, come, node->first_port + number);
		sim->ports[node->first_port + number].waiting += come->bytes;
		if (ready > come->ready)
			come->ready = ready;
	}
	return true;
}

/* One more packet with the same content. HD_NONE: no memory. */
static uint32_t copies_clone(struct hd_sim *sim, uint32_t packet)
{
	uint32_t copy = pools_packet(sim);

	if (copy == HD_NONE)
		return HD_NONE;
	sim->packets[copy] = sim->packets[packet];
	sim->messages[sim->packets[copy].message].live++;
	sim->made++;
	sim->in_flight++;
	return copy;
}

/* The last copy has left: so has the packet, as it was before. */
static void ingress_leave(struct hd_sim *sim, uint32_t queue, const struct sim_packet *packet)
{
	struct sim_queue *left = &sim->queues[queue];
	const struct sim_copies *gone = &sim->copies[packet->copies];

	left->head = packet->next;
	left->state = SIM_QUEUE_IDLE;
	left->busy_until = gone->end;
	left->serving = gone->out;
	outputs_return(sim, packet->at, packet->lane_in, gone->end, packet->bytes);
	if (left->head != HD_NONE)
		outputs_watch(sim, gone->out);
}

/* Sends the copy for one output. False: no memory. */
static bool send_copy(struct hd_sim *sim, uint32_t queue, uint32_t port)
{
	uint32_t packet = sim->queues[queue].head, copy;
	struct sim_packet before = sim->packets[packet];
	struct sim_copies *left = &sim->copies[before.copies];
	uint64_t end;
	bool is_last;

	hd_port_set_remove(&left->pending, sim->ports[port].number);
	is_last = hd_port_set_is_empty(&left->pending);
	copy = is_last ? packet : copies_clone(sim, packet);
	if (copy == HD_NONE)
		return false;
	sim->ports[port].waiting -= before.bytes;
	sim->ports[port].serving = queue;
	end = outputs_depart(sim, port, copy);
	if (left->out == HD_NONE || end > left->end) {
		left->end = end;
		left->out = port;
	}
	if (is_last)
		ingress_leave(sim, queue, &before);
	if (sim->ports[port].wanted)
		outputs_watch(sim, port);
	return true;
}

void copies_send(struct hd_sim *sim, uint32_t port, const struct arbiter_offer *offer)
{
	uint32_t copies = sim->packets[sim->queues[offer->queue].head].copies;

	if (!send_copy(sim, offer->queue, port))
		return;
	if (hd_port_set_is_empty(&sim->copies[copies].pending))
		pools_free_copies(sim, copies);
	outputs_forget(sim, port, offer->lane, offer->input);
	sim_lane(sim, port, offer->lane)->turn = (uint8_t)offer->input;
}

/* Whether all outputs have credits, or will have them whatever others do. If not, copies_reserve()
 * is called when more are there. */
static bool will_have_credits(struct hd_sim *sim, uint32_t first, const struct sim_copies *copies)
{
	const struct sim_packet *packet = &sim->packets[sim->queues[copies->queue].head];
	bool will = true;

	HD_PORT_SET_FOREACH(number, &copies->pending) {
		struct sim_lane *lane = sim_lane(sim, first + number, packet->lane_out);
		if (outputs_credits(sim, lane) < packet->bytes &&
		    !outputs_await(sim, first + number, packet->lane_out, packet->bytes))
			will = false;
	}
	return will;
}

static bool are_reserved(const struct hd_sim *sim, uint32_t first, const struct sim_copies *copies)
{
	HD_PORT_SET_FOREACH(number, &copies->pending)
		if (sim->ports[first + number].reserved_lanes >> copies->lane & 1)
			return true;
	return false;
}

/* Credits are missing: the copies hold their outputs until they leave or give up. */
static void insist(struct hd_sim *sim, uint32_t first, uint32_t index)
{
	struct sim_copies *copies = &sim->copies[index];
	uint32_t any = first + hd_port_set_next(&copies->pending, 0);

	copies->give_up = sim->now + (sim->ports[any].full_time << copies->patience);
	sim_push(sim, copies->give_up, SIM_GIVE_UP, index);
}

void copies_reserve(struct hd_sim *sim, uint32_t node)
{
	uint32_t first = sim->nodes[node].first_port;
	struct hd_port_set kept[HD_SIM_LANES] = {{{0}}}; /* for packets that came earlier */

	for (uint32_t i = sim->nodes[node].first_together; i != HD_NONE; i = sim->copies[i].next) {
		struct sim_copies *copies = &sim->copies[i];
		struct hd_port_set *earlier = &kept[copies->lane], both = *earlier;
		bool will;
		if (copies->holds)
			continue;
		will = will_have_credits(sim, first, copies);
		if (!will && copies->tries++ < TRIES)
			continue;
		hd_port_set_intersect(&both, &copies->pending);
		copies->holds = hd_port_set_is_empty(&both) && !are_reserved(sim, first, copies);
		if (!copies->holds) {
			hd_port_set_unite(earlier, &copies->pending);
			continue;
		}
		HD_PORT_SET_FOREACH(number, &copies->pending) {
			uint32_t port = first + number;
			sim->ports[port].reserved_lanes |= (uint16_t)(1u << copies->lane);
			sim->reserved[port * sim->lanes + copies->lane] = copies->queue;
			outputs_wake(sim, port);
		}
		if (!will)
			insist(sim, first, i);
	}
}

static void ingress_release(struct hd_sim *sim, uint32_t first, struct sim_copies *copies,
			    const struct hd_port_set *held)
{
	if (copies->holds)
		HD_PORT_SET_FOREACH(number, held) {
			sim->ports[first + number].reserved_lanes &=
			    (uint16_t) ~(1u << copies->lane);
			outputs_wake(sim, first + number);
		}
	copies->holds = false;
	copies->give_up = 0;
}

/* Takes copies out of the line, and gives back the outputs that they held. */
static void part(struct hd_sim *sim, uint32_t node_index, uint32_t index,
		 const struct hd_port_set *held)
{
	struct sim_node *node = &sim->nodes[node_index];
	uint32_t before = HD_NONE;

	for (uint32_t i = node->first_together; i != index; i = sim->copies[i].next)
		before = i;
	if (before == HD_NONE)
		node->first_together = sim->copies[index].next;
	else
		sim->copies[before].next = sim->copies[index].next;
	if (node->last_together == index)
		node->last_together = before;
	ingress_release(sim, node->first_port, &sim->copies[index], held);
	copies_reserve(sim, node_index);
}

void copies_give_up(struct hd_sim *sim, uint32_t index)
{
	struct sim_copies *copies = &sim->copies[index];
	uint32_t node = sim->ports[sim->queues[copies->queue].port].node;
	uint32_t first = sim->nodes[node].first_port;

	if (will_have_credits(sim, first, copies))
		return;
	ingress_release(sim, first, copies, &copies->pending);
	copies->tries = 0;
	if (copies->patience < PATIENCE_MOST)
		copies->patience++;
	copies_reserve(sim, node);
}

static bool have_credits(struct hd_sim *sim, uint32_t first, const struct sim_copies *copies)
{
	const struct sim_packet *packet = &sim->packets[sim->queues[copies->queue].head];

	HD_PORT_SET_FOREACH(number, &copies->pending) {
		uint32_t port = first + number;
		if (outputs_credits(sim, sim_lane(sim, port, packet->lane_out)) < packet->bytes) {
			outputs_await(sim, port, packet->lane_out, packet->bytes);
			return false;
		}
	}
	return true;
}

static bool are_free(struct hd_sim *sim, uint32_t first, const struct hd_port_set *ports)
{
	HD_PORT_SET_FOREACH(number, ports)
		if (sim->ports[first + number].busy_until > sim->now) {
			outputs_watch(sim, first + number);
			return false;
		}
	return true;
}

bool copies_send_together(struct hd_sim *sim, uint32_t queue)
{
	uint32_t node = sim->ports[sim->queues[queue].port].node;
	uint32_t first = sim->nodes[node].first_port;
	uint32_t index = sim->packets[sim->queues[queue].head].copies;
	struct hd_port_set ports = sim->copies[index].pending;

	if (!have_credits(sim, first, &sim->copies[index]))
		return false;
	if (!are_free(sim, first, &ports))
		return true;
	HD_PORT_SET_FOREACH(number, &ports)
		if (!send_copy(sim, queue, first + number))
			return true;
	part(sim, node, index, &ports);
	pools_free_copies(sim, index);
	return true;
}

void copies_central(struct hd_sim *sim, uint32_t copies)
{
	sim->nodes[sim->copies[copies].node].central_bytes -= sim->copies[copies].bytes;
	pools_free_copies(sim, copies);
}

static void copies_withdraw(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *asking = &sim->queues[queue];
	const struct sim_packet *packet = &sim->packets[asking->head];
	struct sim_node *node = node_of(sim, queue);
	struct hd_port_set pending =
	    (&sim->copies[sim->packets[sim->queues[queue].head].copies])->pending;

	asking->state = SIM_QUEUE_IDLE;
	if (sim->settings.replication == HD_SIM_SYNCHRONOUS) {
		part(sim, sim->ports[asking->port].node, packet->copies, &pending);
		return;
	}
	HD_PORT_SET_FOREACH(number, &pending)
		outputs_forget(sim, node->first_port + number, packet->lane_out,
			       sim->ports[asking->port].number);
}

/* The first packet of a queue is dropped: forgets its outputs, and tells when the last copy of it
 * has left. */
static uint64_t copies_forget(struct hd_sim *sim, uint32_t packet)
{
	struct sim_packet *gone = &sim->packets[packet];
	const struct sim_copies *copies = &sim->copies[gone->copies];
	uint32_t first = sim->nodes[sim->ports[gone->at].node].first_port;
	uint64_t end = copies->out == HD_NONE ? 0 : copies->end;

	HD_PORT_SET_FOREACH(number, &copies->pending)
		sim->ports[first + number].waiting -= gone->bytes;
	pools_free_copies(sim, gone->copies);
	gone->copies = HD_NONE;
	return end;
}

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

static void ingress_ask(struct hd_sim *sim, uint32_t queue);

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
	ingress_ask(sim, queue);
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
		ingress_ask(sim, queue);
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
static void ingress_ask(struct hd_sim *sim, uint32_t queue)
{
	if (sim->packets[sim->queues[queue].head].out != HD_NONE)
		outputs_ask(sim, queue);
	else if (sim->settings.replication != HD_SIM_CENTRAL_BUFFER || !store(sim, queue)) {
		/* The first packet of the queue, a multicast packet, asks its outputs, or takes that back. */
		sim->queues[queue].state = SIM_QUEUE_ASKING;
		if (sim->settings.replication == HD_SIM_SYNCHRONOUS) {
			struct sim_node *node = node_of(sim, queue);
			uint32_t index = sim->packets[sim->queues[queue].head].copies;
			struct sim_copies *copies = &sim->copies[index];

			copies->queue = queue;
			copies->next = HD_NONE;
			copies->patience = PATIENCE_LEAST;
			copies->lane = sim->packets[sim->queues[queue].head].lane_out;
			if (node->first_together == HD_NONE)
				node->first_together = index;
			else
				sim->copies[node->last_together].next = index;
			node->last_together = index;
			copies_reserve(sim, sim->ports[sim->queues[queue].port].node);
		} else {
			const struct sim_queue *asking = &sim->queues[queue];
			const struct sim_packet *packet = &sim->packets[asking->head];
			uint32_t first = node_of(sim, queue)->first_port;

			HD_PORT_SET_FOREACH(number, &sim->copies[packet->copies].pending)
				outputs_mark(sim, first + number, packet->lane_out,
					     sim->ports[asking->port].number);
		}
	}
}

/* The first packet of a queue, which has an output, is dropped. */
static void drop_first(struct hd_sim *sim, uint32_t queue)
{
	struct sim_queue *old = &sim->queues[queue];
	uint32_t packet = old->head;
	struct sim_packet *gone = &sim->packets[packet];
	bool by_head = gone->flags & SIM_DROPPABLE && sim->settings.head_lifetime != HD_SIM_NEVER &&
		       old->since + sim->settings.head_lifetime <= sim->now;

	if (old->state == SIM_QUEUE_ASKING) {
		if (sim->packets[sim->queues[queue].head].out != HD_NONE)
			outputs_withdraw(sim, queue);
		else
			copies_withdraw(sim, queue);
	}
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
