/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_steps.h"
#include "ar_jobs.h"
#include "monotonic.h"
#include "routing.h"

#include <errno.h>
#include <heddle/ar_manager/plan_copy.h>
#include <heddle/change/ar_graph.h>
#include <inttypes.h>

#define SLOW_PROOFS 8
#define SLOW_MOST_MS 1000
#define PATIENCE_MS 500 /* in which some switch answers, while a step is programmed */

bool ar_steps_possible(const struct hd_ar_config *config)
{
	return config->settings.sl_mask == 0xFFFF && !config->settings.transport_disable;
}

void ar_steps_forget(struct ar_tasks *tasks)
{
	hd_ar_graph_free(tasks->graph);
	tasks->graph = NULL;
}

/* That of what the switches hold, on these tables. Errors: as hd_ar_graph_new(). */
static int make_graph(struct ar_tasks *tasks, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, const struct hd_go_on *wanted,
		      struct hd_error *err)
{
	struct hd_ar_plan_copy held = {NULL};
	int rc = 0;

	ar_steps_forget(tasks);
	if (tasks->held.plan)
		rc = hd_go_on_explain(hd_ar_plan_copy_new(tasks->held.plan, fabric, wanted, &held),
				      err);
	if (!rc)
		rc = hd_ar_graph_new(fabric, routes, held.plan, wanted, &tasks->graph, err);
	hd_ar_plan_free(held.plan);
	return rc;
}

void ar_steps_renew(struct ar_tasks *tasks, const struct ar_job *job)
{
	const struct hd_go_on wanted = {tasks->caller->go_on, tasks->caller};

	if (tasks->graph || tasks->no_graph || !tasks->held.plan || tasks->held.stuck_count ||
	    !ar_steps_possible(&job->settings.config))
		return;
	int rc = make_graph(tasks, job->routing->fabric, job->routing->routes, &wanted, NULL);
	tasks->no_graph = rc == -ELOOP || rc == -ENOTSUP;
}

/* Proofs from scratch: as many as a repair of a tree has steps, and one plan. */
static bool takes_too_long(const struct ar_tasks *tasks)
{
	return SLOW_PROOFS * tasks->plan_ms > SLOW_MOST_MS;
}

/* Whether there is a graph; -ELOOP and -ENOTSUP: none is possible. */
static int have_graph(struct ar_stepping *stepping, const struct hd_routes *before,
		      struct hd_error *err)
{
	struct ar_tasks *tasks = stepping->tasks;

	return tasks->graph ? 0
			    : make_graph(tasks, stepping->job->routing->fabric, before,
					 &stepping->wanted, err);
}

static int make_steps(struct ar_stepping *stepping, const struct hd_routes *before,
		      struct hd_error *err)
{
	const struct ar_job *job = stepping->job;
	struct ar_tasks *tasks = stepping->tasks;
	struct hd_ar_steps_request request = {.fabric = job->routing->fabric,
					      .before = before,
					      .after = job->routing->routes,
					      .held = tasks->held.plan,
					      .next = stepping->next,
					      .graph = &tasks->graph,
					      .threads = job->threads,
					      .go_on = stepping->wanted};
	const bool known = tasks->graph;
	int rc =
	    ar_steps_possible(&job->settings.config) ? have_graph(stepping, before, err) : -ENOTSUP;

	if (rc == -ELOOP || rc == -ENOTSUP) {
		request.graph = NULL;
		rc = takes_too_long(tasks)
			 ? hd_error_set(err, -ETIME, "the proof of steps would take too long")
			 : 0;
	}
	if (!rc)
		rc = hd_ar_steps_new(&request, &stepping->steps, err);
	if (rc != -ESTALE || !known)
		return rc;
	rc = have_graph(stepping, before, err); /* a switch has come */
	return rc ? rc : hd_ar_steps_new(&request, &stepping->steps, err);
}

/* Nothing but programming is left to do, and whatever fails there ends the graph: it becomes that of the next plan. */
static int settle(const struct ar_stepping *stepping, struct hd_error *err)
{
	const struct routing *routing = stepping->job->routing;

	return stepping->tasks->graph ? hd_ar_graph_settle(stepping->tasks->graph, routing->fabric,
							   routing->routes, stepping->next, err)
				      : 0;
}

int ar_steps_check(const struct ar_tasks *tasks, struct hd_error *err)
{
	if (tasks->unsure || tasks->behind || tasks->held.stuck_count ||
	    ar_tasks_unknown(tasks, NULL))
		return hd_error_set(err, -EAGAIN,
				    "it is not known what the switches hold of adaptive routing");
	return 0;
}

