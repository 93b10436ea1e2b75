/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One HTTP/1.1 connection at a time: a request, then its answer. */
#ifndef CLIENT_HTTP_H
#define CLIENT_HTTP_H

#include <heddle/keyd_client.h>

/* Where keyd listens, and connections to there. */

struct client_address {
	char text[256]; /* as it was given */
	bool network; /* HOST:PORT; else the path of a socket */
	char host[256], port[8];
};

/* Errors: -EINVAL. */
int client_address_parse(const char *text, struct client_address *out,
			 struct hd_key_client_problem *problem);

/* Milliseconds of a clock that never steps. */
int64_t client_address_clock(void);

/* Waits for events of poll() until the deadline. 0, -ETIMEDOUT, or another errno. *seen: the
 * events. */
int client_address_wait(int fd, short events, int64_t deadline, short *seen);

/* Connects until the deadline; *fd does not block, and programs that are executed do not get it. */
int client_address_connect(const struct client_address *address, int64_t deadline, int *fd,
			   struct hd_key_client_problem *problem);

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
