/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who calls: the peer of a unix socket, a MUNGE credential, or a bearer token. */
#ifndef KEYD_AUTH_H
#define KEYD_AUTH_H

#include "keyd_request.h"

#include <sys/queue.h>
#include <time.h>

struct keyd_call;

/* The text that a credential has to carry: the SHA-256 of METHOD, blank, target, newline and body,
 * as 64 hexadecimal digits. */
#define KEYD_DIGEST_TEXT 65
void keyd_auth_digest(const char *method, const char *target, const char *body, size_t length,
		      char *text);

/*
 * Finds out who calls, then calls go_on(), now or later. A call with a bad credential is answered
 * with 401 instead. Without any, the call is not authenticated.
 */
void keyd_auth_identify(struct keyd_call *call, void (*go_on)(struct keyd_call *call));

/* POST /v1/jobs/{id}/token. */
void keyd_auth_token(struct keyd_call *call);

/* ---- bearer tokens ---- */

/* Each lets its owner call for one job over TCP. They end with the process. */

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
