/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Forwards packets: where to, by which port, and with which headers. */
#ifndef ROUTER_RELAY_H
#define ROUTER_RELAY_H

#include "router.h"

/* The local and the global route header, with which a packet begins. */
#define HD_ROUTER_PACKET 48u

/* Where a destination GID leads next. */
struct hd_router_hop {
	uint8_t subnet; /* index of the attached subnet */
	uint16_t lid; /* in that subnet: of the host, or of the next router's port */
	const struct hd_router_host *host; /* NULL: the destination is not in that subnet */
};

/*
 * get_next_LID() of the paper: in an attached subnet the LID of the destination; else the LID of
 * the next router. For that the subnet's map counts, if it names a port that advertises the prefix.
 * Else a hash of the destination chooses among the nearest ports. Errors:
 * HD_ROUTER_DROP_NOT_GLOBAL, NO_PREFIX, NO_HOST. Cost: O(log hosts), in transit O(log map + next
 * hops).
 */
enum hd_router_drop hd_router_next_lid(const struct hd_router *router,
				       const struct hd_router_gid *destination,
				       struct hd_router_hop *hop);

/*
 * choose_egress_port() of the paper (ISSR): among the usable ports of the subnet, by a hash of the
 * packet's source LID and of the LID that it goes to next. Index of the port, or HD_ROUTER_NO_PORT.
 * Cost: O(1).
 */
uint16_t hd_router_choose_egress_port(const struct hd_router *router, uint8_t subnet,
				      uint16_t source_lid, uint16_t destination_lid);

/* The port that the query has confirmed for a host (ISFR), or HD_ROUTER_NO_PORT. Cost: O(1). */
uint16_t hd_router_confirmed_port(const struct hd_router *router, uint8_t subnet,
				  const struct hd_router_host *host);

/* Where a packet leaves the router. */
struct hd_router_egress {
	uint8_t subnet;
	uint16_t port; /* index in the subnet */
	bool confirmed; /* ISFR has chosen the port, not the hash */
};

/*
 * Relays a packet that came in through the subnet `from`. `packet` has its first HD_ROUTER_PACKET
 * bytes: the function writes SLID, DLID and HopLimit there, and keeps the SL and all the rest. The
 * invariant CRC stays right; the sender must compute the variant CRC. A packet that is dropped
 * stays as it is. Cost: as hd_router_next_lid().
 */
enum hd_router_drop hd_router_relay(struct hd_router *router, uint8_t from,
				    uint8_t packet[HD_ROUTER_PACKET],
				    struct hd_router_egress *egress);

#endif
