/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_masking.h"
#include "ar_jobs.h"
#include "ar_tasks_state.h"
#include "routing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMED_MOST 10u /* switches that refuse it and are named each */

static struct hd_ar_program *program_of(const struct ar_tasks *tasks)
{
	return ar_port_program(&tasks->port);
}

static enum hd_ar_recovery wanted_of(const struct ar_job *job)
{
	return job->settings.config.settings.recovery;
}

static bool any_has_it(const struct hd_ar_program *program)
{
	for (uint32_t sw = 0; sw < hd_ar_program_switch_count(program); sw++)
		if (hd_ar_program_report(program, sw).recovery != HD_AR_RECOVERY_OFF)
			return true;
	return false;
}

/* ---- before a plan ---- */

/* Whether the plan allows it; the reason is noted. Its lanes are proved by those who program it, at once or with the steps
 * to it. */
static int judge(struct ar_tasks *tasks, const struct ar_job *job, const struct routing *routing,
		 const struct hd_ar_plan *plan, struct hd_error *err)
{
	const struct hd_ar_recovery_request request = {
	    .fabric = routing->fabric,
	    .routes = routing->routes,
	    .plan = plan,
	    .threads = job->threads,
	    .go_on = {tasks->caller->go_on, tasks->caller}};
	struct hd_error reason = {""};

	int rc = hd_ar_recovery_prove(&request, true, &reason);
	if (rc == -ECANCELED || rc == -ENOMEM)
		return hd_error_set(err, rc, "%s", reason.text);
	tasks->recovery.most = rc ? HD_AR_RECOVERY_OFF : HD_AR_RECOVERY_NOTICES;
	snprintf(tasks->recovery.reason, sizeof(tasks->recovery.reason), "%s", reason.text);
	return 0;
}

static int switch_off(struct ar_tasks *tasks, struct hd_error *err)
{
	hd_ar_program_set_recovery(program_of(tasks), HD_AR_RECOVERY_OFF);
	if (!any_has_it(program_of(tasks)))
		return 0;
	hd_ar_program_end_recovery(program_of(tasks));
	return ar_port_run(&tasks->port, tasks->caller->go_on, tasks->caller, err);
}

int ar_masking_before(struct ar_tasks *tasks, const struct ar_job *job,
		      const struct routing *routing, const struct hd_ar_plan *plan,
		      struct hd_error *err)
{
	struct ar_recovery *recovery = &tasks->recovery;
	int rc = 0;

	recovery->most = HD_AR_RECOVERY_OFF;
	recovery->reason[0] = '\0';
	recovery->judged = plan && wanted_of(job) != HD_AR_RECOVERY_OFF;
	if (recovery->judged)
		rc = judge(tasks, job, routing, plan, err);
	if (rc)
		recovery->judged = false;
	return rc || recovery->most != HD_AR_RECOVERY_OFF ? rc : switch_off(tasks, err);
}

/* ---- with a plan ---- */

static int tell_neighbours(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	if (wanted_of(job) < HD_AR_RECOVERY_NOTICES ||
	    tasks->recovery.most < HD_AR_RECOVERY_NOTICES)
		return 0;
	return hd_ar_program_set_neighbours(program_of(tasks), job->routing->fabric)
		   ? hd_error_no_memory(err)
		   : 0;
}

/* One more Set for each switch: fast recovery comes after all have the tables. */
static int switch_on(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	int rc = tell_neighbours(tasks, job, err);

	if (rc)
		return rc;
	hd_ar_program_set_recovery(program_of(tasks), tasks->recovery.most);
	hd_ar_program_apply(program_of(tasks), tasks->plan, false);
	rc = ar_port_run(&tasks->port, tasks->caller->go_on, tasks->caller, err);
	hd_ar_program_set_neighbours(program_of(tasks), NULL);
	tasks->unsure |= rc != 0;
	return ar_tasks_note_held(tasks, tasks->plan, rc, err);
}

/* ---- the log ---- */

static void say_refusal(const struct hd_ar_switch_report *sw, const struct opensm_log *log)
{
	char cause[64] = "no answer, or no effect";

	if (sw->recovery_status)
		snprintf(cause, sizeof(cause), "status 0x%04x", sw->recovery_status);
	log_error(log, LOG_ERROR_AR,
		  "switch 0x%016" PRIx64 " refuses fast recovery and has only '%s' of it (%s: %s); "
		  "its adaptive routing is as it should be",
		  sw->guid, hd_ar_recovery_name(sw->recovery),
		  hd_ar_attribute_name(sw->recovery_attribute), cause);
}

static void count(const struct hd_ar_program *program, uint32_t *counts, uint64_t *refusals)
{
	for (uint32_t i = 0; i < hd_ar_program_switch_count(program); i++) {
		const struct hd_ar_switch_report sw = hd_ar_program_report(program, i);
		counts[sw.recovery]++;
		*refusals += sw.recovery_refused ? sw.guid | 1 : 0;
	}
}

static void say_refusals(const struct hd_ar_program *program, const struct opensm_log *log)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < hd_ar_program_switch_count(program); i++) {
		const struct hd_ar_switch_report sw = hd_ar_program_report(program, i);
		if (sw.recovery_refused && ++found <= NAMED_MOST)
			say_refusal(&sw, log);
	}
	if (found > NAMED_MOST)
		log_error(log, LOG_ERROR_AR, "%" PRIu32 " further switches refuse fast recovery",
			  found - NAMED_MOST);
}

void ar_masking_say(struct ar_tasks *tasks)
{
	struct ar_recovery *recovery = &tasks->recovery;

	if (*recovery->reason && strcmp(recovery->said, recovery->reason))
		log_error(tasks->caller->log, LOG_ERROR_AR, "fast recovery is off: %s",
			  recovery->reason);
	snprintf(recovery->said, sizeof(recovery->said), "%s", recovery->reason);
}

static void report(struct ar_tasks *tasks, const struct ar_job *job)
{
	struct ar_recovery *recovery = &tasks->recovery;
	uint32_t counts[HD_AR_RECOVERY_LEVELS] = {0};
	uint64_t refusals = 0;

	ar_masking_say(tasks);
	count(program_of(tasks), counts, &refusals);
	if (wanted_of(job) == HD_AR_RECOVERY_OFF && !recovery->logged)
		return;
	if (recovery->logged && !memcmp(counts, recovery->count, sizeof(counts)) &&
	    refusals == recovery->refusals)
		return;
	log_info(tasks->caller->log,
		 "fast recovery: %s wanted; %" PRIu32 " switches have notices, %" PRIu32
		 " local, %" PRIu32 " none",
		 hd_ar_recovery_name(wanted_of(job)), counts[HD_AR_RECOVERY_NOTICES],
		 counts[HD_AR_RECOVERY_LOCAL], counts[HD_AR_RECOVERY_OFF]);
	if (refusals != recovery->refusals)
		say_refusals(program_of(tasks), tasks->caller->log);
	memcpy(recovery->count, counts, sizeof(counts));
	recovery->refusals = refusals;
	recovery->logged = wanted_of(job) != HD_AR_RECOVERY_OFF;
}

int ar_masking_run(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	int rc = 0;

	if (!ar_tasks_are_settled(tasks) || tasks->routing != job->routing)
		return 0;
	if (tasks->recovery.most != HD_AR_RECOVERY_OFF)
		rc = switch_on(tasks, job, err);
	if (!rc)
		report(tasks, job);
	return rc;
}
