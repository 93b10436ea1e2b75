/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_tasks.h"
#include "ar_figures.h"
#include "ar_jobs.h"
#include "ar_masking.h"
#include "ar_repair.h"
#include "ar_steps.h"
#include "ar_tasks_state.h"
#include "monotonic.h"
#include "routing.h"

#include <errno.h>
#include <heddle/ar_manager/proof.h>
#include <stdlib.h>
#include <string.h>

/* Of the time for which OpenSM waits before tables change: until a proof has to be complete, and the steps have to be
 * written. The rest is for switching adaptive routing off. */
#define PROVE_MS (0.4 * AR_PREPARE_MS)
#define SEND_MS (0.8 * AR_PREPARE_MS)
/* Since the job began: for which switches that have gone silent are asked to switch it off. Most often the cable on the
 * path to them has just died, and OpenSM's new tables must not wait for long. */
#define PERSIST_MS 8000

struct ar_tasks *ar_tasks_new(struct ar_caller *caller)
{
	struct ar_tasks *tasks = calloc(1, sizeof(*tasks));

	if (!tasks)
		return NULL;
	tasks->caller = caller;
	tasks->port.writer = caller->writer;
	return tasks;
}

void ar_tasks_free(struct ar_tasks *tasks)
{
	if (!tasks)
		return;
	ar_port_release(&tasks->port);
	ar_steps_forget(tasks);
	hd_ar_plan_free(tasks->plan);
	routing_release(tasks->routing);
	ar_held_release(&tasks->held);
	ar_report_release(&tasks->report);
	ar_hosts_release(&tasks->hosts);
	free(tasks->stuck_before);
	free(tasks);
}

static struct hd_ar_program *program_of(const struct ar_tasks *tasks)
{
	return ar_port_program(&tasks->port);
}

/* Makes the port ready for the job. Whatever fails, the job's word that nothing is known counts. */
static int begin(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	bool fresh = job->fresh;
	int rc = ar_port_prepare(&tasks->port, job, &fresh, err);

	if (fresh && tasks->port.link)
		hd_ar_program_forget(program_of(tasks));
	tasks->unsure |= fresh || rc;
	tasks->begun = monotonic_ms();
	tasks->behind |= job->unfinished;
	return rc;
}

/* Completes the operation that the program has begun. */
static int run(struct ar_tasks *tasks, struct hd_error *err)
{
	return ar_port_run(&tasks->port, tasks->caller->go_on, tasks->caller, err);
}

static int detect(struct ar_tasks *tasks, struct hd_error *err)
{
	hd_ar_program_detect(program_of(tasks));
	return run(tasks, err);
}

/* A time until which OpenSM's sweep can wait. */
struct patience {
	struct ar_caller *caller;
	double until; /* ms */
};

static struct patience patience_of(const struct ar_tasks *tasks, double ms)
{
	return (struct patience){tasks->caller, monotonic_ms() + ms};
}

static bool go_on_for_now(void *context)
{
	const struct patience *patience = context;

	return monotonic_ms() < patience->until && patience->caller->go_on(patience->caller);
}

static struct hd_go_on while_patient(struct patience *patience)
{
	return (struct hd_go_on){go_on_for_now, patience};
}

/* Like run(), but when the time is over, the switches that have not answered are left behind. */
static int run_for_now(struct ar_tasks *tasks, struct patience *patience, struct hd_error *err)
{
	int rc = ar_port_run(&tasks->port, go_on_for_now, patience, err);

	return rc == -ECANCELED && tasks->caller->go_on(tasks->caller) ? 0 : rc;
}

/* Asks the switches, but waits only for one repetition of a MAD. The others are asked again when
 * tables have changed. */
static int detect_quickly(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	struct patience patience = patience_of(tasks, 3.0 * job->limits.timeout_ms);

	hd_ar_program_detect(program_of(tasks));
	return run_for_now(tasks, &patience, err);
}

/* patience NULL: until all have answered or were given up. */
static int disable_for_now(struct ar_tasks *tasks, struct patience *patience, struct hd_error *err)
{
	int rc;

	ar_steps_forget(tasks);
	hd_ar_program_disable(program_of(tasks), false);
	rc = patience ? run_for_now(tasks, patience, err) : run(tasks, err);
	tasks->unsure = rc != 0;
	return ar_tasks_note_held(tasks, NULL, rc, err);
}

