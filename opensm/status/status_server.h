/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread of the status part, and the socket by which programs ask it. A client sends one line,
 * "status", "metrics" or "fabric", gets the answer, and the connection ends. A client has STATUS_SERVER_PATIENCE_MS
 * for the line, and as long to read the answer. socket_server.c says how many are served at a time.
 */
#ifndef OPENSM_STATUS_SERVER_H
#define OPENSM_STATUS_SERVER_H

#include <heddle/base/error.h>
#include <stddef.h>

#define STATUS_SERVER_PATIENCE_MS 5000
#define STATUS_SERVER_WORK_MS 15000 /* between two calls of work(), if nobody wakes the thread */
#define STATUS_SERVER_REQUEST 32u /* bytes of a line, with its end */

struct status_server;

/* All of it must outlive the server. The two functions are called in its thread. */
struct status_server_settings {
	const char *path; /* "": no socket */
	const char *group; /* may connect; "": that of this process */
	void (*work)(void *context); /* after each wake, and every STATUS_SERVER_WORK_MS */
	/* The answer to a line, to be freed. NULL: there is no such request, or no memory. */
	char *(*answer)(void *context, const char *line, size_t *length);
	void *context;
};

/*
 * Starts the thread, and listens at the path, whose folder is made if only that is missing. A socket
 * that nobody answers is replaced. If the thread starts, but cannot listen, *deaf is the negative errno of
 * socket_server_deaf(), else 0, and `err` says why; the thread then tries again before each work(). The server
 * is ended with status_server_end(). Errors, which *deaf gets too: there is no thread.
 */
int status_server_start(const struct status_server_settings *settings, struct status_server **out,
			int *deaf, struct hd_error *err);

/* Makes the thread call work(). For any thread; never waits. */
void status_server_wake(const struct status_server *server);

/* Ends the thread, closes all connections and removes the socket, unless another process has replaced
 * it. NULL is allowed. */
void status_server_end(struct status_server *server);

#endif
