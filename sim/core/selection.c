/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DFP has ports of minimal paths and ports of detours. Whatever the selection, a switch takes a
 * detour only if the load of the minimal port that it would take is more than twice that of the
 * detour, and a packet.
 */
#include "sim_switches.h"

static uint64_t held_behind(struct hd_sim *sim, uint32_t port, uint8_t lane_number)
{
	struct sim_lane *lane = sim_lane(sim, port, lane_number);

	return lane->capacity - (uint64_t)outputs_credits(sim, lane);
}

/* Bytes on the way out of a port: waiting here, and in the next buffer. */
static uint64_t load_of(struct hd_sim *sim, const struct sim_packet *packet, uint32_t port)
{
	uint8_t lane = choice_lane(sim, packet, port);
	uint64_t load = sim->ports[port].waiting + held_behind(sim, port, lane);

	return sim->ports[port].inside ? load + held_behind(sim, sim_cable(sim, port), lane) : load;
}

/* Bytes of a grade of load. */
static uint64_t grade_of(const struct hd_sim *sim, const struct sim_lane *lane)
{
	return sim->settings.load_grade ? sim->settings.load_grade : lane->capacity;
}

/* The selection takes the port with the least; of equal ones the next in turn. */
static uint64_t cost_of(struct hd_sim *sim, const struct sim_packet *packet, uint32_t port)
{
	uint8_t lane = choice_lane(sim, packet, port);

	switch (sim->settings.selection) {
	case HD_SIM_LEAST_LOADED:
		return load_of(sim, packet, port);
	case HD_SIM_LEAST_USED:
		return sim->counted[port].chosen;
	case HD_SIM_LEAST_USED_LANE:
		return sim->lane_chosen[port * sim->lanes + lane];
	case HD_SIM_LOAD_GRADES:
		return load_of(sim, packet, port) / grade_of(sim, sim_lane(sim, port, lane));
	case HD_SIM_MOST_CREDITS:
		port = sim_cable(sim, port);
		return (uint64_t)INT64_MAX -
		       (uint64_t)outputs_credits(sim, sim_lane(sim, port, lane));
	case HD_SIM_ROUND_ROBIN:
	case HD_SIM_CONGA:
		break;
	}
	return 0;
}

/* The number of the best port; the set is not empty. */
static uint32_t best_of(struct hd_sim *sim, const struct sim_packet *packet, uint32_t first_exit,
			const struct hd_port_set *ports, uint32_t turn)
{
	uint32_t count = hd_port_set_count(ports), number = turn, best = HD_NONE;
	uint64_t least = UINT64_MAX;

	if (sim->settings.selection == HD_SIM_ROUND_ROBIN ||
	    sim->settings.selection == HD_SIM_CONGA)
		count = 1;
	for (uint32_t i = 0; i < count; i++) {
		number = hd_port_set_next(ports, number + 1);
		if (number == HD_NONE)
			number = hd_port_set_next(ports, 0);
		uint64_t cost = cost_of(sim, packet, first_exit + number);
		if (best == HD_NONE || cost < least) {
			least = cost;
			best = number;
		}
	}
	return best;
}

/* The number of the best of these outputs, of which there is one. The packet takes it. */
static uint32_t select_port(struct hd_sim *sim, const struct sim_packet *packet,
			    const struct choice_ports *allowed)
{
	struct sim_node *node = &sim->nodes[sim->ports[packet->at].node];
	uint32_t *turn = allowed->turn == HD_NONE ? &node->path_turn : &sim->turns[allowed->turn];
	bool detours = !hd_port_set_is_empty(&allowed->detours);
	uint32_t first = node->first_exit, number = HD_NONE, other;

	if (!hd_port_set_is_empty(&allowed->ports))
		number = best_of(sim, packet, first, &allowed->ports, *turn);
	if (detours) {
		other = best_of(sim, packet, first, &allowed->detours, turn[1]);
		if (number == HD_NONE ||
		    load_of(sim, packet, first + number) >
			2 * load_of(sim, packet, first + other) + sim->full_bytes) {
			turn[1] = other;
			return other;
		}
	}
	*turn = number;
	return number;
}

/* A Bounded entry changes its port only after a pause. */
static uint32_t keep_or_select(struct hd_sim *sim, const struct sim_packet *packet,
			       const struct choice_ports *allowed)
{
	struct sim_paused *paused = allowed->paused;
	bool fresh = paused->port && sim->now - paused->last < sim->settings.ageing_time;

	if (!fresh || (!hd_port_set_has(&allowed->ports, paused->port) &&
		       !hd_port_set_has(&allowed->detours, paused->port)))
		paused->port = (uint8_t)select_port(sim, packet, allowed);
	paused->last = sim->now;
	return paused->port;
}

