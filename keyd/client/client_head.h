/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The head of an HTTP/1.1 answer. */
#ifndef CLIENT_HEAD_H
#define CLIENT_HEAD_H

#include <stdbool.h>
#include <stddef.h>

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
int client_head_read(const char *bytes, size_t length, struct client_head *out,
		     const char **reason);

#endif
