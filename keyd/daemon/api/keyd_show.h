/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls whose answers may be long. Everybody may make them, as often as they like, so:
 *
 * - Calls wait for the end of the round of the event loop, and all that ask for the same get one
 *   text. In a round at most one text of each kind is made, and a few are answered.
 * - The text of links, which is the longest by far, is made by a worker, of a copy of the loads.
 * - A text that has not changed is sent again. Answers share its memory.
 * - Only a few long answers are under way at the same time; others get 503 at once.
 */
#ifndef KEYD_SHOW_H
#define KEYD_SHOW_H

#include "keyd_call.h"

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

#endif
