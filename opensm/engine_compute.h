/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes a routing of OpenSM's subnet with one engine, and changes nothing of OpenSM's. */
#ifndef OPENSM_ENGINE_COMPUTE_H
#define OPENSM_ENGINE_COMPUTE_H

#include "log.h"

struct engine_binding;

/* For OpenSM a negative number means: try the next engine. A positive number would make it compute
 * MinHop's tables under our name. */
#define ENGINE_COMPUTE_REFUSED (-1)

/*
 * Reads the policy files, takes a snapshot and routes it into engines->pending. Returns 0, or
 * ENGINE_COMPUTE_REFUSED after logging the reason. Call it with OpenSM's lock held exclusively.
 */
int engine_compute(struct engine_binding *binding);

/* Logs that the engine refuses, what is missing, why, and what OpenSM does next. Returns
 * ENGINE_COMPUTE_REFUSED. */
int engine_compute_refuse(const struct engine_binding *binding, enum log_error number,
			  const char *what, const struct hd_error *err);

#endif