static int disable(struct ar_tasks *tasks, struct hd_error *err)
{
	return disable_for_now(tasks, NULL, err);
}

/* The tables that the switches hold, in the shape of the job's fabric. */
static int tables_before(const struct ar_job *job, struct hd_routes **before, struct hd_error *err)
{
	const struct routing *earlier = job->before;

	if (job->tables)
		*before = hd_routes_copy(job->tables);
	else if (earlier)
		return hd_routes_rebase(earlier->fabric, earlier->routes, job->routing->fabric,
					before, err);
	else
		return hd_error_set(err, -EINVAL, "the tables of the switches are not known");
	return *before ? 0 : hd_error_no_memory(err);
}

static bool has_ended(int rc)
{
	return !rc || rc == -ENOMEM || rc == -ECANCELED;
}

/* Whether a switch is silent, and was not stuck when the job began. One that refuses to switch AR off does answer, and one
 * without a cable cannot. */
static bool any_has_gone_silent(const struct ar_tasks *tasks)
{
	const struct hd_ar_program *program = program_of(tasks);

	for (uint32_t sw = 0; sw < hd_ar_program_switch_count(program); sw++) {
		const struct hd_ar_switch_report report = hd_ar_program_report(program, sw);
		const bool before = tasks->stuck_before && tasks->stuck_before[sw];
		if (!before && report.rc != -EREMOTEIO &&
		    tasks->port.addresses[sw].hop_count <= HD_SMP_HOPS &&
		    ar_held_is_stuck(&tasks->held, report.guid))
			return true;
	}
	return false;
}

/* Whether what the switches hold has no credit loop while their forwarding tables change from `before`, and those of AR
 * to the next plan (NULL: they stay). */
static int prove_mixture(const struct ar_tasks *tasks, const struct ar_job *job,
			 const struct hd_routes *before, const struct hd_ar_plan *next,
			 struct hd_error *err)
{
	const struct hd_ar_proof_request request = {.fabric = job->routing->fabric,
						    .routes = job->routing->routes,
						    .before = before,
						    .arrived = next != NULL,
						    .plan = tasks->held.plan,
						    .next = next,
						    .threads = job->threads};

	if (tasks->held.plan->table_count > 1 || (next && next->table_count > 1))
		return hd_error_set(err, -ENOTSUP,
				    "mixtures of private forwarding tables are not proved");
	return hd_ar_prove(&request, NULL, NULL, err);
}

/* Names the switches that are not in the proof of the tables that come next, if this job has not named so many yet. */
static void say_unproved(struct ar_tasks *tasks)
{
	uint32_t count;
	uint64_t *guids = ar_tasks_doubtful(tasks, &count);

	if (count && tasks->stuck_safe)
		count = ar_tasks_unknown(tasks, NULL);
	if (count > tasks->named_unproved)
		ar_report_unproved(count, guids[0], tasks->caller->log);
	tasks->named_unproved = count;
	free(guids);
}

/* Goes to the next plan step by step, and has the forwarding tables written with it. Any error but -ECANCELED: the
 * switches hold what `held` says, and each of them may have its AR switched off at any time: static ports are those of
 * forwarding tables, but for the step at hand, of which any mixture is proved. */
static int lead(struct ar_tasks *tasks, const struct ar_job *job, const struct hd_routes *before,
		struct hd_ar_plan **next, struct patience *patience, struct hd_error *err)
{
	struct ar_stepping stepping = {.tasks = tasks,
				       .job = job,
				       .wanted = while_patient(patience),
				       .next = *next,
				       .may_be_still = true};
	uint64_t wrong = 0;
	int rc = hd_ar_plan_check(*next, job->routing->fabric, job->routing->routes,
				  &stepping.wanted, &wrong, err);

	if (!rc)
		rc = ar_steps_plan(&stepping, before, err);
	patience->until = tasks->begun + SEND_MS;
	if (!rc) {
		ar_report_steps(hd_ar_steps_count(stepping.steps), stepping.still,
				tasks->caller->log);
		say_unproved(tasks);
		rc = ar_steps_program(&stepping, tasks->caller->write_tables, tasks->caller, err);
	}
	if (!rc)
		ar_steps_take(&stepping, next);
	else
		ar_steps_forget(tasks);
	ar_steps_release(&stepping);
	return rc;
}

