/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is remembered between jobs of adaptive routing: for the files that do them. */
#ifndef OPENSM_AR_TASKS_STATE_H
#define OPENSM_AR_TASKS_STATE_H

#include "ar_held.h"
#include "ar_hosts.h"
#include "ar_port.h"
#include "ar_report.h"

#include <heddle/ar_manager/fast_recovery.h>

struct ar_job;
struct ar_caller;
struct hd_ar_graph;
struct routing;

/* Of fast recovery: ar_masking.h. Zero-initialise before use. */
struct ar_recovery {
	enum hd_ar_recovery most; /* that the plan in force, or the next one, allows */
	bool judged; /* that plan was proved, or found not to allow it */
	char reason[HD_ERROR_TEXT]; /* why it does not; "" */
	char said[HD_ERROR_TEXT]; /* what the log said of that last */
	uint32_t count[HD_AR_RECOVERY_LEVELS]; /* switches with each level, as the log has it */
	uint64_t refusals; /* a sum over switches that refuse it, as the log has it */
	bool logged;
};

struct ar_tasks {
	struct ar_caller *caller;
	struct ar_port port;
	/* The last plan that was programmed, with routing keys, NULL: none yet. Later plans take its numbers. */
	struct hd_ar_plan *plan;
	/* Whose ports are in the AR tables, since the first Set of a programming; held; NULL: none
	 * has begun. */
	struct routing *routing;
	/* A programming for these was not completed, or never begun: the AR tables may have static
	 * ports that are older than the forwarding tables. */
	bool behind;
	struct ar_held held; /* what switches may use now */
	/* That of `held`, on the tables of `routing`, or between two of a change: ar_steps.h. NULL: none was made. */
	struct hd_ar_graph *graph;
	bool no_graph; /* none is possible until something changes */
	bool unsure; /* what the switches hold is not known */
	bool
	    stuck_safe; /* what stuck switches hold is proved together with the tables that come next */
	uint32_t named_unproved; /* switches of which this job has said that no proof has them */
	/* [switches of its fabric] those that were stuck when the last AR_PREPARE began; owned; NULL: none has begun */
	bool *stuck_before;
	double begun; /* monotonic_ms() when the job began */
	double plan_ms; /* that the last plan for a whole programming took, with its proof */
	struct hd_ar_notes notes; /* of the plan that was made last, or of its refusal */
	struct ar_recovery recovery;
	struct ar_report report;
	struct ar_hosts hosts;
};

/* Whether it is known that the switches hold tasks->plan and no other, on the tables of tasks->routing. */
bool ar_tasks_are_settled(const struct ar_tasks *tasks);

/* Counts the switches that may have adaptive routing on, without a plan that is known. guids[switches] become theirs;
 * NULL: not wanted. */
uint32_t ar_tasks_unknown(const struct ar_tasks *tasks, uint64_t *guids);

/* The same, with those that do not answer and hold a plan that is known. [*count] from malloc(); NULL: no memory. */
uint64_t *ar_tasks_doubtful(const struct ar_tasks *tasks, uint32_t *count);

/* Makes a plan for the routing of a job, with what its switches can do, and with static entries for its routing keys:
 * hd_ar_plan_pinned(). Notes why it is not better. Of AR_PROGRAM these are proved too; what others do with a plan proves it. `unproved`: the
 * steps to it are proved. `go_on` NULL: never stop. Errors: as hd_ar_plan_new(). */
int ar_tasks_make_plan(struct ar_tasks *tasks, const struct ar_job *job, bool unproved,
		       const struct hd_go_on *go_on, struct hd_ar_plan **plan,
		       struct hd_error *err);

/* Take over the plan, and hold the routing. */
void ar_tasks_take_plan(struct ar_tasks *tasks, struct hd_ar_plan *plan);
void ar_tasks_take_routing(struct ar_tasks *tasks, struct routing *routing);

/* After the switches were to get a plan; NULL: AR was to be off. Returns rc, or its own error. */
int ar_tasks_note_held(struct ar_tasks *tasks, const struct hd_ar_plan *plan, int rc,
		       struct hd_error *err);

#endif
