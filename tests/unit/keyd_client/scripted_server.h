/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An HTTP server that plays a script: for each request that it gets, the next answer. */
#ifndef SCRIPTED_SERVER_H
#define SCRIPTED_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct scripted_answer {
	const char *bytes; /* NULL: none */
	const char *json; /* in their place: the body of an answer of status 200 */
	size_t length; /* 0: up to the 0 */
	size_t piece; /* bytes sent at once; 0: all */
	unsigned pause_ms; /* before each piece */
	bool close; /* after it */
	bool deaf; /* answers when the connection comes, without reading a request */
};

struct scripted_server {
	const struct scripted_answer *answers;
	unsigned count;
	unsigned requests, connections; /* seen so far; read after scripted_server_end() */
	char last[1 << 16]; /* the last request */
	char address[128];
	char folder[64];
	int listener, stop[2];
	pthread_t thread;
};

/* Listens on a unix socket of its own, or on a port of 127.0.0.1. */
void scripted_server_begin(struct scripted_server *server, const struct scripted_answer *answers,
			   unsigned count, bool network);
void scripted_server_end(struct scripted_server *server);

#endif
