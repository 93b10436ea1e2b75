/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fast recovery: what switches do by themselves when a port is lost. It is on only while the plan in force is proved to
 * allow it: switched off before a plan that is not, and switched on when all switches hold one that is. While tables
 * change it stays as it is: every mixture on the way is proved with all ports of all groups, and fast recovery only
 * takes ports away.
 */
#ifndef OPENSM_AR_MASKING_H
#define OPENSM_AR_MASKING_H

#include <heddle/base/error.h>

struct ar_job;
struct ar_tasks;
struct hd_ar_plan;
struct routing;

/* Before switches go to a plan (NULL: to one that is not known) on the tables of a routing: whether it allows fast
 * recovery, and if not, switches it off. Errors: -ECANCELED, -ENOMEM, those of the port. */
int ar_masking_before(struct ar_tasks *tasks, const struct ar_job *job,
		      const struct routing *routing, const struct hd_ar_plan *plan,
		      struct hd_error *err);

/* Says in the log, once, why the plan that was judged last does not allow fast recovery. Nothing: it does. */
void ar_masking_say(struct ar_tasks *tasks);

/*
 * After the switches have been given tasks->plan, with links active: tells switches their neighbours, switches fast
 * recovery on, and says in the log how many switches have it, who refuses it, or why the plan does not allow it, each
 * once. Nothing is done if it is not known what the switches hold. Errors: -ECANCELED, -ENOMEM, those of the port.
 */
int ar_masking_run(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err);

#endif
