/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two conversations of a router: with subnet managers, and with the switches below it.
 *
 * hd_router_session_receive() checks each message of a subnet manager: HELLO first, each sequence number once, each
 * type from the right side, about prefixes that the sender may speak for. Only then hd_router_update() sees it. A
 * message that is refused ends the connection if its reason is fatal.
 *
 * hd_router_work() asks the switches (ISFR) which port leads to which host. It is called again and again, and sends at
 * most as many queries as the caller allows. A round goes through all blocks of the tables; blocks whose answers
 * contradict the lists are asked again sooner, and hosts that no answer confirms are not used.
 */
#include "router_session.h"
#include "router_codec.h"

#include <string.h>

/*
 * A round of a port: NodeInfo of the switch, then each block of its table in which a host of this
 * port has its LID, or only those blocks with hosts that are not confirmed. The port rests between
 * rounds. An answer must have the number of the last SMP of its port; all others are late.
 */

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

static void session_ask(const struct place *at, enum hd_router_attribute attribute,
			uint32_t modifier)
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
	session_ask(at, HD_ROUTER_NODE_INFO, 0);
}

static void ask_block(const struct place *at)
{
	at->query->phase = HD_ROUTER_WAIT_BLOCK;
	session_ask(at, HD_ROUTER_LFT, host_at(at, at->query->cursor)->lid / BLOCK);
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
			/* What an entry that was read means for a host. */
			uint8_t entry = entries[host->lid % BLOCK];
			bool leads_down = at->port->down[entry / 8] >> entry % 8 & 1;
			bool same = host->entry == entry;
			host->entry = entry;
			if (!leads_down) {
				host->state = HD_ROUTER_NOT_DOWN;
				at->query->failed = true;
			} else if (same && (host->state == HD_ROUTER_CONFIRMED ||
					    host->state == HD_ROUTER_SEEN)) {
				host->state = HD_ROUTER_CONFIRMED;
			} else {
				host->state = HD_ROUTER_SEEN;
				at->query->unsettled = true;
			}
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
		else {
			if (at->query->tries++ >= at->router->settings.retries)
				give_up(at);
			else if (at->query->phase == HD_ROUTER_WAIT_NODE)
				ask_node(at);
			else
				ask_block(at);
		}
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

/* Who may send a type: bits by role. */
static const uint8_t senders[HD_ROUTER_TYPES] = {
    [HD_ROUTER_HELLO] = 3,   [HD_ROUTER_PORTS] = 1,    [HD_ROUTER_HOSTS] = 1,
    [HD_ROUTER_MAP] = 1,     [HD_ROUTER_READY] = 1,    [HD_ROUTER_ACCEPTED] = 2,
    [HD_ROUTER_FOREIGN] = 3, [HD_ROUTER_PREFIXES] = 3, [HD_ROUTER_REFUSED] = 3,
    [HD_ROUTER_ALIVE] = 3,
};

void hd_router_session_begin(struct hd_router_session *session, enum hd_router_role role,
			     uint64_t nonce, uint64_t prefix, uint64_t node_guid)
{
	memset(session, 0, sizeof(*session));
	session->role = role;
	session->nonce = nonce;
	session->prefix = prefix;
	session->node_guid = node_guid;
}

static enum hd_router_role peer_role(const struct hd_router_session *session)
{
	return session->role == HD_ROUTER_ROLE_SM ? HD_ROUTER_ROLE_ROUTER : HD_ROUTER_ROLE_SM;
}

/* Whether the message is the next one of this session. */
static enum hd_router_reason check_place(const struct hd_router_session *session,
					 const struct hd_router_message *message)
{
	/* only the SM gets a HELLO without a nonce: it has not greeted yet */
	bool first = message->type == HD_ROUTER_HELLO && session->role == HD_ROUTER_ROLE_SM;

	if (!session->greeted && message->type != HD_ROUTER_HELLO)
		return HD_ROUTER_NOT_GREETED;
	if (message->session != (first ? 0 : session->nonce))
		return HD_ROUTER_OTHER_SESSION;
	if (message->sequence <= session->received)
		return HD_ROUTER_REPLAYED;
	if (message->sequence != session->received + 1)
		return HD_ROUTER_GAP;
	return HD_ROUTER_OK;
}

/* Whether the other side may say this now. */
static enum hd_router_reason check_role(const struct hd_router_session *session,
					const struct hd_router_message *message)
{
	if (!(senders[message->type] & peer_role(session)) ||
	    (message->type == HD_ROUTER_HELLO && session->greeted))
		return HD_ROUTER_WRONG_ROLE;
	return HD_ROUTER_OK;
}

static enum hd_router_reason check_hello(const struct hd_router_session *session,
					 const struct hd_router_message *message)
{
	if (message->role != peer_role(session))
		return HD_ROUTER_WRONG_ROLE;
	if (!message->nonce)
		return HD_ROUTER_BAD_VALUE;
	if (session->role == HD_ROUTER_ROLE_SM) {
		/* a router may expect a certain subnet */
		if (message->prefix && message->prefix != session->prefix)
			return HD_ROUTER_WRONG_PREFIX;
		return message->node_guid ? HD_ROUTER_OK : HD_ROUTER_BAD_VALUE;
	}
	if (!hd_router_prefix_is_global(message->prefix))
		return HD_ROUTER_BAD_VALUE;
	if (session->prefix && message->prefix != session->prefix)
		return HD_ROUTER_WRONG_PREFIX;
	return HD_ROUTER_OK;
}

/* Epochs of one subnet manager ascend; PORTS begins each. */
static enum hd_router_reason check_epoch(const struct hd_router_session *session,
					 const struct hd_router_message *message)
{
	switch (message->type) {
	case HD_ROUTER_PORTS:
		if (session->has_epoch && message->epoch <= session->epoch)
			return HD_ROUTER_OLD_EPOCH;
		return HD_ROUTER_OK;
	case HD_ROUTER_HOSTS:
	case HD_ROUTER_MAP:
	case HD_ROUTER_READY:
	case HD_ROUTER_ACCEPTED:
		if (!session->has_epoch || message->epoch > session->epoch)
			return HD_ROUTER_WRONG_EPOCH;
		return message->epoch < session->epoch ? HD_ROUTER_OLD_EPOCH : HD_ROUTER_OK;
	default:
		return HD_ROUTER_OK;
	}
}

enum hd_router_reason hd_router_session_receive(struct hd_router_session *session,
						const uint8_t *bytes, uint32_t length,
						struct hd_router_message *message)
{
	struct hd_router_message read;
	enum hd_router_reason reason = hd_router_decode(bytes, length, &read);

	if (!reason)
		reason = check_place(session, &read);
	if (reason)
		return reason;
	session->received = read.sequence;
	reason = check_role(session, &read);
	if (!reason && read.type == HD_ROUTER_HELLO)
		reason = check_hello(session, &read);
	if (!reason)
		reason = check_epoch(session, &read);
	if (!reason)
		reason = router_check_content(session->prefix, &read);
	if (reason)
		return reason;
	if (read.type == HD_ROUTER_HELLO) {
		session->greeted = true;
		session->peer_nonce = read.nonce;
		if (session->role == HD_ROUTER_ROLE_SM)
			session->node_guid = read.node_guid;
		else
			session->prefix = read.prefix;
	}
	if (read.type == HD_ROUTER_PORTS) {
		session->epoch = read.epoch;
		session->has_epoch = true;
	}
	*message = read;
	return HD_ROUTER_OK;
}

void hd_router_session_stamp(struct hd_router_session *session, struct hd_router_message *message)
{
	message->session = session->peer_nonce;
	message->sequence = ++session->sent;
	if (message->type == HD_ROUTER_HELLO) {
		message->role = session->role;
		message->nonce = session->nonce;
		message->prefix = session->prefix;
		message->node_guid = session->node_guid;
		if (session->role == HD_ROUTER_ROLE_SM)
			message->node_guid = 0;
	}
	if (message->type == HD_ROUTER_PORTS) {
		session->epoch = message->epoch;
		session->has_epoch = true;
	}
}

uint32_t hd_router_session_refuse(struct hd_router_session *session, uint64_t sequence,
				  uint16_t type, enum hd_router_reason reason, uint8_t *bytes,
				  uint32_t size)
{
	struct hd_router_message message = {.type = HD_ROUTER_REFUSED,
					    .refused_sequence = sequence,
					    .refused_type = type,
					    .reason = reason};
	struct hd_router_writer writer;

	hd_router_session_stamp(session, &message);
	hd_router_write_begin(&writer, bytes, size, &message);
	return hd_router_write_end(&writer);
}

bool hd_router_reason_is_fatal(enum hd_router_reason reason)
{
	if (reason == HD_ROUTER_OTHER_SESSION || reason == HD_ROUTER_REPLAYED)
		return false;
	return reason != HD_ROUTER_OK && reason < HD_ROUTER_WRONG_ROLE;
}
