/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adaptive routing in a repair before the sweep. The thread of adaptive routing leads: it plans the
 * steps, and programs groups and entries. In each step it calls the thread that repairs, which waits
 * for the job, to write the forwarding tables.
 */
#ifndef OPENSM_AR_REPAIR_H
#define OPENSM_AR_REPAIR_H

#include <heddle/change/steps.h>

struct ar_job;
struct ar_tasks;

/* Of a job AR_REPAIR, whose routing is the repaired one. The callbacks are called by the thread of
 * adaptive routing. */
struct ar_repair {
	const struct hd_routes *before; /* in the switches, in the shape of the routing's fabric */
	/* The steps are proved. Errors: a reason; nothing is sent then. */
	int (*begin)(void *context, const struct hd_ar_steps *steps, struct hd_error *err);
	/* Writes the forwarding entries of a step, from 1. Errors: a reason; the repair stops then. */
	int (*write)(void *context, uint32_t step, struct hd_error *err);
	struct hd_go_on go_on; /* false: the repair is to stop */
	void *context; /* of begin and write */
	/* ---- results; before the job is done, -ECANCELED ---- */
	int rc;
	struct hd_error err;
	bool off; /* no switch has AR on: nothing was done, and forwarding tables count alone */
	double proved_ms; /* monotonic_ms() when the proof was complete */
};

/*
 * Does the job. `rc` is that of its beginning, with the reason in `err`. Errors, in job->repair: -EAGAIN
 * it is not known what switches hold, those of the proof, -EIO a switch did not take its tables, those of
 * the callbacks, -ENOMEM. If anything was sent and the repair stops, AR is switched off before the next
 * change of tables.
 */
void ar_repair_run(struct ar_tasks *tasks, const struct ar_job *job, int rc, struct hd_error *err);

#endif
