/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The plugin's end of the connections to routers, in a thread of its own: routers connect, and get
 * what the sweeper thread publishes. A connection has 10 s to greet. While there is no place for another one, the oldest
 * that has not greeted goes. doc/guide/router-protocol.md describes the messages.
 */
#ifndef OPENSM_MAP_SERVER_H
#define OPENSM_MAP_SERVER_H

#include "log.h"
#include "map_foreign_lists.h"
#include "map_lists.h"

struct map_server;

/* What a server needs. All but `address` and `group` must outlive it. */
struct map_server_settings {
	const char *address; /* socket_path.h */
	const char *group; /* may connect to a path; "": that of this process */
	uint64_t prefix; /* of this subnet */
	struct opensm_log *log;
	/* The hosts of another subnet are new, have changed, or are forgotten. In the thread of the server. */
	void (*foreign_changed)(void *context);
	void *context;
};

/*
 * Listens at the address and starts the thread. That it cannot listen is no error: `err` then has the reason, and else
 * "", and the thread tries again (socket_server.h). The server is ended with map_server_end(). Errors: -EINVAL the
 * subnet prefix is link-local, there is no thread, -ENOMEM.
 */
int map_server_start(const struct map_server_settings *settings, struct map_server **out,
		     struct hd_error *err);

/* Copies the lists of other subnets into *out, which is empty before. For any thread. Errors:
 * -ENOMEM. */
int map_server_foreign(struct map_server *server, struct map_foreign_lists *out);

/* Hands lists over, which the server owns from now on. They replace those that it has not sent yet.
 * For any thread; never waits. */
void map_server_publish(struct map_server *server, struct map_lists *lists);

/* Ends the thread, and closes all connections. NULL is allowed. */
void map_server_end(struct map_server *server);

#endif
