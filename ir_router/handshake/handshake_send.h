/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes messages to routers. */
#ifndef HANDSHAKE_SEND_H
#define HANDSHAKE_SEND_H

#include "handshake_state.h"

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
