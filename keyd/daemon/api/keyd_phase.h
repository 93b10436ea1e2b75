/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* POST /v1/jobs/{id}/request and /done, and DELETE /v1/jobs/{id}. */
#ifndef KEYD_PHASE_H
#define KEYD_PHASE_H

#include "keyd_call.h"

void keyd_phase_request(struct keyd_call *call);
void keyd_phase_done(struct keyd_call *call);
void keyd_phase_release(struct keyd_call *call);

#endif
