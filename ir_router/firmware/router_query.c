/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A round of a port: NodeInfo of the switch, then each block of its table in which a host of this
 * port has its LID, or only those blocks with hosts that are not confirmed. The port rests between
 * rounds. An answer must have the number of the last SMP of its port; all others are late.
 */
#include "router_query.h"

#include "router_bytes.h"
#include "router_relay.h"

#define BLOCK 64u /* LIDs in a block of a forwarding table */
#define HOSTS_AT_ONCE 1024u
#define NODE_IS_SWITCH 2u

/* The port at work. */
struct place {
	struct hd_router *router;
	uint8_t subnet;
	uint16_t index; /* of the port */
	struct hd_router_lists *lists;
	struct hd_router_port *port;
	struct hd_router_query *query;
	uint64_t now;
};

static struct place place_of(struct hd_router *router, uint8_t subnet, uint16_t index, uint64_t now)
{
	struct hd_router_lists *lists = hd_router_lists_of(router, subnet);
	struct hd_router_port *port = &lists->ports[index];

	return (struct place){router, subnet, index, lists, port, &port->query, now};
}

static struct hd_router_host *host_at(const struct place *at, uint32_t cursor)
{
	return &at->lists->hosts[at->lists->by_lid[cursor]];
}

static void ask(const struct place *at, enum hd_router_attribute attribute, uint32_t modifier)
{
	const struct hd_router_callbacks *callbacks = &at->router->callbacks;

	if (!++at->router->last_id)
		at->router->last_id = 1;
	at->query->id = at->router->last_id;
	at->query->due = at->now + at->router->settings.timeout_ms;
	at->router->counts.asked++;
	callbacks->send(callbacks->context, at->subnet, at->port, attribute, modifier,
			at->query->id);
}

static void ask_node(const struct place *at)
{
	at->query->phase = HD_ROUTER_WAIT_NODE;
	ask(at, HD_ROUTER_NODE_INFO, 0);
}

static void ask_block(const struct place *at)
{
	at->query->phase = HD_ROUTER_WAIT_BLOCK;
	ask(at, HD_ROUTER_LFT, host_at(at, at->query->cursor)->lid / BLOCK);
}

static void begin_round(const struct place *at)
{
	struct hd_router_query *query = at->query;

	query->complete = !query->trusted || !(query->unsettled || query->failed);
	query->unsettled = query->failed = false;
	query->tries = 0;
	query->cursor = 0;
	ask_node(at);
}

static void end_round(const struct place *at)
{
	const struct hd_router_settings *settings = &at->router->settings;
	struct hd_router_query *query = at->query;
	uint32_t rest = settings->refresh_ms;

	if (query->failed)
		rest = settings->retry_ms;
	if (query->unsettled)
		rest = settings->settle_ms;
	query->phase = HD_ROUTER_IDLE;
	query->id = 0;
	query->due = at->now + rest;
}

/* The switch is silent, or another one: none of the port's hosts may rely on it. */
static void distrust(const struct place *at)
{
	at->query->trusted = false;
	at->query->failed = true;
	end_round(at);
}

static bool needs_asking(const struct place *at, const struct hd_router_host *host)
{
	return host->port == at->index &&
	       (at->query->complete || host->state != HD_ROUTER_CONFIRMED);
}

/* Goes on to the next block that must be read. Returns false if there is more to look at. */
static bool scan(const struct place *at)
{
	struct hd_router_query *query = at->query;
	uint32_t end = query->cursor + HOSTS_AT_ONCE;

	for (; query->cursor < at->lists->host_count; query->cursor++) {
		if (query->cursor == end)
			return false;
		if (needs_asking(at, host_at(at, query->cursor))) {
			query->tries = 0;
			ask_block(at);
			return true;
		}
	}
	query->trusted = true;
	end_round(at);
	return true;
}

/* What an entry that was read means for a host. */
static void judge(const struct place *at, struct hd_router_host *host, uint8_t entry)
{
	bool leads_down = at->port->down[entry / 8] >> entry % 8 & 1;
	bool same = host->entry == entry;

	host->entry = entry;
	if (!leads_down) {
		host->state = HD_ROUTER_NOT_DOWN;
		at->query->failed = true;
	} else if (same && (host->state == HD_ROUTER_CONFIRMED || host->state == HD_ROUTER_SEEN)) {
		host->state = HD_ROUTER_CONFIRMED;
	} else {
		host->state = HD_ROUTER_SEEN;
		at->query->unsettled = true;
	}
}