/* Before forwarding tables change in an order of their own. With AR off, packets go as before: by the static ports, which
 * are those of the forwarding tables. A switch that does not answer keeps its groups. */
static int leave(struct ar_tasks *tasks, const struct ar_job *job, const struct hd_routes *before,
		 struct hd_error *err)
{
	struct patience patience = patience_of(tasks, PROVE_MS);
	int rc = disable_for_now(tasks, &patience, err);

	if (rc || !tasks->held.plan)
		return rc;
	rc = prove_mixture(tasks, job, before, NULL, err);
	if (rc && has_ended(rc))
		return rc;
	/* Switches that have gone silent just now may be behind a cable that is lost: the next job finds out. */
	if (rc && any_has_gone_silent(tasks))
		return hd_error_set(err, -EIO,
				    "a switch does not answer, and its groups are not safe");
	tasks->stuck_safe = !rc;
	ar_report_stuck(&tasks->report, &tasks->held, rc != 0, tasks->caller->log);
	return 0;
}

static bool is_late(const struct ar_tasks *tasks, int rc, struct patience *patience)
{
	return rc == -ECANCELED && monotonic_ms() >= patience->until &&
	       tasks->caller->go_on(tasks->caller);
}

/* AR leads the steps if there are some, else it is off while the tables change. */
static int make_room(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	struct patience patience = {tasks->caller, tasks->begun + PROVE_MS};
	const struct hd_go_on wanted = while_patient(&patience);
	struct hd_routes *before = NULL;
	struct hd_ar_plan *next = NULL;
	struct hd_error reason = {"OpenSM writes them in an order of its own"};
	int rc = tables_before(job, &before, err);

	if (rc)
		return rc;
	if (job->tables)
		rc = ar_tasks_make_plan(tasks, job, tasks->graph != NULL, &wanted, &next, &reason);
	if (!has_ended(rc))
		rc = ar_masking_before(tasks, job, job->routing, next, &reason);
	if (!rc)
		rc = next ? lead(tasks, job, before, &next, &patience, &reason) : -ENOENT;
	if (is_late(tasks, rc, &patience))
		rc = hd_error_set(&reason, -ETIME, "there was no time to prove steps");
	if (!has_ended(rc)) {
		ar_report_off(reason.text, tasks->caller->log);
		rc = leave(tasks, job, before, err);
	} else if (rc) {
		*err = reason;
	}
	tasks->unsure |= rc == -ECANCELED; /* what was under way may have arrived */
	hd_ar_plan_free(next);
	hd_routes_free(before);
	return rc;
}

/* Also asks the switches that did not answer before. */
static int switch_off(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	int rc = job->waited ? detect_quickly(tasks, job, err) : detect(tasks, err);

	if (rc)
		return rc;
	ar_report_found(&tasks->held, program_of(tasks), job->late, tasks->caller->log);
	rc = disable(tasks, err);
	if (!job->waited && rc != -ECANCELED)
		ar_report_switches(&tasks->report, program_of(tasks), tasks->caller->log);
	if (job->proved) {
		tasks->stuck_safe = false;
		tasks->named_unproved = 0;
		say_unproved(tasks);
	}
	return rc;
}

/* OpenSM has just seen all switches of the job's fabric. One that does not answer now, and did before, is busy: until it
 * says that its AR is off, its groups could make packets circle with the tables to come. One that was stuck before is not
 * waited for again. */
static void switch_off_for_sure(struct ar_tasks *tasks)
{
	struct patience patience = {tasks->caller, tasks->begun + PERSIST_MS};
	int rc = disable(tasks, NULL);

	while (!rc && any_has_gone_silent(tasks) && go_on_for_now(&patience)) {
		/* one that has never said what it can do is asked that first */
		hd_ar_program_detect(program_of(tasks));
		rc = run_for_now(tasks, &patience, NULL);
		if (!rc)
			rc = disable_for_now(tasks, &patience, NULL);
	}
}

static int note_stuck_before(struct ar_tasks *tasks, const struct hd_fabric *fabric,
			     struct hd_error *err)
{
	free(tasks->stuck_before);
	tasks->stuck_before = calloc(fabric->switch_count + 1u, sizeof(*tasks->stuck_before));
	if (!tasks->stuck_before)
		return hd_error_no_memory(err);
	ar_held_stuck(&tasks->held, fabric, tasks->stuck_before);
	return 0;
}