static int plan_once(struct ar_stepping *stepping, const struct hd_routes *before,
		     struct hd_error *err)
{
	int rc = make_steps(stepping, before, err);

	if (!rc)
		rc = hd_ar_steps_prove(stepping->steps, err);
	return rc ? rc : settle(stepping, err);
}

static int make_still(struct ar_stepping *stepping, struct hd_error *err)
{
	const struct hd_fabric *fabric = stepping->job->routing->fabric;
	struct hd_ar_plan_copy held;

	if (hd_ar_plan_copy_new(stepping->tasks->held.plan, fabric, NULL, &held))
		return hd_error_no_memory(err);
	int rc = hd_ar_steps_still(fabric, held.plan, stepping->next, &stepping->still);
	hd_ar_plan_free(held.plan);
	if (rc)
		return hd_error_no_memory(err);
	stepping->next = stepping->still;
	return 0;
}

int ar_steps_plan(struct ar_stepping *stepping, const struct hd_routes *before,
		  struct hd_error *err)
{
	if (stepping->tasks->held.stuck_count)
		return hd_error_set(err, -EAGAIN, "a switch does not answer");
	int rc = plan_once(stepping, before, err);
	if (rc != -ELOOP || !stepping->may_be_still || !stepping->tasks->graph)
		return rc;
	hd_ar_steps_free(stepping->steps);
	stepping->steps = NULL;
	rc = make_still(stepping, err);
	return rc ? rc : plan_once(stepping, before, err);
}

void ar_steps_release(struct ar_stepping *stepping)
{
	hd_ar_steps_free(stepping->steps);
	hd_ar_plan_free(stepping->still);
	stepping->steps = NULL;
	stepping->still = NULL;
}

/* A switch that does not answer must not keep a sweep waiting for long. */
static bool go_on(void *context)
{
	struct ar_stepping *stepping = context;
	const uint64_t sets = hd_ar_program_counts(ar_port_program(&stepping->tasks->port)).sets;

	if (sets != stepping->sets)
		stepping->until = monotonic_ms() + PATIENCE_MS;
	stepping->sets = sets;
	return monotonic_ms() < stepping->until && hd_go_on_ask(&stepping->wanted);
}

/* All switches have acknowledged what they were to get. */
static int check_switches(const struct ar_stepping *stepping, struct hd_error *err)
{
	const struct hd_ar_program *program = ar_port_program(&stepping->tasks->port);

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

static int program_step(struct ar_stepping *stepping, uint32_t step, struct hd_error *err)
{
	struct ar_tasks *tasks = stepping->tasks;
	struct hd_ar_plan *plan = NULL;
	int rc = hd_go_on_explain(hd_ar_steps_plan(stepping->steps, step, &plan), err);

	if (!rc) {
		stepping->until = monotonic_ms() + PATIENCE_MS;
		hd_ar_program_apply(ar_port_program(&tasks->port), plan, false);
		rc = ar_port_run(&tasks->port, go_on, stepping, err);
		if (!rc || (rc == -ECANCELED && monotonic_ms() >= stepping->until))
			rc = check_switches(stepping, err);
		rc = ar_tasks_note_held(tasks, plan, rc, err);
		hd_ar_plan_free(plan);
	}
	return rc;
}

int ar_steps_program(struct ar_stepping *stepping,
		     int (*write)(void *context, const struct hd_ar_steps *steps, uint32_t step,
				  struct hd_error *err),
		     void *context, struct hd_error *err)
{
	const uint32_t count = hd_ar_steps_count(stepping->steps);
	int rc = 0;

	for (uint32_t step = 0; !rc && step < count + (write != NULL); step++) {
		rc = program_step(stepping, step, err);
		if (!rc && write && step)
			rc = write(context, stepping->steps, step, err);
	}
	if (rc)
		ar_steps_forget(stepping->tasks);
	return rc;
}

void ar_steps_take(struct ar_stepping *stepping, struct hd_ar_plan **next)
{
	struct ar_tasks *tasks = stepping->tasks;

	ar_tasks_take_plan(tasks, stepping->still ? stepping->still : *next);
	if (stepping->still)
		stepping->still = NULL;
	else
		*next = NULL;
	ar_tasks_take_routing(tasks, stepping->job->routing);
	tasks->no_graph = false;
}
