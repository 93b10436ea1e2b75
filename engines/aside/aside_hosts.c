/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_job.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <stdlib.h>

/* ---- sources: service levels ---- */

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

/* ---- paths to hosts ---- */

#define BLOCK 64u /* LIDs taken together: a cache line of each switch's row */

/* LIDs of hosts in one block, as a column for each. */
struct aside_host_block {
	uint32_t first, count;
	uint8_t *ports; /* [BLOCK][switch_count] */
};

/* ---- all entries at once ---- */

struct rows {
	struct aside_job *job;
	const bool *of_host; /* [lid_count] */
};

/* Dependencies of one switch's entries. Only this switch writes those of its own links. */
static void collect_row(const struct rows *rows, uint32_t sw)
{
	struct aside_job *job = rows->job;
	const uint8_t *row = hd_routes_row(job->routes, sw);

	for (uint32_t lid = 1; lid < job->routes->lid_count; lid++) {
		uint32_t link =
		    rows->of_host[lid] ? aside_paths_link(&job->paths, sw, row[lid]) : HD_NONE;
		if (link == HD_NONE)
			continue;
		uint32_t to = job->fabric->isl_to[link];
		uint32_t next =
		    aside_paths_link(&job->paths, to, hd_routes_row(job->routes, to)[lid]);
		if (next != HD_NONE)
			hd_dependencies_collect(&job->paths.graph[0], link, next);
	}
}

static void collect_rows(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	(void)worker;
	for (uint32_t sw = begin; sw < end; sw++)
		collect_row(context, sw);
}

/* ---- entries that are missing ---- */

/* Only what is set aside sends from there. */
static bool has_only_aside(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->aside_base[sw] < fabric->aside_base[sw + 1] && !hd_has_hosts(fabric, sw);
}

static bool find_holes_at(const struct hd_fabric *fabric, const uint8_t *row, uint32_t host,
			  bool *mark)
{
	uint32_t port = fabric->host_port[host], first = fabric->lid[port];
	bool any = false;

	for (uint32_t lid = first; lid < first + hd_port_lid_count(fabric, port); lid++) {
		if (row[lid] != HD_NO_PORT)
			continue;
		any = true;
		if (mark)
			mark[lid] = true;
	}
	return any;
}

bool aside_hosts_find_holes(const struct hd_fabric *fabric, const struct hd_routes *routes,
			    const uint32_t *component, bool *mark)
{
	bool any = false;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(routes, sw);
		for (uint32_t host = 0; has_only_aside(fabric, sw) && host < fabric->host_count;
		     host++)
			if (component[sw] == component[fabric->host_switch[host]])
				any |= find_holes_at(fabric, row, host, mark);
	}
	return any;
}

/* ---- paths between hosts ---- */

static void load_block(const struct aside_job *job, struct aside_host_block *block, uint32_t first)
{
	uint32_t switches = job->fabric->switch_count, left = job->routes->lid_count - first;

	block->first = first;
	block->count = left < BLOCK ? left : BLOCK;
	for (uint32_t sw = 0; sw < switches; sw++) {
		const uint8_t *row = hd_routes_row(job->routes, sw) + first;
		for (uint32_t i = 0; i < block->count; i++)
			block->ports[(size_t)i * switches + sw] = row[i];
	}
}

/* Puts the entries for a host's LID into the column. False: no host has the LID. */
static bool load_column(struct aside_job *job, const struct aside_host_block *block, uint32_t lid)
{
	const struct hd_fabric *fabric = job->fabric;
	const uint8_t *ports = block->ports + (size_t)(lid - block->first) * fabric->switch_count;
	uint32_t owner = fabric->lid_owner[lid], destination;
	uint8_t port;

	if (owner == HD_NONE || fabric->aside[owner] ||
	    !hd_fabric_lid_destination(fabric, lid, &destination, &port) || !port)
		return false;
	aside_paths_begin(&job->paths, lid, destination);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (sw != destination)
			job->paths.next[sw] = aside_paths_link(&job->paths, sw, ports[sw]);
	return true;
}

/* The steps from `source` on that this lane has not seen in this column. */
static void collect_path(struct aside_job *job, unsigned lane, uint32_t source)
{
	struct aside_paths *paths = &job->paths;
	uint32_t sw = source;

	while (sw != paths->destination && paths->known[lane][sw] != paths->visit &&
	       paths->next[sw] != HD_NONE) {
		uint32_t link = paths->next[sw];
		paths->known[lane][sw] = paths->visit;
		sw = paths->fabric->isl_to[link];
		if (sw != paths->destination && paths->next[sw] != HD_NONE)
			hd_dependencies_collect(&paths->graph[lane], link, paths->next[sw]);
	}
}

