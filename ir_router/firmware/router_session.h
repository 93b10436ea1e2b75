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

#endif
