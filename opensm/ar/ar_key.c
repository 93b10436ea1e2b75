/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_key.h"
#include "ar_jobs.h"
#include "ar_masking.h"
#include "ar_steps.h"
#include "key_change.h"
#include "monotonic.h"
#include "routing.h"

#include <errno.h>
#include <heddle/ar_manager/pins.h>
#include <inttypes.h>

#define PATIENCE_MS 500 /* for which switches may keep a key waiting */

bool ar_key_concerns(const struct ar_tasks *tasks)
{
	return tasks->held.plan || tasks->unsure;
}

static bool is_time(void *context)
{
	const double *until = context;

	return monotonic_ms() < *until;
}

/* All switches have acknowledged their entries. */
static int check_switches(const struct hd_ar_program *program, struct hd_error *err)
{
	for (uint32_t sw = 0; sw < hd_ar_program_switch_count(program); sw++) {
		const struct hd_ar_switch_report report = hd_ar_program_report(program, sw);
		if (report.rc == -ENOMEM)
			return hd_error_no_memory(err);
		if (report.rc)
			return hd_error_set(err, -EIO,
					    "switch 0x%016" PRIx64
					    " did not take its tables of adaptive routing",
					    report.guid);
	}
	return 0;
}

/* It is not stopped for a sweep, nor for a repair: it takes some milliseconds, and what a switch holds is not known in the
 * middle. */
static int set_plan(struct ar_tasks *tasks, const struct hd_ar_plan *plan, struct hd_error *err)
{
	double until = monotonic_ms() + PATIENCE_MS;

	hd_ar_program_apply(ar_port_program(&tasks->port), plan, false);
	int rc = ar_port_run(&tasks->port, is_time, &until, err);
	if (rc && rc != -ECANCELED)
		return rc;
	return check_switches(ar_port_program(&tasks->port), err);
}

/* It is not known what the switches hold; the next sweep finds out. */
static void be_unsure(struct ar_tasks *tasks)
{
	tasks->unsure = true;
	writer_demand_sweep(tasks->port.writer);
}

/* The port may have been opened again since, and then nothing is known. */
static int prepare(struct ar_tasks *tasks, const struct ar_job *job, struct hd_error *err)
{
	bool fresh = false;
	int rc = ar_port_prepare(&tasks->port, job, &fresh, err);

	if (fresh && tasks->port.link)
		hd_ar_program_forget(ar_port_program(&tasks->port));
	tasks->unsure |= fresh || rc;
	if (!rc && !ar_tasks_are_settled(tasks))
		rc = hd_error_set(err, -EAGAIN,
				  "it is not known what the switches hold of adaptive routing");
	if (rc)
		writer_demand_sweep(tasks->port.writer);
	else
		ar_held_take(&tasks->held,
			     tasks->plan); /* the same, so nobody need compare again */
	return rc;
}

int ar_key_program(struct ar_tasks *tasks, const struct ar_job *job, struct key_change *change,
		   struct ar_key *key, struct hd_error *err)
{
	const struct routing *after = change->after;
	struct hd_ar_plan *plan;
	int rc = prepare(tasks, job, err);

	if (!rc)
		rc = hd_ar_plan_repinned(tasks->plan, after->fabric, after->routes, &after->pins,
					 &change->places, &plan, err);
	if (rc)
		return rc;
	ar_steps_forget(tasks);
	rc = ar_masking_before(tasks, job, after, plan, err);
	if (!rc)
		rc = set_plan(tasks, plan, err);
	if (!rc) {
		ar_masking_say(tasks);
		key->plan = plan;
		return 0;
	}
	set_plan(tasks, tasks->plan, NULL);
	be_unsure(
	    tasks); /* the adaptive routing of a switch that has failed is off, if it has answered since */
	hd_ar_plan_free(plan);
	return rc;
}

void ar_key_end(struct ar_tasks *tasks, const struct key_change *change, struct ar_key *key)
{
	if (key->plan && change->published) {
		ar_held_take(&tasks->held, key->plan);
		ar_tasks_take_plan(tasks, key->plan);
		ar_tasks_take_routing(tasks, change->after);
	} else if (key->plan) {
		/* the sweep has the turn: some forwarding tables may have the key still */
		if (set_plan(tasks, tasks->plan, NULL))
			be_unsure(tasks);
		tasks->behind = true;
		hd_ar_plan_free(key->plan);
	}
	key->plan = NULL;
}
