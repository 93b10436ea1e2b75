/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fast recovery: what switches do by themselves when a port is lost. It is on only while the plan in force is proved to
 * allow it: switched off before a plan that is not, and switched on when all switches hold one that is. While tables
 * change it stays as it is: every mixture on the way is proved with all ports of all groups, and fast recovery only
 * takes ports away.
 */
#ifndef OPENSM_AR_RECOVERY_H
#define OPENSM_AR_RECOVERY_H

#include <heddle/ar_manager/fast_recovery.h>
#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

struct ar_job;
struct ar_tasks;
struct routing;

/* Zero-initialise before use. */
struct ar_recovery {
	enum hd_ar_recovery most; /* that the plan in force, or the next one, allows */
	enum hd_ar_recovery level; /* that switches may have */
	bool judged; /* that plan was proved, or found not to allow it */
	char reason[HD_ERROR_TEXT]; /* why it does not; "" */
	char said[HD_ERROR_TEXT]; /* what the log said of that last */
	uint32_t count[HD_AR_RECOVERY_LEVELS]; /* switches with each level, as the log has it */
	uint64_t refusals; /* a sum over switches that refuse it, as the log has it */
	bool logged;
};

/* Before switches go to a plan (NULL: to one that is not known) on the tables of a routing: whether it allows fast
 * recovery, and if not, switches it off. Errors: -ECANCELED, -ENOMEM, those of the port. */
int ar_recovery_before(struct ar_tasks *tasks, const struct ar_job *job,
		       const struct routing *routing, const struct hd_ar_plan *plan,
		       struct hd_error *err);

/*
 * After the switches have been given tasks->plan, with links active: tells switches their neighbours, switches fast
 * recovery on, and says in the log how many switches have it, who refuses it, or why the plan does not allow it, each
 * once. Nothing is done if it is not known what the switches hold. Errors: -ECANCELED, -ENOMEM, those of the port.
 */
int ar_recovery_run(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err);

#endif
