/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_tasks_state.h"
#include "ar_jobs.h"
#include "ar_tasks.h"
#include "routing.h"

#include <errno.h>
#include <heddle/ar_manager/pins.h>
#include <stdlib.h>

bool ar_tasks_are_settled(const struct ar_tasks *tasks)
{
	const struct ar_held *held = &tasks->held;

	return !tasks->unsure && !tasks->behind && !held->stuck_count && held->plan &&
	       tasks->plan &&
	       (held->plan == tasks->plan || hd_ar_plan_equal(held->plan, tasks->plan));
}

uint32_t ar_tasks_unknown(const struct ar_tasks *tasks, uint64_t *guids)
{
	const struct hd_ar_program *program =
	    tasks->port.link ? ar_port_program(&tasks->port) : NULL;
	uint32_t count = 0;

	for (uint32_t sw = 0; program && sw < hd_ar_program_switch_count(program); sw++) {
		const struct hd_ar_switch_report report = hd_ar_program_report(program, sw);
		if (!ar_held_is_unknown(&tasks->held, &report))
			continue;
		if (guids)
			guids[count] = report.guid;
		count++;
	}
	return count;
}

uint64_t *ar_tasks_doubtful(const struct ar_tasks *tasks, uint32_t *count)
{
	const struct ar_held *held = &tasks->held;
	const uint32_t most = hd_ar_program_switch_count(ar_port_program(&tasks->port));
	uint64_t *guids = malloc((most + held->stuck_count + 1u) * sizeof(*guids));

	*count = guids ? ar_tasks_unknown(tasks, guids) : 0;
	for (uint32_t sw = 0; guids && held->plan && sw < held->plan->switch_count; sw++)
		if (held->stuck[sw])
			guids[(*count)++] = held->plan->switches[sw].guid;
	return guids;
}

/* Of the others it is known what they use at most: that is `held`, unless static entries are older than the forwarding
 * tables. */
static void note_unknown(const struct ar_tasks *tasks, struct adaptive *adaptive)
{
	struct hd_ar_plan *held = tasks->held.plan;
	uint64_t *guids = NULL;
	uint32_t count = 0;

	if (tasks->port.link && !tasks->unsure && !(tasks->behind && held))
		guids = ar_tasks_doubtful(tasks, &count);
	adaptive_note_unknown(adaptive, held, guids, count);
}

void ar_tasks_note_adaptive(const struct ar_tasks *tasks, struct adaptive *adaptive)
{
	const bool unknown = !tasks->port.link || ar_tasks_unknown(tasks, NULL);

	if (!unknown && !tasks->held.plan && !tasks->unsure)
		adaptive_note(adaptive, ADAPTIVE_OFF, NULL);
	else if (!unknown && ar_tasks_are_settled(tasks))
		adaptive_note(adaptive, ADAPTIVE_ON, hd_ar_plan_unpinned(tasks->plan));
	else
		note_unknown(tasks, adaptive);
}

/* Static entries for routing keys. */
static int pin(const struct ar_job *job, struct hd_ar_plan *plan, bool unproved,
	       const struct hd_go_on *go_on, struct hd_ar_plan **out, struct hd_error *err)
{
	const struct routing *routing = job->routing;
	struct hd_ar_plan *pinned = NULL;
	int rc =
	    hd_ar_plan_pinned(plan, routing->fabric, routing->routes, &routing->pins, &pinned, err);

	if (!rc && !unproved && job->task == AR_PROGRAM && routing->pins.count) {
		const struct hd_ar_proof_request request = {
		    .fabric = routing->fabric,
		    .routes = routing->routes,
		    .plan = pinned,
		    .threads = job->threads,
		    .go_on = go_on ? *go_on : (struct hd_go_on){NULL, NULL}};
		rc = hd_ar_prove(&request, &pinned->proof, NULL, err);
		if (rc == -ELOOP)
			hd_error_prefix(err, rc, "with the routing keys in force");
	}
	if (rc)
		hd_ar_plan_free(pinned);
	else
		*out = pinned;
	return rc;
}

int ar_tasks_make_plan(struct ar_tasks *tasks, const struct ar_job *job, bool unproved,
		       const struct hd_go_on *go_on, struct hd_ar_plan **plan, struct hd_error *err)
{
	const struct hd_ar_config *config = &job->settings.config;
	struct hd_ar_capability *capabilities = hd_ar_program_capabilities(
	    ar_port_program(&tasks->port), job->routing->fabric->lid_count);
	struct hd_ar_request request = {.fabric = job->routing->fabric,
					.routes = routing_base(job->routing),
					.capabilities = capabilities,
					.algorithm = config->algorithm,
					.mode = config->mode,
					.group_cap = config->group_cap,
					.unproved = unproved,
					.threads = job->threads,
					.notes = &tasks->notes};
	struct hd_ar_plan *base = NULL;

	if (tasks->plan)
		request.previous = hd_ar_plan_unpinned(tasks->plan);
	if (go_on)
		request.go_on = *go_on;
	int rc =
	    capabilities ? hd_ar_plan_new(&request, &base, NULL, err) : hd_error_no_memory(err);

	free(capabilities);
	if (!rc)
		rc = pin(job, base, unproved, go_on, plan, err);
	hd_ar_plan_free(base);
	return rc;
}

void ar_tasks_take_plan(struct ar_tasks *tasks, struct hd_ar_plan *plan)
{
	hd_ar_plan_free(tasks->plan);
	tasks->plan = plan;
}

void ar_tasks_take_routing(struct ar_tasks *tasks, struct routing *routing)
{
	routing_hold(routing);
	routing_release(tasks->routing);
	tasks->routing = routing;
}

int ar_tasks_note_held(struct ar_tasks *tasks, const struct hd_ar_plan *plan, int rc,
		       struct hd_error *err)
{
	const struct routing *aimed = tasks->port.aimed;
	int failed =
	    aimed ? ar_held_update(&tasks->held, plan, ar_port_program(&tasks->port), aimed->fabric)
		  : 0;

	return failed ? hd_error_no_memory(err) : rc;
}
