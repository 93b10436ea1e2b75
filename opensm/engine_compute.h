/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From OpenSM's subnet to a finished routing by one engine; nothing of OpenSM's is changed. */
#ifndef OPENSM_ENGINE_COMPUTE_H
#define OPENSM_ENGINE_COMPUTE_H

#include "log.h"

struct engine_binding;

/* > 0 would make OpenSM run MinHop under our name; < 0 makes it try the next engine. */
#define ENGINE_COMPUTE_REFUSED (-1)

/*
 * Reads the policy files, takes a snapshot and routes it into engines->pending. 0, or
 * ENGINE_COMPUTE_REFUSED, and the log says why. With OpenSM's lock held exclusively.
 */
int engine_compute(struct engine_binding *binding);

/* Says in the log that the engine refuses, what is missing and why; ENGINE_COMPUTE_REFUSED. */
int engine_compute_refuse(const struct engine_binding *binding, enum log_error number,
			  const char *what, const struct hd_error *err);

/* Milliseconds of a clock that only goes forwards. */
double engine_compute_now(void);

#endif
