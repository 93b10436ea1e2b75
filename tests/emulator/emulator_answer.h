/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of each MAD: passed on, answered by the emulator, or befallen by a fault. */
#ifndef EMULATOR_ANSWER_H
#define EMULATOR_ANSWER_H

#include "emulator_proxy.h"

/* A MAD from a client. */
void answer_request(struct proxy *proxy, struct session *session,
		    const struct wire_datagram *datagram);

/* A MAD from ibsim: for the client, or the answer to a question of ours. */
void answer_response(struct proxy *proxy, struct session *session, struct wire_datagram *datagram);

/* A MAD for a slow switch, now that its time has come. */
void answer_delayed(struct proxy *proxy, const struct delayed *item);

#endif
