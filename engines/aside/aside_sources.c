/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_sources.h"

#include <errno.h>
#include <stdlib.h>

/* ---- service levels ---- */

static int set_lane(struct aside_job *job, uint32_t source, unsigned lane)
{
	struct hd_routes *routes = job->routes;

	if (!routes->sl && !lane)
		return 0;
	if (!routes->sl) {
		routes->sl = calloc(routes->switch_count, routes->stride);
		if (!routes->sl)
			return -ENOMEM;
	}
	routes->sl2vl[lane] = (uint8_t)lane;
	routes->sl[(size_t)source * routes->stride + job->paths.lid] = (uint8_t)lane;
	return 0;
}

/* ---- the sources of a column ---- */

static bool take(struct aside_job *job, uint32_t source, unsigned lane, int *rc)
{
	if (!aside_paths_fit(&job->paths, lane, source))
		return false;
	aside_paths_fix(&job->paths, source);
	*rc = set_lane(job, source, lane);
	return true;
}

/* The lane of a path in the tables in place; 0 without such. */
static unsigned lane_before(const struct aside_job *job, uint32_t source)
{
	const struct hd_routes *previous = job->request->previous;
	unsigned lane = previous ? hd_routes_vl(previous, source, job->paths.lid) : 0;

	return lane < job->paths.lanes ? lane : 0;
}

int aside_sources_settle(struct aside_job *job)
{
	struct aside_paths *paths = &job->paths;
	uint32_t waiting = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < job->waiting_count; i++) {
		uint32_t source = job->waiting[i];
		unsigned first = lane_before(job, source), lane = 0;
		bool taken = take(job, source, first, &rc);
		for (; !taken && lane < paths->lanes; lane++)
			taken = lane != first && take(job, source, lane, &rc);
		if (!taken)
			job->waiting[waiting++] = source;
	}
	job->waiting_count = waiting;
	return rc;
}

void aside_sources_note(struct aside_job *job)
{
	for (uint32_t i = 0; i < job->waiting_count; i++) {
		uint32_t source = job->waiting[i];
		aside_paths_fit(&job->paths, hd_routes_vl(job->routes, source, job->paths.lid),
				source);
	}
}

int aside_sources_grow(struct aside_job *job, unsigned lane)
{
	uint32_t waiting = 0;
	int rc = 0;

	aside_paths_grow(&job->paths, lane);
	for (uint32_t i = 0; !rc && i < job->waiting_count; i++)
		if (!take(job, job->waiting[i], lane, &rc))
			job->waiting[waiting++] = job->waiting[i];
	job->waiting_count = waiting;
	return rc;
}

bool aside_sources_is_spared(const struct aside_job *job, uint32_t source)
{
	const struct hd_routes *previous = job->request->previous;
	uint32_t destination = job->paths.destination, lid = job->paths.lid;
	uint32_t own = job->fabric->lid[job->fabric->port_base[destination]];

	return previous && own && hd_routes_port(previous, source, lid) == HD_NO_PORT &&
	       hd_routes_port(previous, destination, lid) != HD_NO_PORT &&
	       hd_routes_port(previous, source, own) != HD_NO_PORT;
}

int aside_sources_give_up(struct aside_job *job, struct hd_error *err)
{
	for (uint32_t i = 0; i < job->waiting_count; i++) {
		uint32_t source = job->waiting[i];
		if (job->component[source] != job->component[job->paths.destination])
			continue;
		if (job->paths.fixed[source])
			return hd_error_set(
			    err, -ENOSPC,
			    "no virtual lane is left for the paths from '%s' to LID "
			    "%u, besides the %u in use",
			    job->fabric->node_name[source], job->paths.lid, job->paths.lanes);
		job->paths.next[source] = HD_NONE;
		job->unserved++;
		job->lost += !aside_sources_is_spared(job, source);
	}
	return 0;
}

void aside_sources_take_back(struct aside_job *job, uint32_t source)
{
	job->unserved--;
	job->lost -= job->lost && !aside_sources_is_spared(job, source);
}

int aside_sources_finish(struct aside_job *job, unsigned first, struct hd_error *err)
{
	int rc = 0;

	for (unsigned lane = first; !rc && job->waiting_count && lane < job->paths.lanes; lane++)
		rc = aside_sources_grow(job, lane);
	if (!rc && job->waiting_count && job->paths.lanes < job->paths.most) {
		rc = aside_paths_open_lane(&job->paths);
		if (!rc)
			rc = aside_sources_grow(job, job->paths.lanes - 1);
	}
	if (rc)
		return hd_error_no_memory(err);
	return aside_sources_give_up(job, err);
}
