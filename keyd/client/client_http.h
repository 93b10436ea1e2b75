/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One HTTP/1.1 connection at a time: a request, then its answer. */
#ifndef CLIENT_HTTP_H
#define CLIENT_HTTP_H

#include "client_address.h"

struct client_http {
	struct client_address address;
	int fd; /* -1: not connected */
	bool used; /* an answer has come on this connection */
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

#endif
