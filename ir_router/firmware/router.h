/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a router, and its life: memory, subnets, time. router_session.h does the rest: it takes the
 * lists of subnet managers, asks the switches below for their tables, and forwards packets.
 *
 *   hd_router_init(memory, size, &limits, &settings, &callbacks, &router);
 *   hd_router_attach(router, prefix, &subnet);        for each subnet that the router is attached to
 *   hd_router_update(router, subnet, &message);       for each message that a session accepted
 *   hd_router_work(router);                           again and again, see router_session.h
 *   hd_router_relay(router, subnet, packet, &egress); for each packet
 *
 * One thread at a time. A firmware that relays packets on another core copies the state after
 * updates.
 */
#ifndef ROUTER_H
#define ROUTER_H

#include <stdint.h>

#include "router_codec.h"
#include "router_hash.h"

#define HD_ROUTER_NO_PORT 0xFFFFu
#define HD_ROUTER_ANSWER 64u /* bytes of an SMP's attribute */
#define HD_ROUTER_PORTS_LIMIT 254u
#define HD_ROUTER_SUBNETS_LIMIT 64u

/*
 * The prefix table: by which router ports of attached subnets a router reaches the subnets that are
 * not attached to it. Neighbours advertise what they reach, with hop counts. Each advertisement of
 * a port replaces the one before. Static rows override what was learned for the same prefix.
 */

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

/* Room for so much. Memory grows with each of these: see hd_router_size(). */
struct hd_router_limits {
	uint16_t subnets; /* 1 .. HD_ROUTER_SUBNETS_LIMIT */
	uint16_t ports; /* in one subnet, 1 .. HD_ROUTER_PORTS_LIMIT */
	uint32_t hosts; /* of one subnet */
	uint32_t mapped; /* entries of one subnet's map; 0: maps are not kept */
	uint16_t prefixes; /* rows of the prefix table */
};

struct hd_router_settings {
	enum hd_router_hash hash;
	uint32_t timeout_ms; /* for an answer to an SMP */
	uint32_t retries; /* further SMPs when no answer comes */
	uint32_t settle_ms; /* from the first reading of a table to the second */
	uint32_t retry_ms; /* until switches that failed are asked again */
	uint32_t refresh_ms; /* until switches are asked again when all is well */
	uint32_t expire_ms; /* until an advertised prefix that was not repeated is dropped */
};

#define HD_ROUTER_SETTINGS_DEFAULT                                                                 \
	{                                                                                          \
		.hash = HD_ROUTER_HASH_PAIR, .timeout_ms = 200, .retries = 3, .settle_ms = 500,    \
		.retry_ms = 5000, .refresh_ms = 60000, .expire_ms = 90000                          \
	}

enum hd_router_attribute { HD_ROUTER_NODE_INFO = 0x11, HD_ROUTER_LFT = 0x19 };

/* How an SMP has ended. */
struct hd_router_answer {
	uint32_t id;
	bool failed; /* the node refused, or the SMP could not be sent */
	uint8_t data[HD_ROUTER_ANSWER];
};

struct hd_router_port;

/* What the router needs from outside. No callback blocks. All get `context`. */
struct hd_router_callbacks {
	/*
	 * Sends an SMP Get to the switch behind a port. `id`, never 0, comes back in the answer.
	 * Returns false if it cannot be sent now: then it is tried again later, as after a
	 * time-out. If no answer comes, nothing needs to be reported.
	 */
	bool (*send)(void *context, uint8_t subnet, const struct hd_router_port *port,
		     enum hd_router_attribute attribute, uint32_t modifier, uint32_t id);
	/* Writes the next answer, if there is one. */
	bool (*receive)(void *context, struct hd_router_answer *answer);
	/* A clock that never goes back, in milliseconds. */
	uint64_t (*now)(void *context);
	void *context;
};

enum hd_router_phase {
	HD_ROUTER_IDLE, /* until `due` */
	HD_ROUTER_WAIT_NODE, /* for NodeInfo, until `due` */
	HD_ROUTER_SCAN, /* looks for the next block */
	HD_ROUTER_WAIT_BLOCK /* for a block, until `due` */
};

/* What a port knows of the switch behind it. */
struct hd_router_query {
	enum hd_router_phase phase;
	uint64_t due;
	uint32_t id; /* of the SMP on its way */
	uint32_t tries;
	uint32_t cursor; /* place in by_lid of the first host of the block */
	bool complete; /* this round reads all blocks, not only those that need it */
	bool trusted; /* the switch is the right one, and its table was read */
	bool unsettled, failed; /* seen in this round */
};

/* A port of the router in one of its subnets. */
struct hd_router_port {
	uint64_t guid;
	uint64_t switch_guid; /* behind it; 0: no switch, or not known */
	uint16_t lid, switch_lid;
	uint8_t switch_port;
	bool usable;
	uint8_t down[32]; /* ports of that switch that lead down, as in hd_router_port_entry */
	struct hd_router_query query;
};

