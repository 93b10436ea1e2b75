/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adaptive routing in a repair before the sweep. It leads: it plans the steps, and programs groups and entries. In
 * each step it lets the part repair write the forwarding tables: repair_change.h.
 */
#ifndef OPENSM_AR_REPAIR_H
#define OPENSM_AR_REPAIR_H

#include <heddle/base/error.h>
#include <stdbool.h>

struct ar_job;
struct ar_tasks;
struct hd_routes;
struct repair_change;

/* Of a job AR_REPAIR, whose routing is the repaired one. */
struct ar_repair {
	struct repair_change *change;
	const struct hd_routes *before; /* in the switches, in the shape of the routing's fabric */
	/* ---- results ---- */
	int rc;
	struct hd_error err;
	bool off; /* no switch has AR on: nothing was done, and forwarding tables count alone */
};

/*
 * Does the job. `rc` is that of its beginning, with the reason in `err`. Errors, in job->repair: -EAGAIN
 * it is not known what switches hold, those of the proof, -EIO a switch did not take its tables, those of
 * the callbacks, -ENOMEM. If anything was sent and the repair stops, AR is switched off before the next
 * change of tables.
 */
void ar_repair_run(struct ar_tasks *tasks, const struct ar_job *job, int rc, struct hd_error *err);

#endif
