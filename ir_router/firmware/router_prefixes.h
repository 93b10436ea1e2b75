/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The prefix table: by which router ports of attached subnets a router reaches the subnets that are
 * not attached to it. Neighbours advertise what they reach, with hop counts. Each advertisement of
 * a port replaces the one before. Static rows override what was learned for the same prefix.
 */
#ifndef ROUTER_PREFIXES_H
#define ROUTER_PREFIXES_H

#include "router_codec.h"

/* One next hop to a prefix. */
struct hd_router_prefix_row {
	uint64_t prefix;
	uint64_t port_guid; /* the neighbour's port in our subnet; 0 in a static row by LID */
	uint64_t expires; /* milliseconds */
	uint16_t lid; /* of that port */
	uint8_t subnet; /* index of the attached subnet in which that port is */
	uint8_t hops; /* routers on the path, this neighbour counted */
	bool is_static;
};

/* Belongs to its router. */
struct hd_router_prefixes {
	struct hd_router_prefix_row
	    *rows; /* [capacity], `count` in use, best hop of a prefix first */
	uint16_t count, capacity;
};

/* Adds a static row. The port's GUID may be 0: not known. Errors: HD_ROUTER_BAD_VALUE, HD_ROUTER_TOO_MANY. */
enum hd_router_reason hd_router_prefixes_add_static(struct hd_router_prefixes *prefixes,
						    uint64_t prefix, uint8_t subnet,
						    uint64_t port_guid, uint16_t lid);

/*
 * Takes an advertisement, PREFIXES, that came through a subnet: its rows replace those of the same
 * port and subnet, and expire at that time. Errors: HD_ROUTER_TOO_MANY; then the port's old rows
 * are gone, and as many new ones as fit are there. Cost: O(rows * entries).
 */
enum hd_router_reason router_prefixes_learn(struct hd_router_prefixes *prefixes, uint8_t subnet,
					    const struct hd_router_message *message,
					    uint64_t expires);

/* Drops the learned rows of a subnet that have expired. Cost: O(rows). */
void hd_router_prefixes_expire(struct hd_router_prefixes *prefixes, uint8_t subnet, uint64_t now);

/* The next hops that count for a prefix: static ones, else the nearest. */
struct router_prefixes_choice {
	const struct hd_router_prefix_row *rows; /* [count], by subnet, port GUID, LID */
	uint32_t count; /* 0: the prefix is not reachable */
};

/* Cost: O(log rows + count). */
struct router_prefixes_choice router_prefixes_choose(const struct hd_router_prefixes *prefixes,
						     uint64_t prefix);

#endif
