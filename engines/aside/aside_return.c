/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_return.h"
#include "aside_adopt.h"
#include "aside_sources.h"

/* Paths that are tried, times switches: a bound on the work while OpenSM waits. */
#define WORK_MOST 10000000u

struct giving_back {
	struct aside_job *job;
	struct aside_adopter adopter;
	uint32_t tries_left;
	bool any; /* some path came back */
	uint8_t *levels; /* [switch_count] service levels of a column while a path is tried */
};

static uint8_t *level_of(const struct aside_job *job, const struct aside_target *target,
			 uint32_t sw)
{
	return &job->routes->sl[(size_t)sw * job->routes->stride + target->lid];
}

static void note_levels(struct giving_back *back, const struct aside_target *target)
{
	const struct aside_job *job = back->job;

	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++)
		back->levels[sw] = job->routes->sl ? *level_of(job, target, sw) : 0;
}

static void put_levels_back(struct giving_back *back, const struct aside_target *target)
{
	const struct aside_job *job = back->job;

	for (uint32_t sw = 0; job->routes->sl && sw < job->fabric->switch_count; sw++)
		*level_of(job, target, sw) = back->levels[sw];
}

static bool has_hole(const struct aside_job *job, const struct aside_target *target, uint32_t sw)
{
	return hd_routes_port(job->routes, sw, target->lid) == HD_NO_PORT;
}

/* Whether all sources that wait for a path have none in the routes either. */
static bool only_holes_wait(const struct aside_job *job, const struct aside_target *target)
{
	for (uint32_t i = 0; i < job->waiting_count; i++)
		if (!has_hole(job, target, job->waiting[i]) || job->paths.fixed[job->waiting[i]])
			return false;
	return true;
}

static void accept(struct giving_back *back, const struct aside_target *target)
{
	struct aside_job *job = back->job;

	for (uint32_t i = 0; i < job->waiting_count; i++)
		job->paths.next[job->waiting[i]] = HD_NONE;
	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++)
		if (aside_adopt_is_source(job, target, sw) && has_hole(job, target, sw) &&
		    job->paths.next[sw] != HD_NONE)
			aside_sources_take_back(job, sw);
	aside_adopt_write(&back->adopter, target);
	aside_paths_keep(&job->paths);
	back->any = true;
}

static void refuse(struct giving_back *back, const struct aside_target *target)
{
	put_levels_back(back, target);
	aside_paths_undo(&back->job->paths);
}

static int return_path(struct giving_back *back, const struct aside_target *target, uint32_t sw,
		       struct hd_error *err)
{
	struct aside_job *job = back->job;

	aside_adopt_begin(&back->adopter, target);
	aside_adopt_path(&back->adopter, job->request->previous, target->lid, sw);
	if (job->paths.next[sw] == HD_NONE)
		return 0; /* the path that was in place is cut */
	back->tries_left--;
	aside_adopt(&back->adopter, job->routes, target->lid);
	note_levels(back, target);
	aside_paths_try(&job->paths);
	if (aside_sources_settle(job))
		return hd_error_no_memory(err);
	if (only_holes_wait(job, target))
		accept(back, target);
	else
		refuse(back, target);
	return 0;
}

/* Whether an entry is neither that of the tables in place nor that of the baseline. */
static bool has_moved(const struct aside_job *job, uint32_t lid, uint32_t sw)
{
	const struct hd_route_request *request = job->request;
	uint8_t before = hd_routes_port(request->previous, sw, lid);
	uint8_t now = hd_routes_port(job->routes, sw, lid);

	return before != HD_NO_PORT && now != before && now != HD_NO_PORT &&
	       (!request->baseline || now != hd_routes_port(request->baseline, sw, lid));
}

static int return_column(struct giving_back *back, const struct aside_target *target,
			 struct hd_error *err)
{
	int rc = hd_go_on_check(&back->job->request->go_on, err);

	for (uint32_t sw = 0; !rc && sw < back->job->fabric->switch_count && back->tries_left; sw++)
		if (has_moved(back->job, target->lid, sw))
			rc = return_path(back, target, sw, err);
	return rc;
}

/* ---- is there anything to do ---- */

/* Whether the path in place between two switches is not cut. */
static bool is_whole(const struct aside_job *job, uint32_t lid, uint32_t from, uint32_t to)
{
	const struct hd_fabric *fabric = job->fabric;
	uint32_t sw = from;

	for (uint32_t steps = 0; sw != to && steps < fabric->switch_count; steps++) {
		uint8_t port = hd_routes_port(job->request->previous, sw, lid);
		uint32_t link = aside_paths_link(&job->paths, sw, port);
		if (link == HD_NONE)
			return false;
		sw = fabric->isl_to[link];
	}
	return sw == to;
}

/* Whether a switch has a whole path in place that is not in the routes. */
static bool may_return_at(const struct aside_job *job, uint32_t sw)
{
	const struct hd_fabric *fabric = job->fabric;

	for (uint32_t i = 0; i < fabric->aside_count; i++) {
		uint32_t port = fabric->aside_port[i], to = fabric->aside_switch[i];
		for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++) {
			uint32_t lid = fabric->lid[port] + offset;
			if (has_moved(job, lid, sw) && is_whole(job, lid, sw, to))
				return true;
		}
	}
	return false;
}

bool aside_return_has_work(const struct aside_job *job)
{
	const struct hd_routes *previous = job->request->previous;

	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++)
		if (memcmp(hd_routes_row(job->routes, sw), hd_routes_row(previous, sw),
			   job->fabric->lid_count) != 0 &&
		    may_return_at(job, sw))
			return true;
	return false;
}

/* ---- all columns ---- */

int aside_return(struct aside_job *job, bool *any, struct hd_error *err)
{
	struct giving_back back = {.job = job, .tries_left = WORK_MOST / job->fabric->switch_count};
	const struct aside_target *targets = NULL;
	uint32_t count = 0;
	int rc = 0;

	back.levels =
	    hd_arena_alloc(&job->paths.arena, job->fabric->switch_count, sizeof(*back.levels));
	if (!back.levels || aside_adopt_init(&back.adopter, job) ||
	    aside_adopt_list(job, &targets, &count))
		return hd_error_no_memory(err);
	aside_adopt_note(&back.adopter, targets, count);
	for (uint32_t i = 0; !rc && i < count; i++)
		if (!targets[i].host)
			rc = return_column(&back, &targets[i], err);
	*any = back.any;
	return rc;
}
