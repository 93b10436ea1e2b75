/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Repairs of tables between a trap and the routing of the sweep that follows it: a client of the writer. */
#ifndef OPENSM_REPAIRS_H
#define OPENSM_REPAIRS_H

#include "repair_shared.h"

struct repairs;

/* From now on the writer's thread repairs. Errors: of the system, with a reason; -ENOMEM. */
int repairs_start(struct repair_shared *shared, struct repairs **out, struct hd_error *err);

/* Ends a repair that is under way, and all repairs. NULL is allowed. Without OpenSM's lock. */
void repairs_end(struct repairs *repairs);

#endif