/* A switch that has come may have its AR on, with tables that nobody knows: it is asked, and its AR goes off. */
static int look_at_new(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	const struct hd_ar_program *program = program_of(tasks);
	uint32_t sw = 0;

	while (sw < hd_ar_program_switch_count(program) &&
	       hd_ar_program_report(program, sw).standing != HD_AR_UNASKED)
		sw++;
	if (sw == hd_ar_program_switch_count(program))
		return 0;
	struct patience patience = patience_of(tasks, PROVE_MS);
	int rc = detect_quickly(tasks, job, err);
	if (rc)
		return rc;
	hd_ar_program_disable(program_of(tasks), true);
	rc = run_for_now(tasks, &patience, err);
	return ar_tasks_note_held(tasks, tasks->held.plan, rc, err);
}

/* The proof knows the static ports of the forwarding tables only, so AR tables must have these. */
static int prepare(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	int rc = note_stuck_before(tasks, job->routing->fabric, err);

	tasks->no_graph = tasks->stuck_safe = false;
	tasks->named_unproved = 0;
	tasks->unsure |= tasks->behind;
	if (!rc)
		rc = tasks->unsure ? switch_off(tasks, job, err) : look_at_new(tasks, job, err);
	if (!rc && tasks->held.plan)
		rc = make_room(tasks, job, err);
	/* Without a proof AR must not stay on. */
	if (rc && rc != -ECANCELED)
		switch_off_for_sure(tasks);
	say_unproved(tasks);
	return rc;
}

static bool same_as_before(const struct ar_tasks *tasks, const struct ar_job *job,
			   const struct hd_ar_plan *next)
{
	bool private = next->table_count > 1; /* which hold all ports that count */

	return tasks->plan && !tasks->behind && (private || tasks->routing == job->routing) &&
	       hd_ar_plan_equal(tasks->plan, next);
}

/* After errors: the plan of what the switches hold now, without those that were left. */
static void plan_without_left(struct ar_tasks *tasks, const struct ar_job *job)
{
	const struct hd_ar_program *program = program_of(tasks);
	struct hd_ar_plan *plan = NULL;
	bool left = false;

	for (uint32_t i = 0; i < hd_ar_program_switch_count(program); i++)
		left |= hd_ar_program_report(program, i).standing == HD_AR_LEFT &&
			tasks->plan->switches[i].used;
	if (left)
		ar_steps_forget(tasks);
	if (left && !ar_tasks_make_plan(tasks, job, false, NULL, &plan, NULL))
		ar_tasks_take_plan(tasks, plan);
}

static int apply_plan(struct ar_tasks *tasks, const struct ar_job *job,
		      const struct hd_ar_plan *plan, bool reread, struct hd_error *err)
{
	int rc;

	ar_tasks_take_routing(tasks, job->routing);
	hd_ar_program_apply(program_of(tasks), plan, reread);
	rc = run(tasks, err);
	tasks->unsure |= rc != 0;
	if (rc)
		ar_steps_forget(tasks);
	return ar_tasks_note_held(tasks, plan, rc, err);
}

/* Goes to the next plan in steps, all but the last one. */
static int advance(struct ar_tasks *tasks, const struct ar_job *job, const struct hd_ar_plan *next,
		   struct hd_error *err)
{
	struct ar_stepping stepping = {.tasks = tasks,
				       .job = job,
				       .wanted = {tasks->caller->go_on, tasks->caller},
				       .next = next};
	int rc = ar_steps_plan(&stepping, job->routing->routes, err);

	if (!rc)
		rc = ar_steps_program(&stepping, NULL, NULL, err);
	ar_steps_release(&stepping);
	if (rc && rc != -ELOOP) /* after that the graph is as before */
		ar_steps_forget(tasks);
	tasks->unsure |= rc == -ECANCELED; /* what was under way may have arrived */
	return rc;
}

/* The next plan beside switches that do not answer, in its place. */
static int plan_beside_stuck(const struct ar_tasks *tasks, const struct ar_job *job,
			     struct hd_ar_plan **next, struct hd_error *err)
{
	const struct hd_fabric *fabric = job->routing->fabric;
	bool *stuck = calloc(fabric->switch_count + 1u, sizeof(*stuck));
	struct hd_ar_plan *beside = NULL;

