/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * POST /v1/propose: hosts and an order of ranks for a job. Anybody whose name is known may ask, so:
 *
 * - A thread of its own reads bodies and chooses, one call after the other. It makes no keys.
 * - Only some calls wait, few of them of one user; schedulers go first, and only the number of all calls
 *   bounds them.
 * - A search ends at its deadline with the best that it has found.
 * - Nothing is done for clients that have gone.
 */
#ifndef KEYD_PROPOSE_H
#define KEYD_PROPOSE_H

#include "keyd_call.h"

/* Errors: -ENOMEM, the errno of pthread_create(). */
int keyd_proposals_new(struct keyd *keyd, struct keyd_proposals **out, struct hd_error *err);

/* Whether calls wait for their answers. */
bool keyd_proposals_are_busy(const struct keyd_proposals *proposals);

/* Ends the thread after the work that it is in. NULL is allowed. */
void keyd_proposals_stop(struct keyd_proposals *proposals);

/* Drops calls that wait, after keyd_mailbox_drop(). NULL is allowed. */
void keyd_proposals_free(struct keyd_proposals *proposals);

void keyd_propose(struct keyd_call *call);

#endif
