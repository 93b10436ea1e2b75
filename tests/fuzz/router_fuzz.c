/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as messages to a router and to a subnet manager. The input is a row of messages: the
 * type, two bytes of length, the body. The target adds what a sender needs to be heard at all: the
 * header with its checksum, nonce and sequence number. What is accepted goes into a router, which
 * then works and relays a packet, or into a subnet manager's handshake: the second bit of the input
 * chooses. If the first bit is set, the input is one message as it stands.
 */
#include "fuzzing.h"

#include <heddle/ir_router/handshake.h>
#include <router_codec.h>
#include <router_session.h>

#define PREFIX 0xFEC0000000000001u

static _Alignas(8) uint8_t memory[1u << 17];
static uint8_t bytes[HD_ROUTER_MESSAGE_MAX], again[HD_ROUTER_MESSAGE_MAX];
static uint64_t now;
static uint32_t last_id;

static bool take_smp(void *context, uint8_t subnet, const struct hd_router_port *port,
		     enum hd_router_attribute attribute, uint32_t modifier, uint32_t id)
{
	(void)context, (void)subnet, (void)port, (void)attribute, (void)modifier;
	last_id = id;
	return true;
}

/* Answers every SMP, as a switch with the GUID 0 and a table of ports 2. */
static bool answer_smp(void *context, struct hd_router_answer *answer)
{
	(void)context;
	if (!last_id)
		return false;
	memset(answer, 0, sizeof(*answer));
	memset(answer->data, 2, 12);
	answer->id = last_id;
	last_id = 0;
	return true;
}

static uint64_t tell_time(void *context)
{
	(void)context;
	return now;
}

/* Encodes what was decoded: the same bytes. */
static void demand_round_trip(const struct hd_router_message *message, uint32_t length)
{
	struct hd_router_writer writer;

	hd_router_write_begin(&writer, again, sizeof(again), message);
	for (uint32_t i = 0; i < message->count; i++) {
		struct hd_router_port_entry port;
		struct hd_router_host_entry host;
		struct hd_router_map_entry mapped;
		struct hd_router_prefix_entry prefix;

		if (message->type == HD_ROUTER_PORTS) {
			hd_router_port_at(message, i, &port);
			hd_router_write_port(&writer, &port);
		} else if (message->type == HD_ROUTER_MAP) {
			hd_router_map_at(message, i, &mapped);
			hd_router_write_map(&writer, &mapped);
		} else if (message->type == HD_ROUTER_PREFIXES) {
			hd_router_prefix_at(message, i, &prefix);
			hd_router_write_prefix(&writer, &prefix);
		} else {
			hd_router_host_at(message, i, &host);
			hd_router_write_host(&writer, &host);
		}
	}
	demand(hd_router_write_end(&writer) == length);
	demand(!memcmp(bytes, again, length));
}

/* A message in `bytes` with a header that fits. */
static uint32_t make(const struct hd_router_session *to, uint8_t type, const uint8_t *body,
		     uint32_t size, uint64_t epoch)
{
	memset(bytes, 0, HD_ROUTER_HEADER);
	router_bytes_put32(bytes, HD_ROUTER_MAGIC);
	router_bytes_put16(bytes + 4, HD_ROUTER_VERSION_NUMBER);
	bytes[7] = type;
	router_bytes_put32(bytes + 8, HD_ROUTER_HEADER + size);
	router_bytes_put64(bytes + 16,
			   to->greeted || to->role != HD_ROUTER_ROLE_SM ? to->nonce : 0);
	router_bytes_put64(bytes + 24, to->received + 1);
	router_bytes_put64(bytes + 32, epoch);
	memcpy(bytes + HD_ROUTER_HEADER, body, size);
	router_bytes_put32(bytes + 12, router_bytes_checksum(0, bytes, HD_ROUTER_HEADER + size));
	return HD_ROUTER_HEADER + size;
}

static void relay_something(struct hd_router *router, const uint8_t *data, size_t size)
{
	uint8_t packet[HD_ROUTER_PACKET] = {0};
	struct hd_router_egress egress;

	memcpy(packet, data, size < sizeof(packet) ? size : sizeof(packet));
	packet[1] |= 3;
	packet[8] = 0x60;
	if (!hd_router_relay(router, 1, packet, &egress))
		demand(egress.subnet == 0 &&
		       egress.port < hd_router_lists_of(router, 0)->port_count);
}

