/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_repair.h"
#include "ar_tasks_state.h"
#include "ar_worker.h"
#include "monotonic.h"
#include "repair_change.h"
#include "routing.h"

#include <errno.h>
#include <heddle/ar_manager/plan.h>
#include <heddle/change/narrow.h>
#include <heddle/change/steps.h>
#include <inttypes.h>

#define PATIENCE_MS 500 /* in which some switch answers, while a step is programmed */

struct repairing {
	struct ar_tasks *tasks;
	const struct ar_job *job;
	struct ar_repair *repair;
	struct hd_ar_plan *next;
	struct hd_ar_steps *steps;
	uint64_t sets; /* that were begun */
	double until; /* monotonic_ms() at which there must be more */
};

/* A switch that does not answer must not keep the sweep waiting for long. */
static void note_progress(struct repairing *repairing)
{
	const uint64_t sets = hd_ar_program_counts(ar_port_program(&repairing->tasks->port)).sets;

	if (sets != repairing->sets)
		repairing->until = monotonic_ms() + PATIENCE_MS;
	repairing->sets = sets;
}

/* Before the first step: a sweep must not have to wait for all proofs. */
static bool is_wanted(void *context)
{
	const struct repairing *repairing = context;
	struct ar_worker *worker = repairing->tasks->worker;

	return worker->go_on(worker) && hd_go_on_ask(&repairing->repair->change->go_on);
}

static bool go_on(void *context)
{
	struct repairing *repairing = context;

	note_progress(repairing);
	return monotonic_ms() < repairing->until && is_wanted(repairing);
}

static int say_unwanted(struct hd_error *err)
{
	return hd_error_set(err, -ECANCELED, WRITER_LOST_TURN);
}

/* ---- planning ---- */

/* A repair stands on what the switches hold. */
static int check_held(const struct ar_tasks *tasks, struct hd_error *err)
{
	const struct ar_held *held = &tasks->held;

	if (tasks->unsure || tasks->behind || held->stuck_count)
		return hd_error_set(err, -EAGAIN,
				    "it is not known what the switches hold of adaptive routing");
	if (held->plan && (!tasks->plan || !hd_ar_plan_equal(held->plan, tasks->plan)))
		return hd_error_set(err, -EAGAIN, "adaptive routing is being changed");
	return 0;
}

static int make_steps(struct repairing *repairing, struct hd_error *err)
{
	const struct ar_job *job = repairing->job;
	const struct routing *routing = job->routing;
	const struct hd_go_on wanted = {is_wanted, repairing};
	uint64_t wrong;
	int rc = ar_tasks_make_plan(repairing->tasks, job, &wanted, &repairing->next, err);

	if (!rc)
		rc = hd_ar_plan_check(repairing->next, routing->fabric, routing->routes, &wanted,
				      &wrong, err);
	if (rc)
		return rc == -ECANCELED ? say_unwanted(err) : rc;
	const struct hd_ar_steps_request request = {.fabric = routing->fabric,
						    .before = repairing->repair->before,
						    .after = routing->routes,
						    .held = repairing->tasks->held.plan,
						    .next = repairing->next,
						    .threads = job->threads,
						    .go_on = wanted};
	rc = hd_ar_steps_new(&request, &repairing->steps, err);
	if (!rc)
		rc = hd_ar_steps_prove(repairing->steps, err);
	return rc == -ECANCELED ? say_unwanted(err) : rc;
}

/* ---- programming ---- */

/* All switches have acknowledged what they were to get. */
static int check_switches(const struct repairing *repairing, struct hd_error *err)
{
	const struct hd_ar_program *program = ar_port_program(&repairing->tasks->port);

	for (uint32_t sw = 0; sw < hd_ar_program_switch_count(program); sw++) {
		const struct hd_ar_switch_report report = hd_ar_program_report(program, sw);
		if (report.rc == -ENOMEM)
			return hd_error_no_memory(err);
		if (report.rc || report.uncertain)
			return hd_error_set(err, -EIO,
					    "switch 0x%016" PRIx64
					    " did not take its tables of adaptive routing",
					    report.guid);
	}
	return 0;
}

static int program_step(struct repairing *repairing, uint32_t step, struct hd_error *err)
{
	struct ar_tasks *tasks = repairing->tasks;
	struct hd_ar_plan *plan = NULL;
	int rc = hd_ar_steps_plan(repairing->steps, step, &plan);

	if (rc)
		return rc == -ECANCELED ? say_unwanted(err) : hd_error_no_memory(err);
	repairing->until = monotonic_ms() + PATIENCE_MS;
	hd_ar_program_apply(ar_port_program(&tasks->port), plan, false);
	rc = ar_port_run(&tasks->port, go_on, repairing, err);
	if (!rc || (rc == -ECANCELED && monotonic_ms() >= repairing->until))
		rc = check_switches(repairing, err);
	else if (rc == -ECANCELED)
		say_unwanted(err);
	rc = ar_tasks_note_held(tasks, plan, rc, err);
	hd_ar_plan_free(plan);
	return rc;
}

static int program(struct repairing *repairing, struct hd_error *err)
{
	const struct ar_repair *repair = repairing->repair;
	const uint32_t last = hd_ar_steps_count(repairing->steps);
	int rc = 0;

	for (uint32_t step = 0; !rc && step <= last; step++) {
		rc = program_step(repairing, step, err);
		if (!rc && step)
			rc = repair->change->write(repair->change, step, err);
	}
	repairing->tasks->unsure |= rc != 0;
	return rc;
}

static int run(struct repairing *repairing, struct hd_error *err)
{
	struct ar_tasks *tasks = repairing->tasks;
	struct ar_repair *repair = repairing->repair;
	int rc = check_held(tasks, err);

	if (rc)
		return rc;
	repair->off = !tasks->held.plan || !hd_ar_plan_has_groups(tasks->held.plan);
	if (repair->off)
		return 0;
	rc = make_steps(repairing, err);
	repair->change->proved_ms = monotonic_ms();
	if (!rc)
		rc = repair->change->begin(repair->change, repairing->steps, err);
	if (!rc)
		rc = program(repairing, err);
	if (rc)
		return rc;
	ar_tasks_take_plan(tasks, repairing->next);
	repairing->next = NULL;
	ar_tasks_take_routing(tasks, repairing->job->routing);
	return 0;
}

void ar_repair_run(struct ar_tasks *tasks, const struct ar_job *job, int rc, struct hd_error *err)
{
	struct repairing repairing = {.tasks = tasks, .job = job, .repair = job->repair};

	if (!rc)
		rc = run(&repairing, err);
	hd_ar_steps_free(repairing.steps);
	hd_ar_plan_free(repairing.next);
	job->repair->err = *err;
	job->repair->rc = rc;
}
