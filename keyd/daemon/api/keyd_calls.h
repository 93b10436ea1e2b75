/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls of the API: which there are, and who may make them. The table in keyd_calls.c is the
 * one list of them.
 */
#ifndef KEYD_CALLS_H
#define KEYD_CALLS_H

#include "keyd_call.h"

#include <stddef.h>

/* Who calls: the peer of a unix socket, a MUNGE credential, or a bearer token. */

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

/*
 * The calls whose answers may be long. Everybody may make them, as often as they like, so:
 *
 * - Calls wait for the end of the round of the event loop, and all that ask for the same get one
 *   text. In a round at most one text of each kind is made, and a few are answered.
 * - The text of links, which is the longest by far, is made by a worker, of a copy of the loads.
 * - A text that has not changed is sent again. Answers share its memory.
 * - Only a few long answers are under way at the same time; others get 503 at once.
 */

/* Errors: -ENOMEM. */
int keyd_show_new(struct keyd *keyd, struct keyd_show **out, struct hd_error *err);

/* Whether calls wait for their answers. */
bool keyd_show_is_busy(const struct keyd_show *show);

/* Drops calls that wait. Workers post nothing any more. NULL is allowed. */
void keyd_show_free(struct keyd_show *show);

void keyd_show_jobs(struct keyd_call *call); /* GET /v1/jobs */
void keyd_show_job(struct keyd_call *call); /* GET /v1/jobs/{id} */
void keyd_show_links(struct keyd_call *call); /* GET /v1/links */
void keyd_show_metrics(struct keyd_call *call); /* GET /metrics */

/*
 * POST /v1/propose: hosts and an order of ranks for a job. Anybody whose name is known may ask, so:
 *
 * - A thread of its own reads bodies and chooses, one call after the other. It makes no keys.
 * - Only some calls wait, few of them of one user; schedulers go first, and only the number of all calls
 *   bounds them.
 * - A search ends at its deadline with the best that it has found.
 * - Nothing is done for clients that have gone.
 */

/* Errors: -ENOMEM, the errno of pthread_create(). */
int keyd_proposals_new(struct keyd *keyd, struct keyd_proposals **out, struct hd_error *err);

/* Whether calls wait for their answers. */
bool keyd_proposals_are_busy(const struct keyd_proposals *proposals);

/* Ends the thread after the work that it is in. NULL is allowed. */
void keyd_proposals_stop(struct keyd_proposals *proposals);

/* Drops calls that wait, after keyd_mailbox_drop(). NULL is allowed. */
void keyd_proposals_free(struct keyd_proposals *proposals);

void keyd_propose(struct keyd_call *call);

/* Takes a request of the server. */
void keyd_calls_take(struct keyd *keyd, struct evhttp_request *request,
		     const struct keyd_peer *peer);

/* ---- calls in files of their own ---- */

void keyd_place_job(struct keyd_call *call); /* PUT /v1/jobs/{id} */
void keyd_place_layout(struct keyd_call *call); /* PUT /v1/jobs/{id}/steps/{step}/layout */
void keyd_phase_request(struct keyd_call *call); /* POST /v1/jobs/{id}/request */
void keyd_phase_join(struct keyd_call *call); /* POST /v1/jobs/{id}/join */
void keyd_phase_done(struct keyd_call *call); /* POST /v1/jobs/{id}/done */
void keyd_phase_release(struct keyd_call *call); /* DELETE /v1/jobs/{id} */

#endif