	if (!stuck)
		return hd_error_no_memory(err);
	ar_held_stuck(&tasks->held, fabric, stuck);
	int rc = hd_ar_steps_beside(fabric, tasks->plan, stuck, *next, &beside);
	free(stuck);
	if (rc)
		return hd_error_no_memory(err);
	hd_ar_plan_free(*next);
	*next = beside;
	return 0;
}

/* Whether any mixture of what the switches hold and the next plan is safe. If not, that plan leaves more static where
 * switches do not answer. */
static int prove_approach(struct ar_tasks *tasks, const struct ar_job *job,
			  struct hd_ar_plan **next, struct hd_error *err)
{
	const struct hd_routes *routes = job->routing->routes;
	int rc = prove_mixture(tasks, job, routes, *next, err);

	if (has_ended(rc) || !tasks->held.stuck_count || (*next)->table_count > 1)
		return rc;
	rc = plan_beside_stuck(tasks, job, next, err);
	return rc ? rc : prove_mixture(tasks, job, routes, *next, err);
}

/* Goes where the next plan is safe: where any mixture with it is, or AR is off. */
static int approach(struct ar_tasks *tasks, const struct ar_job *job, struct hd_ar_plan **next,
		    struct hd_error *err)
{
	int rc = prove_approach(tasks, job, next, err);

	if (rc && !has_ended(rc)) {
		rc = disable(tasks, err);
		if (!rc && tasks->held.plan)
			rc = prove_approach(tasks, job, next, err);
	}
	if (!rc || !has_ended(rc))
		ar_report_stuck(&tasks->report, &tasks->held, rc != 0, tasks->caller->log);
	return rc;
}

static int refuse(struct ar_tasks *tasks, struct hd_error *err, int rc)
{
	struct hd_error failure = {""};
	int off = disable(tasks, &failure);

	if (off == -ECANCELED)
		return off;
	if (off)
		return hd_error_prefix(err, off, "it could not be switched off (%s); no plan",
				       failure.text);
	return hd_error_prefix(err, rc, "it is off: no plan");
}

/* Goes to the next plan, but for its last step. If that plan has a loop, or there is no graph any more, it has to be
 * made again with a proof of its own, and judged again: it may have other groups. */
static int approach_any(struct ar_tasks *tasks, const struct ar_job *job, struct hd_ar_plan **next,
			struct hd_error *err)
{
	int rc = tasks->graph ? advance(tasks, job, *next, err) : -ENOENT;

	if (has_ended(rc))
		return rc;
	if (!(*next)->proof.lanes) {
		hd_ar_plan_free(*next);
		*next = NULL;
		rc = ar_tasks_make_plan(tasks, job, false, NULL, next, err);
		if (!*next)
			return refuse(tasks, err, rc);
		rc = ar_masking_before(tasks, job, job->routing, *next, err);
		if (rc)
			return rc;
		rc = tasks->graph ? advance(tasks, job, *next, err) : -ENOENT;
	}
	if (has_ended(rc))
		return rc;
	ar_steps_forget(tasks);
	return approach(tasks, job, next, err);
}

/* The same, and fast recovery is off before a plan that does not allow it. */
static int approach_safely(struct ar_tasks *tasks, const struct ar_job *job,
			   struct hd_ar_plan **next, struct hd_error *err)
{
	const bool same = tasks->held.plan && same_as_before(tasks, job, *next);
	const bool wanted = job->settings.config.settings.recovery != HD_AR_RECOVERY_OFF;
	int rc = 0;

	if (!same || tasks->recovery.judged != wanted)
		rc = ar_masking_before(tasks, job, job->routing, *next, err);
	if (!rc && tasks->held.plan && !same)
		rc = approach_any(tasks, job, next, err);
	return rc;
}

static int apply(struct ar_tasks *tasks, const struct ar_job *job, struct hd_ar_plan *next,
		 struct hd_error *err)
{
	int rc = approach_safely(tasks, job, &next, err);

	if (!rc)
		rc = apply_plan(tasks, job, next, job->reread, err);
	if (rc) {
		hd_ar_plan_free(next);
		return rc;
	}
	ar_tasks_take_plan(tasks, next);
	tasks->behind = false;
	plan_without_left(tasks, job);
	ar_steps_renew(tasks, job);
	return 0;
}

