/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One router that runs the firmware, with lists of subnet managers and switches that answer at once.
 * The firmware's words for ports are others than those of interconnects, so it is met here alone.
 */
#ifndef FIRMWARE_ROUTER_H
#define FIRMWARE_ROUTER_H

#include <heddle/base/error.h>
#include <heddle/ir_router/handshake.h>
#include <heddle/ir_router/map.h>
#include <stdbool.h>
#include <stdint.h>

#define FIRMWARE_BLOCK 64u /* entries of a block of a forwarding table */

/* The switches below a router. Subnets are counted in the order of firmware_router_attach(). */
struct firmware_switches {
	/* Reads a block of the table of the switch with that LID, and says which GUID it has; false: there is no
	 * such switch. */
	bool (*read)(void *context, uint32_t subnet, uint16_t lid, uint32_t block,
		     uint8_t entries[FIRMWARE_BLOCK], uint64_t *guid);
	void *context;
};

/* Room for so much. */
struct firmware_room {
	uint32_t subnets, ports, hosts, mapped, prefixes; /* ports, hosts, mapped: of a subnet */
	bool sum; /* the hash of the sum of both LIDs */
};

struct firmware_router;

/* *out is freed with firmware_router_free(). Errors: -ERANGE more than the firmware has room for, -ENOMEM. */
int firmware_router_new(const struct firmware_room *room, const struct firmware_switches *switches,
			struct firmware_router **out, struct hd_error *err);

/* NULL is allowed. */
void firmware_router_free(struct firmware_router *router);

/* Attaches the next subnet, and hands over the lists of its manager. Errors: -EINVAL with the firmware's
 * reason. */
int firmware_router_attach(struct firmware_router *router, uint64_t prefix,
			   const struct hd_handshake_lists *lists, struct hd_error *err);

/* Asks the switches until all tables have been read twice. */
void firmware_router_query(struct firmware_router *router);

/* Tells another router of a subnet which prefixes this one leads to. Errors: -EINVAL with the firmware's reason. */
int firmware_router_advertise(struct firmware_router *from, uint32_t from_subnet,
			      struct firmware_router *to, uint32_t to_subnet, struct hd_error *err);

struct firmware_packet {
	uint32_t subnet; /* from which it comes; becomes the one to which it goes */
	uint16_t slid;
	uint16_t dlid; /* a result: in the subnet to which it goes */
	struct hd_gid source, destination;
};

/* Relays a packet; *port: which of the list of ports it leaves by. False: it is dropped. Several threads may call it
 * at the same time. */
bool firmware_router_relay(const struct firmware_router *router, struct firmware_packet *packet,
			   uint32_t *port);

/* The port of a subnet that queries have confirmed for a host, or HD_NONE. */
uint32_t firmware_router_confirmed(const struct firmware_router *router, uint32_t subnet,
				   uint64_t host_guid);

#endif
