/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_tasks_state.h"
#include "ar_jobs.h"
#include "routing.h"

#include <stdlib.h>

int ar_tasks_make_plan(struct ar_tasks *tasks, const struct ar_job *job, bool unproved,
		       const struct hd_go_on *go_on, struct hd_ar_plan **plan, struct hd_error *err)
{
	const struct hd_ar_config *config = &job->settings.config;
	struct hd_ar_capability *capabilities = hd_ar_program_capabilities(
	    ar_port_program(&tasks->port), job->routing->fabric->lid_count);
	struct hd_ar_request request = {.fabric = job->routing->fabric,
					.routes = job->routing->routes,
					.capabilities = capabilities,
					.previous = tasks->plan,
					.algorithm = config->algorithm,
					.mode = config->mode,
					.group_cap = config->group_cap,
					.unproved = unproved,
					.threads = job->threads,
					.notes = &tasks->notes};

	if (go_on)
		request.go_on = *go_on;
	int rc = capabilities ? hd_ar_plan_new(&request, plan, NULL, err) : hd_error_no_memory(err);

	free(capabilities);
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