/* Whether the AR tables have the ports of the routing's tables, if they were programmed in full. */
static bool has_ports_of(const struct ar_tasks *tasks, const struct routing *routing)
{
	return tasks->routing && (tasks->routing == routing ||
				  hd_routes_equal(tasks->routing->routes, routing->routes));
}

static int plan_and_apply(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	struct hd_ar_plan *next = NULL;
	int rc;

	tasks->behind |= !has_ports_of(tasks, job->routing);
	rc = detect(tasks, err);
	if (!rc && tasks->unsure)
		rc = disable(tasks, err);
	if (!rc) { /* switches that have come with AR on */
		hd_ar_program_disable(program_of(tasks), true);
		rc = ar_tasks_note_held(tasks, tasks->held.plan, run(tasks, err), err);
	}
	if (rc)
		return rc;
	const double begun = monotonic_ms();
	const bool unproved = tasks->graph;
	rc = ar_tasks_make_plan(tasks, job, unproved, NULL, &next, err);
	if (!unproved)
		tasks->plan_ms = monotonic_ms() - begun;
	return rc ? refuse(tasks, err, rc) : apply(tasks, job, next, err);
}

/* The switches are done. */
static int tell(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	tasks->caller->note_told(tasks->caller);
	return job->settings.config.tell_hosts
		   ? ar_hosts_tell(&tasks->hosts, writer_port(tasks->port.writer), job,
				   tasks->caller, err)
		   : 0;
}

static int program(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	const struct hd_ar_program_counts before = hd_ar_program_counts(program_of(tasks));
	const uint64_t sent = hd_ar_link_sent(tasks->port.link);
	const double begun = monotonic_ms();
	int rc = plan_and_apply(tasks, job, err);
	const struct hd_ar_program_counts now = hd_ar_program_counts(program_of(tasks));
	const struct ar_effort effort = {.mads = hd_ar_link_sent(tasks->port.link) - sent,
					 .gets = now.gets - before.gets,
					 .sets = now.sets - before.sets,
					 .ms = monotonic_ms() - begun};

	if (!rc)
		ar_report_programmed(tasks->plan, &job->settings.config, &effort,
				     tasks->caller->log);
	if (!rc || rc == -ELOOP || rc == -ENOTSUP)
		ar_report_notes(&tasks->report, &tasks->notes, tasks->caller->log);
	if (rc != -ECANCELED)
		ar_report_switches(&tasks->report, program_of(tasks), tasks->caller->log);
	return rc ? rc : tell(tasks, job, err);
}

void ar_tasks_do(struct ar_tasks *tasks, const struct ar_job *job)
{
	struct hd_error err = {""};
	int rc = begin(tasks, job, &err);

	if (job->task == AR_REPAIR) {
		ar_repair_run(tasks, job, rc, &err);
		return;
	}
	if (!rc && job->task == AR_PROGRAM && job->settings.config.enable)
		rc = program(tasks, job, &err);
	else if (!rc && job->task == AR_RECOVER && job->settings.config.enable)
		rc = ar_masking_run(tasks, job, &err);
	else if (!rc && job->task == AR_RECOVER)
		return;
	else if (!rc && job->task == AR_TELL)
		rc = tell(tasks, job, &err);
	else if (!rc && job->task == AR_PREPARE && job->settings.config.enable)
		rc = prepare(tasks, job, &err);
	else if (!rc)
		rc = switch_off(tasks, job, &err);
	if (rc && rc != -ECANCELED)
		ar_report_fault(&tasks->report, &err, tasks->caller->log);
	else if (!rc &&
		 (job->task == AR_PROGRAM || job->task == AR_TELL || job->task == AR_DISABLE))
		ar_report_well(&tasks->report);
}

void ar_tasks_figures(const struct ar_tasks *tasks, const struct ar_job *job,
		      struct ar_figures *out)
{
	const bool wanted = job->task != AR_DISABLE && job->settings.config.enable;

	ar_figures_count(wanted, &tasks->held, tasks->port.link ? program_of(tasks) : NULL, out);
	ar_figures_explain(tasks->plan, &tasks->notes, out);
	memcpy(out->fault, tasks->report.fault, sizeof(out->fault));
}
