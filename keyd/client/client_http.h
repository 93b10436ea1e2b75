/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One HTTP/1.1 connection at a time: a request, then its answer. */
#ifndef CLIENT_HTTP_H
#define CLIENT_HTTP_H

#include "client_address.h"

struct client_http {
	struct client_address address;
	int fd; /* -1: not connected */
};

struct client_answer {
	int status;
	unsigned retry_after;
	char *body; /* [length], to be freed */
	size_t length;
};

/*
 * Sends a request and receives its answer until the deadline, on the connection of the last one if
 * the server has kept it. *out is written only on success, whatever the status of the answer. A
 * connection that has failed is closed.
 */
int client_http_exchange(struct client_http *http, const char *request, size_t length,
			 int64_t deadline, struct client_answer *out,
			 struct hd_key_client_problem *problem);

void client_http_close(struct client_http *http);

/* ---- the head of an answer ---- */

#define CLIENT_HEAD_MAX 16384u
#define CLIENT_BODY_MAX (64u << 20) /* all links of 100,000 cables have 20 MB */

struct client_head {
	size_t length; /* bytes of the head itself */
	int status; /* 100..599 */
	size_t body; /* bytes that follow */
	unsigned retry_after; /* seconds, 0: not given */
	bool close; /* the server closes the connection */
};

/*
 * Reads the head at the beginning of `length` bytes. -EAGAIN: its end is not there yet; -EPROTO: it
 * is not the head of an answer with a length, or too long. *reason says why. O(length).
 */
int client_http_read_head(const char *bytes, size_t length, struct client_head *out,
			  const char **reason);

#endif