static void collect_column(struct aside_job *job, uint32_t lid)
{
	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++)
		if (hd_has_hosts(job->fabric, sw))
			collect_path(job, hd_routes_vl(job->routes, sw, lid), sw);
}

/* ---- paths from other switches ---- */

void aside_hosts_fix(struct aside_job *job)
{
	struct aside_paths *paths = &job->paths;

	for (uint32_t source = 0; source < job->fabric->switch_count; source++) {
		uint32_t sw = source;
		while (hd_has_hosts(job->fabric, source) && sw != paths->destination &&
		       !paths->fixed[sw]) {
			uint8_t port = hd_routes_port(job->routes, sw, paths->lid);
			if (paths->next[sw] == HD_NONE)
				paths->next[sw] = aside_paths_link(paths, sw, port);
			if (paths->next[sw] == HD_NONE)
				break;
			paths->fixed[sw] = true;
			sw = job->fabric->isl_to[paths->next[sw]];
		}
	}
}

static void list_sources(struct aside_job *job)
{
	const struct hd_fabric *fabric = job->fabric;
	uint32_t destination = job->paths.destination;

	job->waiting_count = 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (has_only_aside(fabric, sw) && sw != destination &&
		    job->component[sw] == job->component[destination])
			job->waiting[job->waiting_count++] = sw;
}

static void write_changes(struct aside_job *job)
{
	const struct aside_paths *paths = &job->paths;

	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++) {
		uint32_t link = paths->next[sw];
		if (sw != paths->destination)
			hd_routes_row(job->routes, sw)[paths->lid] =
			    link == HD_NONE ? HD_NO_PORT : job->fabric->isl_port[link];
	}
}

static int settle_column(struct aside_job *job, struct hd_error *err)
{
	int rc = 0;

	aside_hosts_fix(job);
	list_sources(job);
	if (job->turning)
		aside_turns_apply(&job->turns, job->component, &job->paths);
	if (aside_sources_settle(job))
		return hd_error_no_memory(err);
	rc = aside_sources_finish(job, 0, err);
	aside_paths_fill(&job->paths);
	if (!rc)
		write_changes(job);
	return rc;
}

/* ---- all columns ---- */

typedef int column_fn(struct aside_job *job, const struct aside_host_block *block, uint32_t lid,
		      struct hd_error *err);

static int each_column(struct aside_job *job, column_fn *visit, struct hd_error *err)
{
	uint32_t lids = job->routes->lid_count;
	int rc = 0;

	for (uint32_t lid = 1; !rc && lid < lids; lid++) {
		if (lid == 1 || lid % BLOCK == 0)
			load_block(job, job->block, lid / BLOCK * BLOCK);
		rc = visit(job, job->block, lid, err);
	}
	return rc;
}

static int visit_collect(struct aside_job *job, const struct aside_host_block *block, uint32_t lid,
			 struct hd_error *err)
{
	(void)err;
	if (load_column(job, block, lid))
		collect_column(job, lid);
	return 0;
}

static int visit_settle(struct aside_job *job, const struct aside_host_block *block, uint32_t lid,
			struct hd_error *err)
{
	return load_column(job, block, lid) ? settle_column(job, err) : 0;
}

static int allocate(struct aside_job *job)
{
	struct hd_arena *arena = &job->paths.arena;

	job->block = hd_arena_alloc(arena, 1, sizeof(*job->block));
	if (hd_arena_check(arena))
		return -ENOMEM;
	job->block->ports = hd_arena_alloc(arena, BLOCK, job->fabric->switch_count);
	return hd_arena_check(arena);
}

/* All entries for hosts. */
static int collect_all(struct aside_job *job)
{
	const struct hd_fabric *fabric = job->fabric;
	bool *of_host = hd_arena_alloc(&job->paths.arena, fabric->lid_count, sizeof(*of_host));
	struct rows rows = {job, of_host};

	if (!of_host)
		return -ENOMEM;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		memset(of_host + fabric->lid[port], 1, hd_port_lid_count(fabric, port));
	}
	hd_parallel_for(job->request->threads, fabric->switch_count, 16, collect_rows, &rows);
	return 0;
}

int aside_hosts_collect(struct aside_job *job, struct hd_error *err)
{
	if (!job->thorough)
		return collect_all(job) ? hd_error_no_memory(err) : 0;
	if (allocate(job))
		return hd_error_no_memory(err);
	each_column(job, visit_collect, err);
	/* `known` has other values while paths are collected than afterwards */
	for (unsigned lane = 0; lane < job->paths.lanes; lane++)
		memset(job->paths.known[lane], 0,
		       job->fabric->switch_count * sizeof(**job->paths.known));
	job->paths.visit = 0;
	return 0;
}

int aside_hosts_settle(struct aside_job *job, struct hd_error *err)
{
	return each_column(job, visit_settle, err);
}
