/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients that come and go: each gets a connection of its own to ibsim. */
#ifndef EMULATOR_SESSION_H
#define EMULATOR_SESSION_H

#include "emulator_proxy.h"

/* Adds a socket to the epoll set. Returns 0 or a negative errno. */
int session_poll(struct proxy *proxy, int socket, uint32_t kind, uint32_t index);

/* Passes a client's control message on to ibsim, on a connect message through a new connection. */
void session_control(struct proxy *proxy, const struct wire_control *message,
		     const struct sockaddr_un *from, socklen_t size);

/* Passes ibsim's answer to a control message back; after a connect message also joins the ends. */
void session_answer(struct proxy *proxy, struct session *session,
		    const struct wire_control *message);

/* The session of a client's place, NULL if nobody is connected there. */
struct session *session_of_client(struct proxy *proxy, uint32_t client);

/* The session with that number, NULL if it is over. */
struct session *session_of_number(struct proxy *proxy, uint32_t number);

/* Sends a MAD to the client, or to ibsim in its name. The session may be over afterwards. */
void session_to_client(struct session *session, const struct wire_datagram *datagram);
void session_to_ibsim(struct session *session, const struct wire_datagram *datagram);

/* Ends a session; tells ibsim if the client has not done so. */
void session_end(struct session *session);

#endif