/* How far the query for a host has come. */
enum hd_router_host_state {
	HD_ROUTER_UNKNOWN, /* no port leads to the named switch, or it was not asked yet */
	HD_ROUTER_SEEN, /* the entry leads down; it was read once */
	HD_ROUTER_CONFIRMED, /* read twice with the same result: packets take this port */
	HD_ROUTER_NOT_DOWN, /* the entry does not lead down */
	HD_ROUTER_NO_ANSWER /* the switch did not answer */
};

/* A host of an attached subnet. In all states but CONFIRMED the hash chooses the port. */
struct hd_router_host {
	uint64_t guid;
	uint64_t top_switch;
	uint32_t place;
	uint16_t lid;
	uint16_t port; /* index of the port in the subnet, or HD_ROUTER_NO_PORT */
	uint8_t entry; /* of the switch's table for the LID, as last read */
	uint8_t state; /* enum hd_router_host_state */
};

struct hd_router_mapped {
	struct hd_router_gid gid;
	uint64_t port_guid;
};

/* The lists of one epoch. */
struct hd_router_lists {
	uint64_t epoch;
	struct hd_router_port *ports; /* [limits.ports], by GUID */
	struct hd_router_host *hosts; /* [limits.hosts], by GUID */
	uint32_t *by_lid; /* [limits.hosts] indices of hosts, by LID */
	struct hd_router_mapped *map; /* [limits.mapped], by GID */
	uint32_t port_count, host_count, map_count;
	uint32_t host_total, map_total; /* that will come */
};

struct hd_router_subnet {
	uint64_t prefix;
	struct hd_router_lists lists[2];
	uint8_t active; /* index of the lists in use; the other ones are being received */
	bool ready; /* the active lists are complete */
	bool receives; /* PORTS of a new epoch has come */
	uint16_t *candidates; /* [limits.ports] indices of usable ports in use */
	uint16_t candidate_count;
};

enum hd_router_drop {
	HD_ROUTER_FORWARDED,
	HD_ROUTER_DROP_NOT_GLOBAL, /* no GRH, or multicast, or a link-local GID */
	HD_ROUTER_DROP_HOP_LIMIT,
	HD_ROUTER_DROP_NO_PREFIX, /* no route to the prefix */
	HD_ROUTER_DROP_NO_HOST, /* the subnet has no such host */
	HD_ROUTER_DROP_NO_PORT, /* no usable port to the subnet */
	HD_ROUTER_DROP_SAME_SUBNET, /* it would go back to where it came from */
	HD_ROUTER_DROPS
};

struct hd_router_counts {
	uint64_t packets[HD_ROUTER_DROPS]; /* by enum hd_router_drop */
	uint64_t isfr, issr; /* forwarded packets by how their port was chosen */
	uint64_t asked, answered, late, unanswered; /* SMPs */
};

struct hd_router {
	struct hd_router_limits limits;
	struct hd_router_settings settings;
	struct hd_router_callbacks callbacks;
	struct hd_router_subnet *subnets; /* [limits.subnets] */
	uint16_t subnet_count;
	struct hd_router_prefixes prefixes;
	uint32_t last_id;
	struct hd_router_counts counts;
};

/* Bytes that a router with these limits needs; 0: a limit is out of range. */
size_t hd_router_size(const struct hd_router_limits *limits);

/*
 * Makes a router in `memory`, which must be aligned to 8 and have hd_router_size() bytes. There is
 * nothing to release but the memory. Returns NULL if a limit is out of range or `size` is too
 * small.
 */
struct hd_router *hd_router_init(void *memory, size_t size, const struct hd_router_limits *limits,
				 const struct hd_router_settings *settings,
				 const struct hd_router_callbacks *callbacks);

/* Attaches a subnet; *subnet becomes its index. Errors: HD_ROUTER_BAD_VALUE, PREFIX_TAKEN,
 * TOO_MANY. */
enum hd_router_reason hd_router_attach(struct hd_router *router, uint64_t prefix, uint8_t *subnet);

/* Index of the attached subnet with that prefix, or -1. */
int hd_router_subnet_of(const struct hd_router *router, uint64_t prefix);

/* The lists in use. Valid until the next READY. */
static inline struct hd_router_lists *hd_router_lists_of(const struct hd_router *router,
							 uint8_t subnet)
{
	return &router->subnets[subnet].lists[router->subnets[subnet].active];
}

/* Says that a port of the router went down or came back; `index` is its place in the lists in use.
 * Its destinations use the hash meanwhile. Cost: O(ports). */
void hd_router_port_set_usable(struct hd_router *router, uint8_t subnet, uint32_t index,
			       bool usable);

/* The host with that GUID, or NULL. Cost: O(log hosts). */
struct hd_router_host *router_host_of(const struct hd_router_lists *lists, uint64_t guid);

#endif
