/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One router of the firmware inside a program: the simulator's routers, and what tests compare.
 *
 * relay_firmware.c makes one for each router of an interconnect, attaches its subnets with their lists as READY
 * messages, lets it query the switches until all have answered, exchanges advertisements, and then asks
 * firmware_router_relay() for each packet. Time stands still after that, so nothing expires.
 */
#include "firmware_router.h"

#include "router_codec.h"
#include "router_session.h"

#include <errno.h>
#include <heddle/base/index.h>
#include <stdlib.h>
#include <string.h>

#define EPOCH 1u
#define NODE_IS_SWITCH 2u
#define HOP_LIMIT 64u
#define SETTLED_MS 4000u /* both readings are over, and what failed is not asked again yet */

struct firmware_router {
	struct hd_router *router;
	void *memory; /* of the firmware */
	struct firmware_switches switches;
	struct hd_router_answer *answers; /* a ring: [room], `count` from `first` on */
	uint32_t room, first, count;
	uint64_t now_ms;
	uint8_t *bytes; /* of a message */
};

static bool send_query(void *context, uint8_t subnet, const struct hd_router_port *port,
		       enum hd_router_attribute attribute, uint32_t modifier, uint32_t id)
{
	struct firmware_router *own = context;
	struct hd_router_answer *answer;
	uint8_t entries[FIRMWARE_BLOCK];
	uint64_t guid = 0;

	if (own->count == own->room)
		return false;
	answer = &own->answers[(own->first + own->count++) % own->room];
	*answer = (struct hd_router_answer){.id = id};
	answer->failed =
	    !own->switches.read(own->switches.context, subnet, port->switch_lid,
				attribute == HD_ROUTER_LFT ? modifier : 0, entries, &guid);
	if (attribute == HD_ROUTER_LFT) {
		memcpy(answer->data, entries, sizeof(entries));
		return true;
	}
	answer->data[2] = NODE_IS_SWITCH;
	router_bytes_put64(answer->data + 12, guid);
	return true;
}

static bool receive_answer(void *context, struct hd_router_answer *answer)
{
	struct firmware_router *own = context;

	if (!own->count)
		return false;
	*answer = own->answers[own->first];
	own->first = (own->first + 1) % own->room;
	own->count--;
	return true;
}

static uint64_t now_of(void *context)
{
	return ((struct firmware_router *)context)->now_ms;
}

static bool firmware_router_begin(struct firmware_router *own, const struct firmware_room *room)
{
	const struct hd_router_limits limits = {.subnets = (uint16_t)room->subnets,
						.ports = (uint16_t)room->ports,
						.hosts = room->hosts,
						.mapped = room->mapped,
						.prefixes = (uint16_t)room->prefixes};
	const struct hd_router_callbacks callbacks = {send_query, receive_answer, now_of, own};
	struct hd_router_settings settings = HD_ROUTER_SETTINGS_DEFAULT;
	size_t size = hd_router_size(&limits);

	settings.hash = room->sum ? HD_ROUTER_HASH_SUM : HD_ROUTER_HASH_PAIR;
	own->room = room->subnets * room->ports;
	own->answers = calloc(own->room, sizeof(*own->answers));
	own->bytes = malloc(HD_ROUTER_MESSAGE_MAX);
	own->memory = malloc(size);
	if (!own->answers || !own->bytes || !own->memory)
		return false;
	own->router = hd_router_init(own->memory, size, &limits, &settings, &callbacks);
	return own->router != NULL;
}

int firmware_router_new(const struct firmware_room *room, const struct firmware_switches *switches,
			struct firmware_router **out, struct hd_error *err)
{
	struct firmware_router *own;

	if (!room->subnets || room->subnets > HD_ROUTER_SUBNETS_LIMIT || !room->ports ||
	    room->ports > HD_ROUTER_PORTS_LIMIT || room->prefixes > UINT16_MAX)
		return hd_error_set(
		    err, -ERANGE,
		    "a router with %u subnets, %u ports in one of them, and %u rows of "
		    "prefixes is more than the firmware has room for",
		    room->subnets, room->ports, room->prefixes);
	own = calloc(1, sizeof(*own));
	if (!own)
		return hd_error_no_memory(err);
	own->switches = *switches;
	if (!firmware_router_begin(own, room)) {
		firmware_router_free(own);
		return hd_error_no_memory(err);
	}
	*out = own;
	return 0;
}

void firmware_router_free(struct firmware_router *router)
{
	if (!router)
		return;
	free(router->memory);
	free(router->answers);
	free(router->bytes);
	free(router);
}

static int firmware_router_take(struct firmware_router *own, uint8_t subnet, const uint8_t *bytes,
				uint32_t length, struct hd_error *err)
{
	struct hd_router_message message;
	enum hd_router_reason reason = hd_router_decode(bytes, length, &message);

	if (!reason)
		reason = hd_router_update(own->router, subnet, &message);
	if (!reason)
		return 0;
	return hd_error_set(err, -EINVAL, "the router's firmware refuses a list: %s",
			    hd_router_reason_text(reason));
}

