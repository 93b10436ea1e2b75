/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who calls: the peer of a unix socket, a MUNGE credential, or a bearer token. */
#ifndef KEYD_AUTH_H
#define KEYD_AUTH_H

#include <stddef.h>

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

#endif