static void take(struct hd_router *router, struct hd_router_session *session, uint32_t length)
{
	struct hd_router_message message;
	uint32_t first = 0;

	if (hd_router_session_receive(session, bytes, length, &message))
		return;
	demand_round_trip(&message, length);
	if (session->role != HD_ROUTER_ROLE_ROUTER)
		return;
	hd_router_update(router, 0, &message);
	while (hd_router_write_foreign(router, 0, &first, &message, again, 512))
		;
	memset(&message, 0, sizeof(message));
	hd_router_write_prefixes(router, 0, 0, &message, again, 512);
}

static void check_sent(void *context, void *connection, const uint8_t *sent, uint32_t length)
{
	struct hd_router_message message;

	(void)context;
	(void)connection;
	demand(!hd_router_decode(sent, length, &message));
}

static void ignore_end(void *context, void *connection)
{
	(void)context;
	(void)connection;
}

/* The same messages to a handshake with another router, to which it passes on what it gets. */
static void run_handshake(const uint8_t *data, size_t size)
{
	const struct hd_handshake_port port = {.router_guid = 7, .guid = 0x99, .lid = 44};
	const struct hd_handshake_lists lists = {.ports = &port, .port_count = 1};
	const struct hd_handshake_hooks hooks = {.send = check_sent, .give_up = ignore_end};
	struct hd_router_session ends[2];
	struct hd_handshake_session *sessions[2];
	struct hd_handshake *handshake;
	uint8_t hello[32] = {[0] = HD_ROUTER_ROLE_ROUTER, [15] = 1, [31] = 7};
	int rc = 0;

	demand(!hd_handshake_new(PREFIX, 0, &hooks, &handshake, NULL));
	demand(!hd_handshake_publish(handshake, &lists, NULL));
	for (uint32_t i = 0; i < 2; i++) {
		hd_router_session_begin(&ends[i], HD_ROUTER_ROLE_SM, 6 + i, PREFIX, 0);
		demand(!hd_handshake_open(handshake, NULL, 6 + i, &sessions[i], NULL));
		demand(!hd_handshake_receive(
		    sessions[i], bytes, make(&ends[i], HD_ROUTER_HELLO, hello, sizeof(hello), 0)));
		ends[i].greeted = true;
		ends[i].received = 1;
	}
	while (size > 3 && !rc) {
		uint32_t length = (uint32_t)(data[1] << 8 | data[2]), total;

		length = length < size - 3 ? length : (uint32_t)size - 3;
		total = make(&ends[0], data[0] & 15, data + 3, length, data[0] >> 4);
		rc = hd_handshake_receive(sessions[0], bytes, total / 2);
		if (!rc)
			rc =
			    hd_handshake_receive(sessions[0], bytes + total / 2, total - total / 2);
		ends[0].received++;
		data += 3 + length;
		size -= 3 + length;
	}
	hd_handshake_free(handshake);
}

static void run_messages(const uint8_t *data, size_t size)
{
	const struct hd_router_limits limits = {
	    .subnets = 2, .ports = 4, .hosts = 96, .mapped = 64, .prefixes = 16};
	const struct hd_router_settings settings = HD_ROUTER_SETTINGS_DEFAULT;
	const struct hd_router_callbacks callbacks = {take_smp, answer_smp, tell_time, NULL};
	struct hd_router *router =
	    hd_router_init(memory, sizeof(memory), &limits, &settings, &callbacks);
	struct hd_router_session ends[2];
	uint8_t subnet;

	demand(router && !hd_router_attach(router, PREFIX, &subnet) &&
	       !hd_router_attach(router, PREFIX + 1, &subnet));
	hd_router_session_begin(&ends[0], HD_ROUTER_ROLE_ROUTER, 5, 0, 7);
	hd_router_session_begin(&ends[1], HD_ROUTER_ROLE_SM, 6, PREFIX, 0);
	ends[0].greeted = ends[1].greeted = true;
	ends[0].prefix = PREFIX;
	last_id = 0;
	while (size > 3) {
		uint32_t length = (uint32_t)(data[1] << 8 | data[2]);

		length = length < size - 3 ? length : (uint32_t)size - 3;
		for (uint32_t end = 0; end < 2; end++)
			take(router, &ends[end],
			     make(&ends[end], data[0] & 15, data + 3, length, data[0] >> 4));
		now += 100;
		hd_router_work(router);
		relay_something(router, data, size);
		data += 3 + length;
		size -= 3 + length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hd_router_message message;

	if (!size || size > sizeof(bytes))
		return 0;
	if (data[0] & 1) {
		memcpy(bytes, data + 1, size - 1);
		if (!hd_router_decode(bytes, (uint32_t)size - 1, &message))
			demand_round_trip(&message, (uint32_t)size - 1);
	} else if (data[0] & 2) {
		run_handshake(data + 1, size - 1);
	} else {
		run_messages(data + 1, size - 1);
	}
	return 0;
}
