/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_key.h"
#include "ar_jobs.h"
#include "ar_tasks_state.h"
#include "key_change.h"
#include "monotonic.h"
#include "routing.h"

#include <errno.h>
#include <heddle/ar_manager/pins.h>
#include <inttypes.h>

#define BACK_MS 500 /* for which a switch may keep the key waiting that is taken back */

bool ar_key_concerns(const struct ar_tasks *tasks)
{
	return tasks->held.plan || tasks->unsure;
}

static bool go_on(void *context)
{
	const struct key_change *change = context;

	return hd_go_on_ask(&change->go_on);
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

/* Begins the entries of the change as a routing has them. */
static void begin(struct ar_tasks *tasks, const struct key_change *change,
		  const struct routing *routing, struct hd_ar_pinned *plan)
{
	*plan = (struct hd_ar_pinned){.plan = hd_ar_plan_unpinned(tasks->plan),
				      .routes = routing->routes,
				      .pins = &routing->pins};
	hd_ar_program_entries(ar_port_program(&tasks->port), plan, change->places.list,
			      change->places.count);
}

static int set_entries(struct ar_tasks *tasks, struct key_change *change, struct hd_error *err)
{
	struct hd_ar_pinned plan;

	begin(tasks, change, change->after, &plan);
	int rc = ar_port_run(&tasks->port, go_on, change, err);
	if (rc == -ECANCELED)
		return hd_error_set(err, rc, WRITER_LOST_TURN);
	return rc ? rc : check_switches(ar_port_program(&tasks->port), err);
}

/* Only the next sweep finds out what the switches hold if one of them does not answer now. */
static void take_back(struct ar_tasks *tasks, const struct key_change *change,
		      const struct ar_key *key)
{
	double until = monotonic_ms() + BACK_MS;
	struct hd_ar_pinned plan;
	struct hd_error ignored;

	begin(tasks, change, key->routing ? key->routing : tasks->routing, &plan);
	if (!ar_port_run(&tasks->port, is_time, &until, &ignored) &&
	    !check_switches(ar_port_program(&tasks->port), &ignored))
		return;
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

/* Only plans without private tables have entries of keys. */
static int check_plan(const struct ar_tasks *tasks, const struct routing *after,
		      struct hd_error *err)
{
	const struct hd_ar_plan *plan = tasks->plan;

	if (plan->table_count > 1)
		return hd_error_set(
		    err, -ENOTSUP,
		    "routing keys do not go with private tables of adaptive routing");
	return plan->switch_count == after->fabric->switch_count &&
		       plan->lid_count == after->fabric->lid_count
		   ? 0
		   : hd_error_set(err, -EAGAIN, "adaptive routing is that of another fabric");
}

int ar_key_program(struct ar_tasks *tasks, const struct ar_job *job, struct key_change *change,
		   struct ar_key *key, struct hd_error *err)
{
	int rc = prepare(tasks, job, err);

	if (!rc)
		rc = check_plan(tasks, change->after, err);
	if (rc)
		return rc;
	rc = set_entries(tasks, change, err);
	key->sent = !rc;
	if (rc)
		take_back(tasks, change, key);
	return rc;
}

void ar_key_end(struct ar_tasks *tasks, const struct key_change *change, struct ar_key *key)
{
	if (key->sent && change->published) {
		routing_hold(change->after);
		routing_release(key->routing);
		key->routing = change->after;
	} else if (key->sent) {
		/* the sweep has the turn: some forwarding tables may have the key still */
		take_back(tasks, change, key);
		tasks->behind = true;
	}
	key->sent = false;
}

void ar_key_catch_up(struct ar_tasks *tasks, struct ar_key *key)
{
	const struct routing *routing = key->routing;
	struct hd_ar_plan *plan;

	if (!routing)
		return;
	if (hd_ar_plan_pinned(hd_ar_plan_unpinned(tasks->plan), routing->fabric, routing->routes,
			      &routing->pins, &plan, NULL)) {
		tasks->unsure =
		    true; /* without memory: adaptive routing is off before tables change */
	} else {
		ar_held_take(&tasks->held, plan);
		ar_tasks_take_plan(tasks, plan);
	}
	ar_tasks_take_routing(tasks, key->routing);
	ar_key_release(key);
}

void ar_key_release(struct ar_key *key)
{
	routing_release(key->routing);
	key->routing = NULL;
}