/* A list in as many messages as it needs, at least one. */
static int give_list(struct firmware_router *own, uint8_t subnet, enum hd_router_type type,
		     uint32_t count, const struct hd_handshake_lists *lists, struct hd_error *err)
{
	uint32_t most = hd_router_entries_max(type, HD_ROUTER_MESSAGE_MAX), first = 0;
	int rc = 0;

	do {
		uint32_t end = count - first < most ? count : first + most;
		struct hd_router_message message = {.type = type,
						    .epoch = EPOCH,
						    .prefix = own->router->subnets[subnet].prefix,
						    .total = type == HD_ROUTER_PORTS ? 0 : count,
						    .first = first};
		struct hd_router_writer writer;
		hd_router_write_begin(&writer, own->bytes, HD_ROUTER_MESSAGE_MAX, &message);
		for (; first < end; first++) {
			if (message.type == HD_ROUTER_PORTS) {
				const struct hd_handshake_port *port = &lists->ports[first];
				struct hd_router_port_entry entry = {
				    port->guid,	      port->switch_guid, port->lid,
				    port->switch_lid, port->switch_port, {0}};
				memcpy(entry.down, port->down, sizeof(entry.down));
				hd_router_write_port(&writer, &entry);
			} else if (message.type == HD_ROUTER_HOSTS) {
				const struct hd_handshake_host *host = &lists->hosts[first];
				hd_router_write_host(&writer, &(struct hd_router_host_entry){
								  {message.prefix, host->guid},
								  host->top_switch,
								  host->place,
								  host->lid});
			} else {
				const struct hd_handshake_mapped *mapped = &lists->mapped[first];
				hd_router_write_map(&writer, &(struct hd_router_map_entry){
								 {mapped->prefix, mapped->guid},
								 mapped->port_guid});
			}
		}
		rc = firmware_router_take(own, subnet, own->bytes, hd_router_write_end(&writer),
					  err);
	} while (!rc && first < count);
	return rc;
}

int firmware_router_attach(struct firmware_router *router, uint64_t prefix,
			   const struct hd_handshake_lists *lists, struct hd_error *err)
{
	enum hd_router_reason reason;
	uint8_t subnet;
	int rc;

	reason = hd_router_attach(router->router, prefix, &subnet);
	if (reason)
		return hd_error_set(err, -EINVAL, "the router's firmware refuses a subnet: %s",
				    hd_router_reason_text(reason));
	rc = give_list(router, subnet, HD_ROUTER_PORTS, lists->port_count, lists, err);
	if (!rc)
		rc = give_list(router, subnet, HD_ROUTER_HOSTS, lists->host_count, lists, err);
	if (!rc)
		rc = give_list(router, subnet, HD_ROUTER_MAP, lists->mapped_count, lists, err);
	if (rc)
		return rc;
	const struct hd_router_message message = {.type = HD_ROUTER_READY,
						  .epoch = EPOCH,
						  .prefix = router->router->subnets[subnet].prefix,
						  .ports = lists->port_count,
						  .hosts = lists->host_count,
						  .mapped = lists->mapped_count};
	struct hd_router_writer writer;
	hd_router_write_begin(&writer, router->bytes, HD_ROUTER_MESSAGE_MAX, &message);
	return firmware_router_take(router, subnet, router->bytes, hd_router_write_end(&writer),
				    err);
}

void firmware_router_query(struct firmware_router *router)
{
	uint64_t next = 0;

	while (router->count || next < SETTLED_MS) {
		if (next > router->now_ms)
			router->now_ms = next;
		next = hd_router_work(router->router);
	}
}

int firmware_router_advertise(struct firmware_router *from, uint32_t from_subnet,
			      struct firmware_router *to, uint32_t to_subnet, struct hd_error *err)
{
	const struct hd_router_lists *lists =
	    hd_router_lists_of(from->router, (uint8_t)from_subnet);
	int rc = 0;

	for (uint32_t port = 0; !rc && port < lists->port_count; port++) {
		struct hd_router_message message = {.type = HD_ROUTER_PREFIXES};
		uint32_t length =
		    hd_router_write_prefixes(from->router, (uint8_t)from_subnet, port, &message,
					     from->bytes, HD_ROUTER_MESSAGE_MAX);
		if (length)
			rc = firmware_router_take(to, (uint8_t)to_subnet, from->bytes, length, err);
	}
	return rc;
}

/* The firmware counts packets in its state, so each call has a state of its own; all that it points to stays. */
bool firmware_router_relay(const struct firmware_router *router, struct firmware_packet *packet,
			   uint32_t *port)
{
	struct hd_router state = *router->router;
	struct hd_router_egress egress;
	uint8_t bytes[HD_ROUTER_PACKET];

	/* The local and the global route header, as far as routers read them. */
	memset(bytes, 0, HD_ROUTER_PACKET);
	bytes[1] = 3; /* a global route header follows */
	router_bytes_put16(bytes + 6, packet->slid);
	bytes[8] = 6 << 4;
	bytes[15] = HOP_LIMIT;
	router_bytes_put64(bytes + 16, packet->source.prefix);
	router_bytes_put64(bytes + 24, packet->source.guid);
	router_bytes_put64(bytes + 32, packet->destination.prefix);
	router_bytes_put64(bytes + 40, packet->destination.guid);
	if (hd_router_relay(&state, (uint8_t)packet->subnet, bytes, &egress))
		return false;
	packet->subnet = egress.subnet;
	packet->dlid = router_bytes_get16(bytes + 2);
	*port = egress.port;
	return true;
}

uint32_t firmware_router_confirmed(const struct firmware_router *router, uint32_t subnet,
				   uint64_t host_guid)
{
	const struct hd_router_lists *lists = hd_router_lists_of(router->router, (uint8_t)subnet);
	const struct hd_router_host *host = router_host_of(lists, host_guid);
	uint16_t port;

	if (!host)
		return HD_NONE;
	port = hd_router_confirmed_port(router->router, (uint8_t)subnet, host);
	return port == HD_ROUTER_NO_PORT ? HD_NONE : port;
}