/* Ends the block at the cursor: with its entries, or NULL if the switch did not give them. */
static void end_block(const struct place *at, const uint8_t *entries)
{
	struct hd_router_query *query = at->query;
	uint32_t block = host_at(at, query->cursor)->lid / BLOCK;

	for (; query->cursor < at->lists->host_count; query->cursor++) {
		struct hd_router_host *host = host_at(at, query->cursor);

		if (host->lid / BLOCK != block)
			break;
		if (host->port != at->index)
			continue;
		if (entries) {
			judge(at, host, entries[host->lid % BLOCK]);
		} else {
			host->state = HD_ROUTER_NO_ANSWER;
			query->failed = true;
		}
	}
	query->phase = HD_ROUTER_SCAN;
	query->id = 0;
}

/* The SMP on its way has no answer, and will get none. */
static void give_up(const struct place *at)
{
	at->router->counts.unanswered++;
	if (at->query->phase == HD_ROUTER_WAIT_NODE)
		distrust(at);
	else
		end_block(at, NULL);
}

static void end_waiting(const struct place *at)
{
	if (at->query->tries++ >= at->router->settings.retries)
		give_up(at);
	else if (at->query->phase == HD_ROUTER_WAIT_NODE)
		ask_node(at);
	else
		ask_block(at);
}

static void take_answer(const struct place *at, const struct hd_router_answer *answer)
{
	if (answer->failed) {
		give_up(at);
		return;
	}
	at->router->counts.answered++;
	if (at->query->phase == HD_ROUTER_WAIT_BLOCK) {
		end_block(at, answer->data);
		return;
	}
	if (answer->data[2] != NODE_IS_SWITCH ||
	    router_bytes_get64(answer->data + 12) != at->port->switch_guid) {
		distrust(at);
		return;
	}
	at->query->phase = HD_ROUTER_SCAN;
	at->query->id = 0;
}

static void route_answer(struct hd_router *router, const struct hd_router_answer *answer,
			 uint64_t now)
{
	for (uint16_t s = 0; s < router->subnet_count; s++) {
		const struct hd_router_lists *lists = hd_router_lists_of(router, (uint8_t)s);

		for (uint32_t p = 0; p < lists->port_count; p++) {
			struct place at = place_of(router, (uint8_t)s, (uint16_t)p, now);

			if (at.query->id == answer->id) {
				take_answer(&at, answer);
				return;
			}
		}
	}
	router->counts.late++;
}

/* Does what is due at a port. Returns when it wants to be called again. */
static uint64_t step(const struct place *at)
{
	struct hd_router_query *query = at->query;

	if (!at->port->switch_guid || !at->port->usable)
		return HD_ROUTER_NEVER;
	if (query->phase != HD_ROUTER_SCAN && query->due <= at->now) {
		if (query->phase == HD_ROUTER_IDLE)
			begin_round(at);
		else
			end_waiting(at);
	}
	if (query->phase == HD_ROUTER_SCAN && !scan(at))
		return at->now;
	return query->due;
}

uint64_t hd_router_work(struct hd_router *router)
{
	const struct hd_router_callbacks *callbacks = &router->callbacks;
	uint64_t now = callbacks->now(callbacks->context), next = HD_ROUTER_NEVER;
	uint32_t answers = (uint32_t)router->limits.ports * router->subnet_count;
	struct hd_router_answer answer;

	while (answers && callbacks->receive(callbacks->context, &answer)) {
		route_answer(router, &answer, now);
		answers--;
	}
	if (!answers)
		next = now;
	for (uint16_t s = 0; s < router->subnet_count; s++) {
		uint32_t ports = hd_router_lists_of(router, (uint8_t)s)->port_count;

		if (!router->subnets[s].ready)
			continue;
		for (uint32_t p = 0; p < ports; p++) {
			struct place at = place_of(router, (uint8_t)s, (uint16_t)p, now);
			uint64_t due = step(&at);

			next = due < next ? due : next;
		}
	}
	return next;
}

void hd_router_ask_again(struct hd_router *router, uint8_t subnet)
{
	struct hd_router_lists *lists = hd_router_lists_of(router, subnet);

	for (uint32_t p = 0; p < lists->port_count; p++)
		if (lists->ports[p].query.phase == HD_ROUTER_IDLE)
			lists->ports[p].query.due = 0;
}

void hd_router_count_states(const struct hd_router *router, uint8_t subnet, uint32_t counts[5])
{
	const struct hd_router_lists *lists = hd_router_lists_of(router, subnet);

	for (uint32_t i = 0; i < 5; i++)
		counts[i] = 0;
	for (uint32_t i = 0; i < lists->host_count; i++) {
		const struct hd_router_host *host = &lists->hosts[i];

		if (host->state == HD_ROUTER_CONFIRMED &&
		    hd_router_confirmed_port(router, subnet, host) == HD_ROUTER_NO_PORT)
			counts[HD_ROUTER_NO_ANSWER]++;
		else
			counts[host->state]++;
	}
}
