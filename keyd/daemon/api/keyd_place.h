/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PUT /v1/jobs/{id} and PUT /v1/jobs/{id}/steps/{step}/layout. */
#ifndef KEYD_PLACE_H
#define KEYD_PLACE_H

#include "keyd_call.h"

void keyd_place_job(struct keyd_call *call);
void keyd_place_layout(struct keyd_call *call);

#endif
