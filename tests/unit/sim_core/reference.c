/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

#define LANES 16u
#define NOWHERE HD_NONE

struct packet {
	uint32_t message, bytes;
	uint32_t at; /* input port; NOWHERE: gone */
	uint32_t out; /* output that it takes there */
	uint64_t comes; /* it is at `at` from then on */
	uint64_t whole; /* its last byte may leave then, at the earliest */
	uint64_t ready; /* it may leave then */
	uint64_t order; /* in its queue */
	bool leaving; /* it is still the first of its queue, until `left` */
	uint64_t left;
};

/* Bytes in the buffer at the other end of a cable. Until `until` they are no credits. */
struct held {
	uint32_t port, lane, bytes, packet;
	uint64_t until;
};

/* What sends: the cable of a port. */
struct sender {
	uint64_t busy;
	uint8_t last_lane;
	uint8_t turn[LANES];
};

struct reference {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_sim_settings *settings;
	struct reference_message *messages;
	uint32_t count;
	struct packet *packets;
	uint32_t packet_count;
	struct held *held;
	uint32_t held_count;
	struct sender *cables; /* [port] */
	uint32_t *sent, *arrived; /* [message] packets */
	uint64_t now, hops, order;
};

static uint64_t rate(const struct reference *r, uint32_t port)
{
	double known = hd_port_rate(r->fabric, port);

	if (r->settings->forced_rate)
		return r->settings->forced_rate;
	return known > 0 ? (uint64_t)(known * 1e9 + 0.5) : r->settings->bit_rate;
}

static uint64_t time_of(const struct reference *r, uint32_t port, uint32_t bytes)
{
	return (bytes * UINT64_C(8000000000000) + rate(r, port) / 2) / rate(r, port);
}

static bool is_host(const struct reference *r, uint32_t port)
{
	return !hd_is_switch(r->fabric, r->fabric->port_node[port]);
}

static uint32_t packets_of(const struct reference *r, uint32_t message)
{
	return (r->messages[message].bytes + r->settings->mtu - 1) / r->settings->mtu;
}

static int64_t credits(const struct reference *r, uint32_t port, uint32_t lane)
{
	int64_t left =
	    is_host(r, r->fabric->peer[port]) ? r->settings->host_buffer : r->settings->buffer;

	for (uint32_t i = 0; i < r->held_count; i++)
		if (r->held[i].port == port && r->held[i].lane == lane && r->held[i].until > r->now)
			left -= r->held[i].bytes;
	return left;
}

/* Whether a packet is the first of its queue, and may leave now. */
static bool is_first(const struct reference *r, const struct packet *packet)
{
	uint8_t lane = r->messages[packet->message].lane;

	if (packet->leaving || packet->comes > r->now || packet->ready > r->now)
		return false;
	for (uint32_t i = 0; i < r->packet_count; i++) {
		const struct packet *other = &r->packets[i];
		if (other->comes > r->now || r->messages[other->message].lane != lane)
			continue;
		if (r->settings->queueing == HD_SIM_VOQ && other->out != packet->out)
			continue;
		if (other->at == packet->at && other->order < packet->order &&
		    (!other->leaving || other->left > r->now))
			return false;
	}
	return true;
}

/* ---- what comes ---- */

/* A packet leaves an input. */
static void release(struct reference *r, uint32_t packet, uint32_t at, uint64_t when)
{
	for (uint32_t i = 0; i < r->held_count; i++) {
		struct held *held = &r->held[i];
		if (held->packet == packet && r->fabric->peer[held->port] == at &&
		    held->until == HD_SIM_NEVER)
			held->until = when + r->settings->link_latency;
	}
}

static void come_to_host(struct reference *r, uint32_t index)
{
	struct packet *packet = &r->packets[index];

	release(r, index, packet->at, r->now);
	packet->at = NOWHERE;
	if (++r->arrived[packet->message] == packets_of(r, packet->message))
		r->messages[packet->message].done = r->now;
}

