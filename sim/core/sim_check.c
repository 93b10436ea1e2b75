/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The invariants, computed afresh from the packets. */
#include "core_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct sums {
	const struct hd_sim *sim;
	uint64_t *buffered; /* [port_count * lanes] bytes at an input, or on the cable before it */
	uint64_t *waiting; /* [port_count] bytes that wait for an output */
	uint64_t packets;
};

static int wrong(struct hd_error *err, const struct hd_sim *sim, const char *what, uint32_t index,
		 uint64_t is, uint64_t expected)
{
	return hd_error_set(err, -EFAULT,
			    "at %" PRIu64 " ps: %s %u: %" PRIu64 ", but must be %" PRIu64, sim->now,
			    what, index, is, expected);
}

static void add_packet(struct sums *sums, const struct sim_packet *packet)
{
	const struct hd_sim *sim = sums->sim;
	const struct sim_node *node = &sim->nodes[sim->ports[packet->at].node];

	sums->packets++;
	sums->buffered[packet->at * sim->lanes + packet->lane_in] += packet->bytes;
	if (packet->ready == HD_SIM_NEVER)
		return;
	if (packet->out != HD_NONE)
		sums->waiting[packet->out] += packet->bytes;
	else if (packet->copies != HD_NONE)
		HD_PORT_SET_FOREACH(number, &sim->copies[packet->copies].pending)
			sums->waiting[node->first_port + number] += packet->bytes;
}

static int check_lane(const struct sums *sums, uint32_t port, uint32_t lane, struct hd_error *err)
{
	const struct hd_sim *sim = sums->sim;
	const struct sim_lane *next = sim_lane(sim, port, lane);
	uint64_t held = sums->buffered[sim->ports[port].peer * sim->lanes + lane];
	uint64_t returning = 0, last = 0;

	if (next->credits < 0)
		return wrong(err, sim, "bytes beyond the credits of output", port,
			     (uint64_t)-next->credits, 0);
	for (uint32_t item = next->first; item != HD_NONE; item = sim->returns[item].next) {
		returning += sim->returns[item].bytes;
		if (sim->returns[item].time < last)
			return wrong(err, sim, "credits out of order at output", port,
				     sim->returns[item].time, last);
		last = sim->returns[item].time;
	}
	if (held + returning + (uint64_t)next->credits == next->capacity)
		return 0;
	return wrong(err, sim, "buffer, credits and returning credits of output", port,
		     held + returning + (uint64_t)next->credits, next->capacity);
}

static bool someone_asks(const struct hd_sim *sim, uint32_t port, uint32_t lane)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < sim->words; i++)
		any |= sim_asking(sim, port, lane)[i];
	return any != 0;
}

/* A lane of an output is reserved only for a packet that has to leave by it and holds all its outputs. */
static int check_reserved(const struct hd_sim *sim, uint32_t port, uint32_t lane,
			  struct hd_error *err)
{
	uint32_t queue = sim->reserved[port * sim->lanes + lane], index = HD_NONE;
	const struct sim_copies *copies;

	if (!(sim->ports[port].reserved_lanes >> lane & 1))
		return 0;
	if (sim->queues[queue].head != HD_NONE)
		index = sim->packets[sim->queues[queue].head].copies;
	copies = index == HD_NONE ? NULL : &sim->copies[index];
	if (!copies || !copies->holds || copies->queue != queue || copies->lane != lane ||
	    !hd_port_set_has(&copies->pending, sim->ports[port].number))
		return wrong(err, sim, "queue for which is reserved output", port, queue, HD_NONE);
	return 0;
}

