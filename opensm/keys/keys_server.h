/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The manager's end of the key channel, in a thread of its own: heddle-keyd connects to a socket and
 * sends keys, which the thread proves, and the writer's programs. doc/guide/key-channel.md describes the messages.
 */
#ifndef OPENSM_KEYS_SERVER_H
#define OPENSM_KEYS_SERVER_H

#include "keys_shared.h"

struct keys_server;

/* Listens at the path and starts the thread; `shared` must outlive it. `group` may connect, "" that of this process.
 * That it cannot listen is no error: `err` then has the reason, and else "", and the thread tries again (socket_server.h).
 * Whether it listens is in `shared`. The server is ended with keys_server_end(). Errors: there is no thread, -ENOMEM. */
int keys_server_start(struct keys_shared *shared, const char *path, const char *group,
		      struct keys_server **out, struct hd_error *err);

/* Ends the thread and closes the connection. The keys stay in force. NULL is allowed. */
void keys_server_end(struct keys_server *server);

#endif
