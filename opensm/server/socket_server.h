/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A socket of the plugin, its clients, and the thread that serves them. The key channel, the connections
 * of routers, `heddle status` and `heddle drain` have one each.
 *
 * Each has a thread of its own. A SET of the key channel can take minutes in its thread, and a report some
 * seconds. Status must have answers meanwhile, and routers signs of life. With one thread for all of them,
 * such work would need further threads, and locks for what these share with it. So a hook may take as long
 * as it needs: only clients of the same server wait.
 *
 * A path at which another process has a socket stays with that one. A server that cannot listen starts all the same. It
 * tries again every 5 seconds, and before each call of woken(). If somebody removes the file of the socket, it is made
 * again at these times. A file that somebody else puts there stays.
 *
 * If OpenSM has no descriptor for a new client, the client waits, and the thread rests for a second. Decision 025 says
 * why this is not libevent.
 */
#ifndef OPENSM_SOCKET_SERVER_H
#define OPENSM_SOCKET_SERVER_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOCKET_SERVER_CLIENTS 64u /* the most of one server */

struct socket_server;

struct socket_bytes {
	uint8_t *bytes; /* malloc'ed; used .. length are left */
	size_t used, length, room;
};

/* Where a client is: the user of a process of this machine, or the address of another one without its port. */
struct socket_peer {
	uint8_t bytes[16];
	uint8_t family;
};

/* A client, from connected() to closed(). Only the thread of its server may use it. */
struct socket_client {
	void *data; /* the user's; NULL at first */
	/* Nothing is read, and received() not called, while this is set. Set and cleared by received(), or
	 * cleared by woken(). */
	bool paused;
	/* Set by connected() or received(): the client has said what it came for, and we do not wait for it any more. */
	bool known;
	/* The rest is only for socket_server.c. */
	bool finishing; /* nothing more is read; closed when all is sent */
	struct socket_server *server;
	int file; /* -1: the place is free */
	struct socket_bytes in, out;
	bool dead; /* to be closed */
	bool hung_up; /* it has closed its end, but what it has sent may not be read yet */
	double until; /* ms; then it is too slow, unless it is known and not finishing */
	struct socket_peer peer;
	char reason[HD_ERROR_TEXT]; /* why it is dead */
};

/* What a server needs. The thread of the server calls the hooks. */
struct socket_server_settings {
	const char *address; /* socket_path.h; "": no socket, only woken(). Copied. */
	const char *group; /* may connect to a path; "": that of this process. Copied. */
	int wake; /* an eventfd, which outlives the server; -1: it makes one */
	bool makes_folder; /* of the path, if only that is missing */

	/* 1 .. SOCKET_SERVER_CLIENTS. Of 16 places one is for root and OpenSM's user. Another user, or an address, has half of
	 * the places at most. */
	unsigned clients_most;
	/* A client has that long until it is known, and to read what is left when it is finished. Then the connection is
	 * closed, or earlier if others need its place. 0: for ever. */
	double patience_ms;
	size_t message_most; /* bytes; a client that sends more without a message is closed */
	size_t unsent_most; /* bytes; a client that leaves more unread is closed */

	void *context; /* of the hooks */
	/* Clients can connect, or cannot any more, and why. Called by socket_server_start() before the thread starts, if
	 * they can, and then by the thread after each change. NULL: nothing is to be done. */
	void (*reachable)(void *context, bool reachable, const char *reason);
	/* First in the thread, after each wake, and at the time of socket_server_call_at(). */
	void (*woken)(void *context);
	/* NULL: nothing is to be done. */
	void (*connected)(void *context, struct socket_client *client);
	/* Takes one message and returns its number of bytes; 0: it is not complete. Called again with
	 * the bytes behind it, and with those of an incomplete one, perhaps without more of them. */
	size_t (*received)(void *context, struct socket_client *client, const uint8_t *bytes,
			   size_t length);
	/* The reason is "" if it has hung up, and NULL if the server ends. NULL: nothing is to be done. */
	void (*closed)(void *context, struct socket_client *client, const char *reason);
	/* A client has come for which nobody makes room, and its connection is closed. NULL: nothing is to be done. */
	void (*refused)(void *context, const char *address);
};

/*
 * Listens and starts the thread. *out is written before the thread starts, so that hooks may use it, and
 * is NULL after an error; end it with socket_server_end(). That it cannot listen is no error: `err` then has the
 * reason, and else "". Errors: there is no thread or no eventfd, with a reason; -ENOMEM.
 */
int socket_server_start(const struct socket_server_settings *settings, struct socket_server **out,
			struct hd_error *err);

/* What was in the way when it began to listen: 0 or a negative errno. -EBUSY: another process has a socket at the path. */
int socket_server_deaf(const struct socket_server *server);

/* Makes the thread call woken(). For any thread; never waits. */
void socket_server_wake(const struct socket_server *server);

/* In woken() or connected(): the next woken() is at that time of monotonic_ms(), or earlier. */
void socket_server_call_at(struct socket_server *server, double ms);

/* Ends the thread when its present hook has returned, closes all connections, and removes the socket
 * unless another process has replaced it. NULL is allowed. */
void socket_server_end(struct socket_server *server);

/* Sends bytes, which are copied, after the hook. */
void socket_client_send(struct socket_client *client, const void *bytes, size_t length);

/* Sends now what the client takes without waiting. */
void socket_client_flush(struct socket_client *client);

/* Nothing more of the client is read, and the connection is closed when all is sent. */
void socket_client_finish(struct socket_client *client);

/* Closes the connection after the hook. The first reason counts. */
void socket_client_close(struct socket_client *client, const char *reason);

#endif
