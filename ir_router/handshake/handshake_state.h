/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The content of a handshake, for its files. */
#ifndef HANDSHAKE_STATE_H
#define HANDSHAKE_STATE_H

#include <heddle/ir_router/handshake.h>
#include <router_session.h>

/* ---- the state ---- */

/* A list that is coming in parts. */
struct handshake_part {
	struct hd_handshake_host *hosts; /* [total]; NULL: none is coming */
	uint64_t prefix, epoch;
	uint32_t total, count, hops;
};

struct hd_handshake_session {
	struct hd_handshake_session *next;
	struct hd_handshake *handshake;
	struct hd_router_session session;
	void *connection;
	bool broken;
	uint32_t used; /* bytes of a message that is not complete */
	struct handshake_part part;
	uint8_t bytes[HD_ROUTER_MESSAGE_MAX];
};

struct hd_handshake {
	struct hd_handshake_hooks hooks;
	uint64_t prefix, epoch;
	uint64_t now_ms; /* of the last hd_handshake_tick() */
	bool published;
	struct hd_handshake_session *sessions;
	struct hd_handshake_port *ports;
	struct hd_handshake_host *hosts;
	struct hd_handshake_mapped *mapped;
	struct hd_handshake_lists lists; /* points to those three */
	struct hd_handshake_foreign foreign[HD_HANDSHAKE_FOREIGN_MAX]; /* by prefix */
	uint32_t foreign_count;
	uint8_t bytes[HD_ROUTER_MESSAGE_MAX]; /* for writing */
};

/* ---- lists of other subnets ---- */

/*
 * Takes a part of a list. *list is what to pass on to other routers: a list that is complete now, with *changed, or a
 * known one that was repeated; NULL: nothing. *reason says why the part is refused. Errors: -ENOMEM.
 */
int handshake_foreign_take(struct hd_handshake_session *session,
			   const struct hd_router_message *message,
			   const struct hd_handshake_foreign **list, bool *changed,
			   enum hd_router_reason *reason);

/* Forgets a list that has not come completely. */
void handshake_foreign_abandon(struct hd_handshake_session *session);

/* Forgets the lists that were not repeated in time. */
void handshake_foreign_expire(struct hd_handshake *handshake);

/* ---- messages to routers ---- */

/* Writes messages to routers. */

/* A message without entries. */
void handshake_send_plain(struct hd_handshake_session *to, struct hd_router_message message);

/* The whole epoch in force. */
void handshake_send_epoch(struct hd_handshake_session *to);

/* A list of another subnet. */
void handshake_send_foreign(struct hd_handshake_session *to,
			    const struct hd_handshake_foreign *list);

/* An advertisement that came from another router. */
void handshake_send_prefixes(struct hd_handshake_session *to,
			     const struct hd_router_message *message);

void handshake_send_refusal(struct hd_handshake_session *to, uint64_t sequence, uint16_t type,
			    enum hd_router_reason reason);

#endif