static int check_port(const struct sums *sums, uint32_t port, struct hd_error *err)
{
	const struct hd_sim *sim = sums->sim;
	const struct sim_port *out = &sim->ports[port];
	int rc = 0;

	for (uint32_t lane = 0; !rc && lane < sim->lanes; lane++)
		rc = check_reserved(sim, port, lane, err);
	if (rc)
		return rc;
	if (out->waiting != sums->waiting[port])
		return wrong(err, sim, "bytes that wait for output", port, out->waiting,
			     sums->waiting[port]);
	for (uint32_t lane = 0; !rc && out->peer != HD_NONE && lane < sim->lanes; lane++) {
		bool asked = out->wanted >> lane & 1;
		rc = check_lane(sums, port, lane, err);
		if (!rc && out->kind != SIM_HOST && asked != someone_asks(sim, port, lane))
			rc = wrong(err, sim, "packets for output", port, asked, !asked);
		if (!rc && asked && out->busy_until > sim->now && !out->scheduled)
			rc = wrong(err, sim, "event at the end of a packet of busy output", port, 0,
				   1);
	}
	return rc;
}

static int check_queue(const struct hd_sim *sim, uint32_t index, struct hd_error *err)
{
	const struct sim_queue *queue = &sim->queues[index];

	for (uint32_t i = queue->head; i != HD_NONE; i = sim->packets[i].next) {
		const struct sim_packet *packet = &sim->packets[i];
		if (packet->message == HD_NONE || packet->at != queue->port ||
		    packet->lane_in != queue->lane || packet->ready == HD_SIM_NEVER)
			return wrong(err, sim, "a packet that is not its own in queue", index, i,
				     HD_NONE);
		if (packet->next == HD_NONE && queue->tail != i)
			return wrong(err, sim, "last packet of queue", index, queue->tail, i);
	}
	if (queue->head == HD_NONE && queue->state != SIM_QUEUE_IDLE)
		return wrong(err, sim, "state of the empty queue", index, queue->state,
			     SIM_QUEUE_IDLE);
	return 0;
}

static int check_totals(const struct sums *sums, struct hd_error *err)
{
	const struct hd_sim *sim = sums->sim;

	if (sums->packets != sim->in_flight)
		return wrong(err, sim, "packets in flight in run", 0, sim->in_flight,
			     sums->packets);
	if (sim->made != sim->in_flight + sim->arrived + sim->dropped)
		return wrong(err, sim, "packets made in run", 0, sim->made,
			     sim->in_flight + sim->arrived + sim->dropped);
	if (sim->dropped != sim->dropped_head + sim->dropped_switch + sim->dropped_route)
		return wrong(err, sim, "packets dropped in run", 0, sim->dropped,
			     sim->dropped_head + sim->dropped_switch + sim->dropped_route);
	return 0;
}

static int check_all(struct sums *sums, struct hd_error *err)
{
	const struct hd_sim *sim = sums->sim;
	int rc;

	for (uint32_t i = 0; i < sim->packet_count; i++)
		if (sim->packets[i].message != HD_NONE)
			add_packet(sums, &sim->packets[i]);
	rc = check_totals(sums, err);
	for (uint32_t i = 0; !rc && i < sim->port_count; i++)
		rc = check_port(sums, i, err);
	for (uint32_t i = 0; !rc && i < sim->queue_count; i++)
		rc = check_queue(sim, i, err);
	for (uint32_t i = 0; !rc && i < sim->node_count; i++)
		if (sim->nodes[i].central_bytes > sim->settings.central_buffer)
			rc = wrong(err, sim, "bytes in the central buffer of node", i,
				   sim->nodes[i].central_bytes, sim->settings.central_buffer);
	return rc;
}

int hd_sim_check(const struct hd_sim *sim, struct hd_error *err)
{
	struct hd_arena arena = {0};
	size_t buffers = (size_t)sim->port_count * sim->lanes;
	struct sums sums = {.sim = sim};
	int rc;

	sums.buffered = hd_arena_alloc(&arena, buffers, sizeof(uint64_t));
	sums.waiting = hd_arena_alloc(&arena, sim->port_count, sizeof(uint64_t));
	rc = hd_arena_check(&arena) ? hd_error_no_memory(err) : check_all(&sums, err);
	hd_arena_release(&arena);
	return rc;
}
