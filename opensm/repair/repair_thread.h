/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The thread that repairs tables between a trap and the routing of the sweep that follows it. */
#ifndef OPENSM_REPAIR_THREAD_H
#define OPENSM_REPAIR_THREAD_H

#include "repair_shared.h"

struct repair_thread;

/* Errors: of the system, with a reason; -ENOMEM. */
int repair_thread_start(struct repair_shared *shared, struct repair_thread **out,
			struct hd_error *err);

/* Ends the thread. NULL is allowed. Without OpenSM's lock. */
void repair_thread_end(struct repair_thread *thread);

#endif
