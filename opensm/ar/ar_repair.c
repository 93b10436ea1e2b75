/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_repair.h"
#include "ar_jobs.h"
#include "ar_masking.h"
#include "ar_steps.h"
#include "monotonic.h"
#include "repair_change.h"
#include "routing.h"

#include <errno.h>
#include <heddle/ar_manager/plan.h>

struct repairing {
	struct ar_stepping stepping;
	struct ar_repair *repair;
	struct hd_ar_plan *next;
};

/* Also before the first step: a sweep must not have to wait for all proofs. */
static bool is_wanted(void *context)
{
	const struct repairing *repairing = context;
	struct ar_caller *caller = repairing->stepping.tasks->caller;

	return caller->go_on(caller) && hd_go_on_ask(&repairing->repair->change->go_on);
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
	int rc = ar_steps_check(tasks, err);

	if (rc)
		return rc;
	if (held->plan && (!tasks->plan || !hd_ar_plan_equal(held->plan, tasks->plan)))
		return hd_error_set(err, -EAGAIN, "adaptive routing is being changed");
	return 0;
}

static int make_steps(struct repairing *repairing, struct hd_error *err)
{
	struct ar_stepping *stepping = &repairing->stepping;
	const struct ar_job *job = stepping->job;
	const struct routing *routing = job->routing;
	uint64_t wrong;
	int rc = ar_tasks_make_plan(stepping->tasks, job, stepping->tasks->graph != NULL,
				    &stepping->wanted, &repairing->next, err);

	if (!rc)
		rc = hd_ar_plan_check(repairing->next, routing->fabric, routing->routes,
				      &stepping->wanted, &wrong, err);
	stepping->next = repairing->next;
	if (!rc)
		rc = ar_masking_before(stepping->tasks, job, routing, repairing->next, err);
	if (!rc)
		rc = ar_steps_plan(stepping, repairing->repair->before, err);
	return rc == -ECANCELED ? say_unwanted(err) : rc;
}

/* ---- programming ---- */

static int write_tables(void *context, const struct hd_ar_steps *steps, uint32_t step,
			struct hd_error *err)
{
	struct repair_change *change = context;

	(void)steps;
	return change->write(change, step, err);
}

static int program(struct repairing *repairing, struct hd_error *err)
{
	int rc =
	    ar_steps_program(&repairing->stepping, write_tables, repairing->repair->change, err);

	repairing->stepping.tasks->unsure |= rc != 0;
	return rc == -ECANCELED ? say_unwanted(err) : rc;
}

/* A mixture of private tables is not proved: they are left before anything changes, and packets go by the forwarding
 * tables, until the sweep after the repair. */
static int leave_private(struct repairing *repairing, struct hd_error *err)
{
	struct ar_tasks *tasks = repairing->stepping.tasks;

	hd_ar_program_disable(ar_port_program(&tasks->port), false);
	int rc = ar_port_run(&tasks->port, is_wanted, repairing, err);
	tasks->unsure |= rc != 0;
	rc = ar_tasks_note_held(tasks, NULL, rc, err);
	if (!rc && tasks->held.plan)
		rc = hd_error_set(err, -EIO, "a switch keeps its private forwarding tables");
	repairing->repair->off = !rc;
	return rc == -ECANCELED ? say_unwanted(err) : rc;
}

static int run(struct repairing *repairing, struct hd_error *err)
{
	struct ar_tasks *tasks = repairing->stepping.tasks;
	struct ar_repair *repair = repairing->repair;
	int rc = check_held(tasks, err);

	if (rc)
		return rc;
	repair->off = !tasks->held.plan || !hd_ar_plan_has_groups(tasks->held.plan);
	if (repair->off)
		return 0;
	if (tasks->held.plan->table_count > 1)
		return leave_private(repairing, err);
	rc = make_steps(repairing, err);
	repair->change->proved_ms = monotonic_ms();
	if (!rc)
		rc = repair->change->begin(repair->change, repairing->stepping.steps, err);
	if (!rc)
		rc = program(repairing, err);
	if (rc)
		return rc;
	ar_steps_take(&repairing->stepping, &repairing->next);
	return 0;
}

void ar_repair_run(struct ar_tasks *tasks, const struct ar_job *job, int rc, struct hd_error *err)
{
	struct repairing repairing = {
	    .stepping = {.tasks = tasks, .job = job, .may_be_still = true}, .repair = job->repair};

	repairing.stepping.wanted = (struct hd_go_on){is_wanted, &repairing};
	if (!rc)
		rc = run(&repairing, err);
	if (rc)
		ar_steps_forget(tasks);
	ar_steps_release(&repairing.stepping);
	hd_ar_plan_free(repairing.next);
	job->repair->err = *err;
	job->repair->rc = rc;
}
