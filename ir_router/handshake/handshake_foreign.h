/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of other subnets, which routers hand over in parts. */
#ifndef HANDSHAKE_FOREIGN_H
#define HANDSHAKE_FOREIGN_H

#include "handshake_state.h"

/*
 * Takes a part of a list. Parts of a list that is known already are skipped. If the list is
 * complete now, *list is the one to pass on; else NULL. *reason says why the part is refused.
 * Errors: -ENOMEM.
 */
int handshake_foreign_take(struct hd_handshake_session *session,
			   const struct hd_router_message *message,
			   const struct hd_handshake_foreign **list, enum hd_router_reason *reason);

/* Forgets a list that has not come completely. */
void handshake_foreign_abandon(struct hd_handshake_session *session);

#endif
