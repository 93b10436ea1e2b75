/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_stay.h"
#include "aside_adopt.h"
#include "aside_hosts.h"

#include <errno.h>

static bool differs(const struct aside_job *job, uint32_t lid)
{
	const struct hd_routes *previous = job->request->previous;

	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++) {
		uint8_t before = hd_routes_port(previous, sw, lid);
		if (before != HD_NO_PORT && before != hd_routes_port(job->routes, sw, lid))
			return true;
	}
	return false;
}

static bool serves_hosts(const struct aside_job *job, const struct aside_target *target)
{
	const struct hd_fabric *fabric = job->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (sw != target->sw && hd_has_hosts(fabric, sw) &&
		    job->component[sw] == job->component[target->sw] &&
		    job->paths.next[sw] == HD_NONE)
			return false;
	return true;
}

/* Returns whether any entry changes. */
static bool write_column(struct aside_job *job, uint32_t lid)
{
	bool any = false;

	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++) {
		uint8_t *entry = &hd_routes_row(job->routes, sw)[lid];
		uint32_t link = job->paths.next[sw];
		if (link == HD_NONE || *entry == job->fabric->isl_port[link])
			continue;
		*entry = job->fabric->isl_port[link];
		any = true;
	}
	return any;
}

/* Paths in place first; those of the engine lead to them from elsewhere. */
static bool stay_column(struct aside_adopter *adopter, const struct aside_target *target)
{
	struct aside_job *job = adopter->job;

	if (!differs(job, target->lid))
		return false;
	aside_paths_begin(&job->paths, target->lid, target->sw);
	aside_adopt(adopter, job->request->previous, target->lid);
	aside_adopt(adopter, job->routes, target->lid);
	return serves_hosts(job, target) && write_column(job, target->lid);
}

int aside_stay(struct aside_job *job, bool *done, struct hd_error *err)
{
	struct aside_adopter adopter;
	const struct aside_target *targets = NULL;
	uint32_t count = 0;

	*done = false;
	if (aside_adopt_init(&adopter, job) || aside_adopt_list(job, &targets, &count))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < count && targets[i].host; i++)
		*done |= stay_column(&adopter, &targets[i]);
	if (!*done)
		return 0;
	int rc = aside_hosts_collect(job, err);
	if (!rc)
		rc = aside_paths_order(&job->paths);
	*done = !rc;
	return rc == -ENOMEM ? hd_error_no_memory(err) : 0;
}
