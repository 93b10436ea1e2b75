/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls of the API: which there are, and who may make them. The table in keyd_calls.c is the
 * one list of them.
 */
#ifndef KEYD_CALLS_H
#define KEYD_CALLS_H

#include "keyd_call.h"

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