static void come(struct reference *r, uint32_t index)
{
	struct packet *packet = &r->packets[index];
	const struct reference_message *message = &r->messages[packet->message];
	const struct hd_fabric *fabric = r->fabric;
	uint32_t sw = fabric->port_node[packet->at];
	uint32_t lid = fabric->lid[fabric->host_port[message->destination]];
	uint64_t time;

	packet->out = hd_port_index(fabric, sw, hd_routes_port(r->routes, sw, lid));
	packet->order = r->order++;
	packet->ready = r->now;
	/* the last byte goes on no sooner than a switch latency after it has come */
	time = time_of(r, fabric->peer[packet->at], packet->bytes);
	packet->whole = r->now + (r->settings->store_and_forward ? 0 : time);
	if (rate(r, packet->out) <= rate(r, packet->at))
		return;
	time = time_of(r, packet->out, packet->bytes);
	if (packet->whole > time && packet->whole - time > packet->ready)
		packet->ready = packet->whole - time;
}

/* ---- what leaves ---- */

static void depart(struct reference *r, uint32_t port, uint32_t index)
{
	struct packet *packet = &r->packets[index];
	const struct hd_sim_settings *settings = r->settings;
	uint64_t time = time_of(r, port, packet->bytes);
	uint32_t to = r->fabric->peer[port];

	r->cables[port].busy = r->now + time;
	r->hops++;
	r->held[r->held_count++] = (struct held){port, r->messages[packet->message].lane,
						 packet->bytes, index, HD_SIM_NEVER};
	packet->at = to;
	packet->comes = r->now + settings->link_latency;
	packet->out = NOWHERE;
	packet->leaving = false;
	packet->order = UINT64_MAX;
	if (is_host(r, to) || settings->store_and_forward)
		packet->comes += time;
	if (!is_host(r, to))
		packet->comes += settings->switch_latency;
	packet->ready = HD_SIM_NEVER;
}

/* The place that a packet leaves is taken until its last byte has left. */
static void leave(struct reference *r, uint32_t index, uint64_t end)
{
	const struct packet *packet = &r->packets[index];
	uint32_t ghost = r->packet_count++;

	r->packets[ghost] = *packet;
	r->packets[ghost].leaving = true;
	r->packets[ghost].left = end;
	release(r, index, packet->at, end);
}

static bool host_send(struct reference *r, uint32_t port, uint32_t lane)
{
	for (uint32_t m = 0; m < r->count; m++) {
		struct reference_message *message = &r->messages[m];
		uint32_t left, bytes;
		if (message->created > r->now || message->lane != lane ||
		    r->fabric->host_port[message->source] != port || r->sent[m] == packets_of(r, m))
			continue;
		left = message->bytes - r->sent[m] * r->settings->mtu;
		bytes = (left < r->settings->mtu ? left : r->settings->mtu) + r->settings->header;
		if (credits(r, port, lane) < bytes)
			return false;
		if (!r->sent[m]++)
			message->injected = r->now;
		r->packets[r->packet_count] = (struct packet){.message = m, .bytes = bytes};
		depart(r, port, r->packet_count++);
		return true;
	}
	return false;
}

/* The packet that is first in a queue at `at`, and wants to go to the port; NOWHERE: none is. */
static uint32_t find_first(const struct reference *r, uint32_t at, uint32_t port, uint32_t lane)
{
	for (uint32_t p = 0; p < r->packet_count; p++) {
		const struct packet *packet = &r->packets[p];
		if (packet->at == at && packet->out == port &&
		    r->messages[packet->message].lane == lane && is_first(r, packet))
			return p;
	}
	return NOWHERE;
}

/* From the inputs to the cable. */
static bool send_from_inputs(struct reference *r, uint32_t port, uint32_t lane)
{
	uint32_t node = r->fabric->port_node[port], ports = hd_node_ports(r->fabric, node) + 1;
	struct sender *sender = &r->cables[port];

	for (uint32_t i = 1; i <= ports; i++) {
		uint32_t input = (sender->turn[lane] + i) % ports;
		uint32_t p = find_first(r, hd_port_index(r->fabric, node, input), port, lane);
		if (p == NOWHERE)
			continue;
		if (credits(r, port, lane) < r->packets[p].bytes)
			return false;
		sender->turn[lane] = (uint8_t)input;
		leave(r, p, r->now + time_of(r, port, r->packets[p].bytes));
		depart(r, port, p);
		return true;
	}
	return false;
}

