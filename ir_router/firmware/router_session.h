/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One connection between a subnet manager and a router, seen from either end. A session knows what
 * may come when: HELLO first, each message once and in order, each type from the right side, and
 * lists only about prefixes that the sender may speak for. It does no input or output.
 *
 * Each side says a random nonce in its HELLO. All later messages to that side carry the nonce, so a
 * message of another connection is refused. This finds mistakes and old messages. It does not stop
 * an attacker who can read the connection: protect the socket.
 *
 *   the router, which connects                 the subnet manager, which listens
 *   HELLO (session 0)                   ->
 *                                       <-     HELLO (session: the router's nonce)
 *   PREFIXES, FOREIGN, ALIVE            <->    PORTS, HOSTS..., MAP..., READY for each epoch
 *   ACCEPTED for each READY             ->
 */
#ifndef ROUTER_SESSION_H
#define ROUTER_SESSION_H

#include "router.h"
#include "router_relay.h"

#include "router_codec.h"

struct hd_router_session {
	enum hd_router_role role; /* ours */
	uint64_t nonce, peer_nonce;
	uint64_t prefix; /* of the subnet; a router that expects any has 0 before HELLO */
	uint64_t node_guid; /* of the router; at the SM: 0 before HELLO */
	uint64_t sent, received; /* sequence numbers of the last messages */
	uint64_t epoch; /* of the last PORTS; at the SM: that it sent */
	bool greeted, has_epoch;
};

/* Begins. `nonce` is random and not 0. The SM gives its prefix, and 0 as the node GUID. The router
 * gives its node GUID, and the prefix that it expects, or 0. */
void hd_router_session_begin(struct hd_router_session *session, enum hd_router_role role,
			     uint64_t nonce, uint64_t prefix, uint64_t node_guid);

/*
 * Takes a complete message. When it is accepted, *message is set. Else the session stays as it
 * is, except that a message in its right place counts as received; and the caller answers with
 * REFUSED and logs the reason. After a reason that
 * hd_router_reason_is_fatal() names, the caller closes the connection. Cost: O(length).
 */
enum hd_router_reason hd_router_session_receive(struct hd_router_session *session,
						const uint8_t *bytes, uint32_t length,
						struct hd_router_message *message);

/*
 * Fills in what a session adds to a message: the nonce of the peer and the next sequence number. Of
 * HELLO also role, nonce, prefix and GUID. Call it just before hd_router_write_begin(), in the
 * order of sending; each message that is stamped must be sent.
 */
void hd_router_session_stamp(struct hd_router_session *session, struct hd_router_message *message);

/* A complete REFUSED message; returns its length. `size` is HD_ROUTER_HEADER + 64 or more. */
uint32_t hd_router_session_refuse(struct hd_router_session *session, uint64_t sequence,
				  uint16_t type, enum hd_router_reason reason, uint8_t *bytes,
				  uint32_t size);

/* Whether the two sides do not understand each other any more after this. */
bool hd_router_reason_is_fatal(enum hd_router_reason reason);

/* Whether a message says only what its sender may say. */

/*
 * Checks all values of a message that was decoded: prefixes, GIDs, LIDs, hop counts, the order of
 * entries. `prefix` is that of the session. Cost: O(entries).
 */
enum hd_router_reason router_check_content(uint64_t prefix,
					   const struct hd_router_message *message);

/* Makes complete lists ready for use. */

/*
 * Takes what subnet managers say, and writes what their neighbours should know. The lists of an
 * epoch are collected beside those in use, and replace them with READY, all at once.
 */

/*
 * Takes a message that the session of this subnet has accepted: PORTS, HOSTS, MAP, READY and
 * PREFIXES. All other types are left to the caller. With READY:
 *  - each host gets its port, and hosts that are as before keep what was confirmed;
 *  - the switches are asked from the next hd_router_work() on.
 * When something is refused, the lists in use stay as they are. Cost of READY:
 * O(hosts * (ports + log hosts)); of all others O(entries).
 */
enum hd_router_reason hd_router_update(struct hd_router *router, uint8_t subnet,
				       const struct hd_router_message *message);

/*
 * Writes a part of the list of hosts of the subnet `of` for the SM of another one: FOREIGN, from
 * entry *first on, as many entries as fit. *message has the stamp of the session there. *first
 * moves on. Returns the length; 0: all parts were written, or the list is not complete yet.
 */
uint32_t hd_router_write_foreign(const struct hd_router *router, uint8_t of, uint32_t *first,
				 struct hd_router_message *message, uint8_t *bytes, uint32_t size);

/*
 * Writes PREFIXES for the SM of a subnet: what the port number `port` there leads to. Those are the
 * other attached subnets, and what was learned through them (split horizon), as long as the path
 * has at most HD_ROUTER_HOPS_MAX routers. *message has the stamp of the session. Returns the
 * length, or 0 if there is no such port. Cost: O(rows * subnets).
 */
uint32_t hd_router_write_prefixes(const struct hd_router *router, uint8_t subnet, uint32_t port,
				  struct hd_router_message *message, uint8_t *bytes, uint32_t size);

/*
 * query_down_for_egress_port() of the paper (ISFR): asks the switch behind each port for its
 * forwarding table. The port is the egress port of a host when
 *  - its switch is the one that D-mod-K names for the host, as the subnet manager says; and
 *  - the switch's entry for the host leads down the tree; and
 *  - two readings, settle_ms apart, agree.
 * Else the host's packets use the hash (ISSR), and the switch is asked again after retry_ms. All
 * tables are read again every refresh_ms; an entry that has changed meanwhile needs a second
 * reading again.
 */

#define HD_ROUTER_NEVER UINT64_MAX

/*
 * Takes answers and sends what is due, and returns the time at which it has something to do even
 * if no answer comes. Each port has one SMP on its way at a time. A call takes at most as many
 * answers as the router has ports, sends at most one SMP for each port, and looks at no more than
 * 1,024 hosts of each port; if more is to be done, it returns the present time.
 */
uint64_t hd_router_work(struct hd_router *router);

/* How many hosts of a subnet are in each state, [5] by enum hd_router_host_state. Hosts whose port
 * is not trusted or not usable count as HD_ROUTER_NO_ANSWER. Cost: O(hosts). */
void hd_router_count_states(const struct hd_router *router, uint8_t subnet, uint32_t counts[5]);

#endif
