/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bearer tokens. Each lets its owner call for one job over TCP. They end with the process. */
#ifndef KEYD_TOKENS_H
#define KEYD_TOKENS_H

#include "keyd_request.h"

#include <stdint.h>
#include <sys/queue.h>
#include <time.h>

#define KEYD_TOKEN_BYTES 32u
#define KEYD_TOKEN_TEXT (2 * KEYD_TOKEN_BYTES + 1)

struct keyd_token {
	LIST_ENTRY(keyd_token) link;
	char text[KEYD_TOKEN_TEXT]; /* hexadecimal digits */
	char job[KEYD_ID_LONGEST + 1];
	uint32_t uid;
	time_t expires; /* of CLOCK_MONOTONIC */
};

/* Zero-initialise before use. */
struct keyd_tokens {
	LIST_HEAD(, keyd_token) list;
	void *by_text; /* search tree */
	uint32_t count;
};

#define KEYD_TOKENS_MAX 65536u

/*
 * A token of a user for a job: one that has half of its time left, or a new one. So nobody can use up
 * the tokens of all. O(tokens). Errors: -ENOSPC too many that have not expired, -ENOMEM, -EIO
 * no random numbers.
 */
int keyd_tokens_add(struct keyd_tokens *tokens, const char *job, uint32_t uid, time_t now,
		    uint32_t seconds, const struct keyd_token **out);

/* The token with that text, or NULL: none, or it has expired. */
const struct keyd_token *keyd_tokens_find(const struct keyd_tokens *tokens, const char *text,
					  time_t now);

/* Forgets the tokens of a job; NULL: those that have expired. */
void keyd_tokens_forget(struct keyd_tokens *tokens, const char *job, time_t now);

void keyd_tokens_release(struct keyd_tokens *tokens);

#endif