/* Lane 15 comes first, the others take turns. */
static void choose(struct reference *r, uint32_t port)
{
	bool (*send)(struct reference *, uint32_t, uint32_t) =
	    is_host(r, port) ? host_send : send_from_inputs;
	struct sender *cable = &r->cables[port];
	uint32_t lanes = r->settings->lanes, last = cable->last_lane;

	if (r->fabric->peer[port] == HD_NONE || cable->busy > r->now)
		return;
	if (send(r, port, LANES - 1)) {
		cable->last_lane = (uint8_t)lanes;
		return;
	}
	for (uint32_t i = 1; i <= lanes + 1; i++) {
		uint32_t lane = (last + i) % (lanes + 1);
		if (lane < lanes && send(r, port, lane)) {
			cable->last_lane = (uint8_t)lane;
			return;
		}
	}
}

/* ---- time ---- */

static void earlier(const struct reference *r, uint64_t time, uint64_t *next)
{
	if (time > r->now && time < *next)
		*next = time;
}

static uint64_t next_time(const struct reference *r)
{
	uint64_t next = HD_SIM_NEVER;

	for (uint32_t i = 0; i < r->count; i++)
		earlier(r, r->messages[i].created, &next);
	for (uint32_t i = 0; i < r->packet_count; i++) {
		earlier(r, r->packets[i].comes, &next);
		earlier(r, r->packets[i].ready, &next);
	}
	for (uint32_t i = 0; i < r->held_count; i++)
		earlier(r, r->held[i].until, &next);
	for (uint32_t port = 0; port < r->fabric->port_count; port++)
		earlier(r, r->cables[port].busy, &next);
	return next;
}

/* Forgets what is over, so that the lists stay short. */
static void sweep(struct reference *r)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < r->held_count; i++)
		if (r->held[i].until > r->now)
			r->held[left++] = r->held[i];
	r->held_count = left;
	for (uint32_t i = 0; i < r->packet_count; i++)
		if (r->packets[i].leaving && r->packets[i].left <= r->now)
			r->packets[i].at = NOWHERE;
}

static bool come_now(struct reference *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->packet_count; i++) {
		struct packet *packet = &r->packets[i];
		if (packet->at == NOWHERE || packet->leaving || packet->comes != r->now ||
		    packet->out != NOWHERE)
			continue;
		if (is_host(r, packet->at))
			come_to_host(r, i);
		else
			come(r, i);
		any = true;
	}
	return any;
}

static void run(struct reference *r)
{
	r->now = 0;
	do {
		come_now(r);
		do
			for (uint32_t port = 0; port < r->fabric->port_count; port++)
				choose(r, port);
		while (come_now(r));
		sweep(r);
		r->now = next_time(r);
	} while (r->now != HD_SIM_NEVER);
}

uint64_t reference_run(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       const struct hd_sim_settings *settings, struct reference_message *messages,
		       uint32_t count)
{
	struct reference r = {.fabric = fabric,
			      .routes = routes,
			      .settings = settings,
			      .messages = messages,
			      .count = count};
	size_t packets = 0;

	for (uint32_t i = 0; i < count; i++) {
		packets += packets_of(&r, i);
		messages[i].done = messages[i].injected = HD_SIM_NEVER;
	}
	packets *= 2 + 2 * fabric->switch_count; /* with the places that they leave */
	r.packets = calloc(packets, sizeof(*r.packets));
	r.held = calloc(packets, sizeof(*r.held));
	r.cables = calloc(fabric->port_count, sizeof(*r.cables));
	r.sent = calloc(count, sizeof(*r.sent));
	r.arrived = calloc(count, sizeof(*r.arrived));
	run(&r);
	free(r.packets);
	free(r.held);
	free(r.cables);
	free(r.sent);
	free(r.arrived);
	return r.hops;
}
