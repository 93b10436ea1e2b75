/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- copies of tables ---- */

void aside_tables_release(struct aside_tables *tables)
{
	free(tables->lft);
	free(tables->sl);
}

int aside_tables_copy(const struct hd_routes *routes, struct aside_tables *out,
		      struct hd_error *err)
{
	size_t bytes = (size_t)routes->switch_count * routes->stride;

	*out = (struct aside_tables){
	    bytes, malloc(bytes + 1), routes->sl ? malloc(bytes + 1) : NULL, {0}};
	if (!out->lft || (routes->sl && !out->sl)) {
		aside_tables_release(out);
		return hd_error_no_memory(err);
	}
	memcpy(out->lft, routes->lft, bytes);
	if (out->sl)
		memcpy(out->sl, routes->sl, bytes);
	memcpy(out->sl2vl, routes->sl2vl, sizeof(out->sl2vl));
	return 0;
}

int aside_tables_put_back(struct hd_routes *routes, const struct aside_tables *tables,
			  struct hd_error *err)
{
	if (!tables->sl) {
		free(routes->sl);
		routes->sl = NULL;
	} else if (!routes->sl && !(routes->sl = malloc(tables->bytes + 1))) {
		return hd_error_no_memory(err);
	}
	memcpy(routes->lft, tables->lft, tables->bytes);
	if (tables->sl)
		memcpy(routes->sl, tables->sl, tables->bytes);
	memcpy(routes->sl2vl, tables->sl2vl, sizeof(tables->sl2vl));
	return 0;
}

int aside_result_save(const struct aside_job *job, struct aside_result *out, struct hd_error *err)
{
	out->unserved = job->unserved;
	out->lost = job->lost;
	return aside_tables_copy(job->routes, &out->tables, err);
}

int aside_result_take_back(struct aside_job *job, const struct aside_result *result,
			   struct hd_error *err)
{
	job->unserved = result->unserved;
	job->lost = result->lost;
	return aside_tables_put_back(job->routes, &result->tables, err);
}

/* ---- columns that are taken over: the columns ---- */

static struct aside_target *list_port(const struct hd_fabric *fabric, uint32_t port,
				      struct aside_target like, struct aside_target *at)
{
	for (uint32_t i = 0; i < hd_port_lid_count(fabric, port); i++) {
		*at = like;
		at++->lid = fabric->lid[port] + i;
	}
	return at;
}

int aside_adopt_list(struct aside_job *job, const struct aside_target **out, uint32_t *count)
{
	const struct hd_fabric *fabric = job->fabric;
	struct aside_target *list =
	    hd_arena_alloc(&job->paths.arena, fabric->lid_count, sizeof(*list));
	struct aside_target *at = list;

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; job->paths.guarded && i < fabric->host_count; i++)
		at = list_port(fabric, fabric->host_port[i],
			       (struct aside_target){.sw = fabric->host_switch[i],
						     .port = fabric->host_switch_port[i],
						     .host = true},
			       at);
	for (uint32_t i = 0; i < fabric->aside_count; i++)
		at = list_port(fabric, fabric->aside_port[i],
			       (struct aside_target){.sw = fabric->aside_switch[i],
						     .port = fabric->aside_switch_port[i]},
			       at);
	*out = list;
	*count = (uint32_t)(at - list);
	return 0;
}

int aside_adopt_init(struct aside_adopter *adopter, struct aside_job *job)
{
	adopter->job = job;
	adopter->broken =
	    hd_arena_alloc(&job->paths.arena, job->fabric->switch_count, sizeof(*adopter->broken));
	return adopter->broken ? 0 : -ENOMEM;
}

bool aside_adopt_is_source(const struct aside_job *job, const struct aside_target *target,
			   uint32_t sw)
{
	return sw != target->sw && job->paths.sends[sw] &&
	       !(target->host && hd_has_hosts(job->fabric, sw)) &&
	       job->component[sw] == job->component[target->sw];
}

void aside_adopt_begin(struct aside_adopter *adopter, const struct aside_target *target)
{
	struct aside_job *job = adopter->job;

	aside_paths_begin(&job->paths, target->lid, target->sw);
	if (target->host)
		aside_hosts_fix(job);
	job->waiting_count = 0;
	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++)
		if (aside_adopt_is_source(job, target, sw))
			job->waiting[job->waiting_count++] = sw;
}

/* ---- entries ---- */

/* Takes over the entries of a whole path; it ends where there is a next hop already. */
static void take_path(struct aside_adopter *adopter, const struct hd_routes *tables, uint32_t lid,
		      uint32_t sw)
{
	struct aside_paths *paths = &adopter->job->paths;
	uint32_t steps = 0;

	while (sw != paths->destination && paths->next[sw] == HD_NONE && !adopter->broken[sw]) {
		uint32_t link = aside_paths_link(paths, sw, hd_routes_port(tables, sw, lid));
		adopter->broken[sw] = true; /* until the path is known: so a loop ends */
		if (link == HD_NONE)
			return;
		paths->path[steps++] = link;
		sw = paths->fabric->isl_to[link];
	}
	if (sw != paths->destination && paths->next[sw] == HD_NONE)
		return;
	while (steps--)
		paths->next[hd_isl_from(paths->fabric, paths->path[steps])] = paths->path[steps];
}

void aside_adopt_path(struct aside_adopter *adopter, const struct hd_routes *tables, uint32_t lid,
		      uint32_t sw)
{
	memset(adopter->broken, 0, adopter->job->fabric->switch_count * sizeof(*adopter->broken));
	take_path(adopter, tables, lid, sw);
}

void aside_adopt(struct aside_adopter *adopter, const struct hd_routes *tables, uint32_t lid)
{
	uint32_t switches = adopter->job->fabric->switch_count;

	if (!tables || !lid)
		return;
	memset(adopter->broken, 0, switches * sizeof(*adopter->broken));
	for (uint32_t sw = 0; sw < switches; sw++)
		take_path(adopter, tables, lid, sw);
}

void aside_adopt_write(struct aside_adopter *adopter, const struct aside_target *target)
{
	struct aside_job *job = adopter->job;

	aside_paths_fill(&job->paths);
	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++) {
		uint32_t link = job->paths.next[sw];
		hd_routes_row(job->routes, sw)[target->lid] =
		    link == HD_NONE ? HD_NO_PORT : job->fabric->isl_port[link];
	}
	hd_routes_row(job->routes, target->sw)[target->lid] = target->port;
}

void aside_adopt_note(struct aside_adopter *adopter, const struct aside_target *targets,
		      uint32_t count)
{
	struct aside_job *job = adopter->job;

	aside_paths_try(&job->paths);
	for (uint32_t i = 0; i < count; i++) {
		aside_adopt_begin(adopter, &targets[i]);
		aside_adopt(adopter, job->routes, targets[i].lid);
		aside_sources_note(job);
	}
	aside_paths_keep(&job->paths);
}
