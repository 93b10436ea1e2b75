/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks at the bytes of HTTP requests before libevent does, to find where each begins and ends. So
 * the server can refuse what is too large with an answer of its own, and drop clients that take too
 * long for one request. Pure: no sockets and no clock here.
 */
#ifndef KEYD_GUARD_H
#define KEYD_GUARD_H

#include "keyd_problem.h"

#define KEYD_HEAD_LARGEST 16384u /* bytes of request line and headers */
#define KEYD_HEADERS_MAX 100u
#define KEYD_TARGET_LONGEST 1024u /* bytes of the request line */

/* Zero-initialise before use. */
struct keyd_guard {
	char line[64]; /* beginning of the current line */
	uint32_t line_length, head_length, headers;
	bool in_body, has_length, may_have_body;
	uint64_t length; /* of the body, as the head says */
	uint64_t left; /* bytes of the body that are still to come */
};

/*
 * Looks at the next bytes of a connection. *complete is how many requests they complete. Returns 0,
 * or -EINVAL with the problem; the connection cannot be used any more then. Cost: O(bytes of the
 * heads).
 */
int keyd_guard_feed(struct keyd_guard *guard, const char *bytes, size_t length, unsigned *complete,
		    struct keyd_problem *problem);

/* Whether a part of a request has come, and the rest is missing. */
bool keyd_guard_is_inside(const struct keyd_guard *guard);

#endif