/* A packet takes an output, or (count is UINT64_MAX) leaves it to take another one. */
static void count_use(struct hd_sim *sim, const struct sim_packet *packet, uint64_t count)
{
	if (sim->settings.selection == HD_SIM_LEAST_USED)
		sim->counted[packet->out].chosen += count;
	else if (sim->lane_chosen)
		sim->lane_chosen[packet->out * sim->lanes + packet->lane_out] += count;
}

bool selection_take(struct hd_sim *sim, struct sim_packet *packet)
{
	const struct sim_node *node = &sim->nodes[sim->ports[packet->at].node];
	struct choice_ports allowed;
	uint32_t number;

	if (!(packet->flags >> SIM_ROUTING_SHIFT)) {
		number = packet->dlid < node->row_length ? node->row[packet->dlid] : 0;
		if (!choice_is_cabled(sim, node, number))
			return false;
	} else {
		choice_allowed(sim, packet, &allowed);
		if (hd_port_set_is_empty(&allowed.ports) && hd_port_set_is_empty(&allowed.detours))
			return false;
		number = sim->conga ? conga_choose(sim, packet, &allowed) : 0;
		if (!number)
			number = allowed.paused ? keep_or_select(sim, packet, &allowed)
						: select_port(sim, packet, &allowed);
	}
	packet->out = node->first_exit + number;
	packet->lane_out = choice_lane(sim, packet, packet->out);
	if (packet->flags >> SIM_ROUTING_SHIFT == HD_SIM_PATH_BITS_KEPT)
		choice_keep_bits(sim, packet, number);
	count_use(sim, packet, 1);
	return true;
}

bool selection_may_change(const struct hd_sim *sim, const struct sim_packet *packet)
{
	const uint32_t routing = packet->flags >> SIM_ROUTING_SHIFT;
	const struct sim_port *in = &sim->ports[packet->at];

	return sim->settings.choice == HD_SIM_WHILE_WAITING && packet->out != HD_NONE && routing &&
	       routing != HD_SIM_PATH_BITS_KEPT && in->kind == SIM_SWITCH && !in->inside;
}

static bool has_credits(struct hd_sim *sim, const struct sim_packet *packet, uint32_t out)
{
	struct sim_lane *lane = sim_lane(sim, out, choice_lane(sim, packet, out));

	return outputs_credits(sim, lane) >= packet->bytes;
}

/* Leaves the outputs that have credits; the others wake the switch when they have. */
static void keep_able(struct hd_sim *sim, const struct sim_packet *packet,
		      struct hd_port_set *ports)
{
	uint32_t first = sim->nodes[sim->ports[packet->at].node].first_exit;

	HD_PORT_SET_FOREACH(number, ports) {
		uint32_t out = first + number;
		if (has_credits(sim, packet, out))
			continue;
		outputs_await(sim, out, choice_lane(sim, packet, out), packet->bytes);
		hd_port_set_remove(ports, number);
	}
}

static void change(struct hd_sim *sim, uint32_t queue, uint32_t out)
{
	struct sim_packet *packet = &sim->packets[sim->queues[queue].head];

	outputs_withdraw(sim, queue);
	sim->ports[packet->out].waiting -= packet->bytes;
	count_use(sim, packet, UINT64_MAX);
	packet->out = out;
	packet->lane_out = choice_lane(sim, packet, out);
	count_use(sim, packet, 1);
	packet->ready = outputs_ready_time(sim, packet, out);
	sim->ports[out].waiting += packet->bytes;
	if (packet->ready > sim->now) {
		sim->queues[queue].state = SIM_QUEUE_UNREADY;
		sim_push(sim, packet->ready, SIM_READY, queue);
	} else {
		outputs_ask(sim, queue);
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
	if (!selection_may_change(sim, packet) || has_credits(sim, packet, packet->out))
		return;
	choice_allowed(sim, packet, &allowed);
	if (allowed.paused)
		return;
	keep_able(sim, packet, &allowed.ports);
	keep_able(sim, packet, &allowed.detours);
	if (!hd_port_set_is_empty(&allowed.ports) || !hd_port_set_is_empty(&allowed.detours))
		change(sim, queue,
		       sim->nodes[sim->ports[packet->at].node].first_exit +
			   select_port(sim, packet, &allowed));
}

void selection_again(struct hd_sim *sim, uint32_t node_index)
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
