/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where every switch has an aggregation node, every switch sends to every host. So at first all
 * entries for hosts are taken for traffic, row by row, which is fast. If that closes no credit
 * loop, as in every intact tree, all those paths are proved at once. Otherwise the paths between
 * hosts are collected one by one, and those from other switches are added as far as the graph takes
 * them.
 */
#include "aside.h"
#include "aside_bulk.h"
#include "aside_hosts.h"
#include "aside_repair.h"
#include "aside_return.h"
#include "aside_sources.h"
#include "aside_tables.h"

#include <errno.h>
#include <stdlib.h>

/* ---- columns of adapters that are set aside ---- */

struct aside_column {
	uint32_t lid, sw;
	uint8_t port;
};

static void begin(struct aside_job *job, const struct aside_column *column)
{
	const struct aside_paths *paths = &job->paths;

	aside_paths_begin(&job->paths, column->lid, column->sw);
	job->waiting_count = 0;
	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++) {
		if (sw == column->sw || !paths->sends[sw])
			continue;
		if (job->component[sw] == job->component[column->sw])
			job->waiting[job->waiting_count++] = sw;
	}
}

/* The entries for another LID. */
static void propose(struct aside_job *job, uint32_t lid)
{
	struct aside_paths *paths = &job->paths;
	const uint32_t *component = job->component;

	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++)
		if (sw != paths->destination && component[sw] == component[paths->destination])
			paths->next[sw] =
			    aside_paths_link(paths, sw, hd_routes_port(job->routes, sw, lid));
}

static void write_column(struct aside_job *job, const struct aside_column *column)
{
	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++) {
		uint32_t link = job->paths.next[sw];
		hd_routes_row(job->routes, sw)[column->lid] =
		    link == HD_NONE ? HD_NO_PORT : job->fabric->isl_port[link];
	}
	hd_routes_row(job->routes, column->sw)[column->lid] = column->port;
}

/* How to route the columns. */
struct attempt {
	bool turns; /* turn only where aside_turns allows it */
	bool grow; /* look for other next hops where all that is refused */
};

static int route_column(struct aside_job *job, const struct attempt *attempt,
			const struct aside_column *column, struct hd_error *err)
{
	uint32_t own = job->fabric->lid[job->fabric->port_base[column->sw]];
	int rc = 0;

	begin(job, column);
	if (job->apart) {
		rc = aside_sources_finish(job, job->paths.lanes - 1, err);
		aside_paths_fill(&job->paths);
		write_column(job, column);
		return rc;
	}
	if (own)
		propose(job, own);
	if (attempt->turns)
		aside_turns_apply(&job->turns, job->component, &job->paths);
	if (aside_sources_settle(job))
		return hd_error_no_memory(err);
	if (attempt->grow)
		rc = aside_sources_finish(job, 0, err);
	else
		rc = aside_sources_give_up(job, err);
	aside_paths_fill(&job->paths);
	if (!rc)
		write_column(job, column);
	return rc;
}

static uint32_t list_columns(const struct hd_fabric *fabric, struct aside_column *columns)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < fabric->aside_count; i++) {
		uint32_t port = fabric->aside_port[i];
		for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++)
			columns[count++] = (struct aside_column){fabric->lid[port] + offset,
								 fabric->aside_switch[i],
								 fabric->aside_switch_port[i]};
	}
	return count;
}

/* Routes all columns, or stops at the first source without a path. */
static int attempt_columns(struct aside_job *job, const struct attempt *attempt,
			   struct aside_column *columns, uint32_t count, bool to_the_end,
			   struct hd_error *err)
{
	uint64_t lost = job->lost;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < count && (to_the_end || job->lost == lost); i++)
		rc = route_column(job, attempt, &columns[i], err);
	return rc;
}

/* The engine's own paths to switches come first, then turns in few places, at last whatever the
 * lanes take. *done is false where that leaves something out and the job may not give it up. */
static int route_columns(struct aside_job *job, bool *done, struct hd_error *err)
{
	static const struct attempt attempts[] = {{false, false}, {true, false}, {true, true}};
	const unsigned count = sizeof(attempts) / sizeof(attempts[0]);
	struct aside_column *columns =
	    hd_arena_alloc(&job->paths.arena, job->fabric->lid_count, sizeof(*columns));
	uint32_t column_count = columns ? list_columns(job->fabric, columns) : 0;
	const uint64_t unserved = job->unserved, lost = job->lost;
	int rc = columns ? 0 : hd_error_no_memory(err);

	*done = false;
	for (unsigned i = 0; !rc && !*done && i < count; i++) {
		bool to_the_end = i + 1 == count && job->last_way;
		job->unserved = unserved;
		job->lost = lost;
		aside_paths_try(&job->paths);
		rc = attempt_columns(job, &attempts[i], columns, column_count, to_the_end, err);
		*done = job->lost == lost || to_the_end;
		if (!rc && *done)
			aside_paths_keep(&job->paths);
		else
			aside_paths_undo(&job->paths);
	}
	return rc;
}

/* ---- all of it ---- */

/* What the lane assignment left behind where it has no traffic. */
static void clear_levels(struct aside_job *job)
{
	const struct hd_fabric *fabric = job->fabric;
	struct hd_routes *routes = job->routes;

	if (!job->had_levels) {
		free(routes->sl);
		routes->sl = NULL;
		memset(routes->sl2vl, 0, sizeof(routes->sl2vl));
		return;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint8_t *row = routes->sl + (size_t)sw * routes->stride;
		if (fabric->host_base[sw] == fabric->host_base[sw + 1])
			memset(row, 0, routes->stride);
		for (uint32_t i = 0; i < fabric->aside_count; i++) {
			uint32_t port = fabric->aside_port[i];
			memset(row + fabric->lid[port], 0, hd_port_lid_count(fabric, port));
		}
	}
}

static unsigned lanes_used(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t bits = routes->sl ? hd_routes_lanes(fabric, routes) : 1;

	return bits ? 32u - (unsigned)__builtin_clz(bits) : 1;
}

static int init_paths(struct aside_job *job, unsigned lanes, unsigned most, bool guarded)
{
	const struct hd_fabric *fabric = job->fabric;
	struct hd_arena *arena = &job->paths.arena;

	if (aside_paths_init(&job->paths, fabric, lanes, most, guarded))
		return -ENOMEM;
	job->waiting = hd_arena_alloc(arena, fabric->switch_count, sizeof(*job->waiting));
	job->component = hd_arena_alloc(arena, fabric->switch_count, sizeof(*job->component));
	return hd_arena_check(arena) ? -ENOMEM : hd_tree_components(fabric, job->component);
}

static int begin_job(struct aside_job *job, unsigned lanes, bool guarded)
{
	const struct hd_fabric *fabric = job->fabric;

	clear_levels(job);
	unsigned used = lanes_used(fabric, job->routes);
	unsigned most = used < lanes ? used + 1 : used;
	for (unsigned level = used; level < 16; level++)
		job->routes->sl2vl[level] = 0;
	if (job->stay && lanes_used(fabric, job->request->previous) > used)
		used = most;
	job->unserved = job->lost = 0;
	return init_paths(job, used, most, guarded);
}

/* Orders what the paths between hosts depend on. *done is false where that is a credit loop which
 * other paths may have closed. */
static int order(struct aside_job *job, bool *done, struct hd_error *err)
{
	if (aside_paths_orient(&job->paths, job->up) ||
	    aside_turns_find(&job->paths, job->choice, &job->turns))
		return hd_error_no_memory(err);
	int rc = aside_paths_order(&job->paths);
	if (rc == -ELOOP && job->thorough)
		job->paths.guarded = false;
	*done = rc != -ELOOP || job->thorough;
	return rc == -ENOMEM ? hd_error_no_memory(err) : 0;
}

static int route(struct aside_job *job, bool *done, struct hd_error *err)
{
	int rc = aside_hosts_collect(job, err);

	if (!rc)
		rc = order(job, done, err);
	if (rc || !*done)
		return rc;
	if (job->apart && job->paths.lanes < job->paths.most && aside_paths_open_lane(&job->paths))
		return hd_error_no_memory(err);
	if (job->thorough && job->paths.guarded)
		rc = aside_hosts_settle(job, err);
	*done = !job->lost || job->last_way;
	return rc || !*done ? rc : route_columns(job, done, err);
}

static int try_way(struct aside_job *job, unsigned lanes, bool guarded, bool *done,
		   struct hd_error *err)
{
	int rc = begin_job(job, lanes, guarded) ? hd_error_no_memory(err) : route(job, done, err);

	aside_paths_release(&job->paths);
	return rc;
}

/* The quick way first, then path by path, then with turns in few places only, for two opinions of
 * what is above what and for several places. */
static int try_ways(struct aside_job *job, unsigned lanes, bool guarded, bool *done,
		    struct hd_error *err)
{
	const unsigned ways = 2 + 2 * ASIDE_TURNS_CHOICES;
	unsigned used = lanes_used(job->fabric, job->routes);
	int rc = 0;

	for (unsigned way = job->routes->sl ? 1 : 0; !rc && !*done && way < ways; way++) {
		job->thorough = way > 0;
		job->turning = way > 1;
		job->up = way > 1 && way % 2 ? ASIDE_UP_LEVELS : ASIDE_UP_IN_USE;
		job->choice = way > 1 ? way / 2 - 1 : 0;
		job->last_way = way + 1 == ways && used >= lanes;
		rc = try_way(job, lanes, guarded, done, err);
	}
	if (rc || *done)
		return rc;
	job->up = ASIDE_UP_ROOT;
	job->apart = job->last_way = true;
	return try_way(job, lanes, guarded, done, err);
}

static int try_bulk(struct aside_job *job, bool guarded, bool *done, struct hd_error *err)
{
	int rc = aside_bulk_route(job->request, guarded, job->stay, job->routes, done, err);

	if (!rc && *done) {
		clear_levels(job);
		job->unserved = job->lost = 0;
	}
	return rc;
}

/* ---- with tables in place ---- */

static int collect_and_repair(struct aside_job *job, struct hd_error *err)
{
	bool done;
	int rc = aside_hosts_collect(job, err);

	if (!rc)
		rc = order(job, &done, err);
	return rc ? rc : aside_repair(job, err);
}

static int repair(struct aside_job *job, unsigned lanes, bool guarded, struct hd_error *err)
{
	int rc =
	    begin_job(job, lanes, guarded) ? hd_error_no_memory(err) : collect_and_repair(job, err);

	aside_paths_release(&job->paths);
	return rc;
}

/* What the next sweep would change, with these tables in place, changes at once. */
static int repair_again(struct aside_job *job, unsigned lanes, bool guarded, bool *rests,
			struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	struct hd_route_request wanted = *request;
	struct hd_routes again = *request->previous;
	struct aside_tables result;
	const uint64_t lost = job->lost;
	int rc = aside_tables_copy(job->routes, &result, err);

	if (rc)
		return rc;
	again.lft = result.lft;
	again.sl = result.sl;
	memcpy(again.sl2vl, result.sl2vl, sizeof(again.sl2vl));
	wanted.previous = &again;
	job->request = &wanted;
	rc = repair(job, lanes, guarded, err);
	job->request = request;
	*rests = !hd_routes_count_changes(&again, job->routes);
	job->lost = lost < job->unserved ? lost : job->unserved;
	aside_tables_release(&result);
	return rc;
}

#define REPAIRS_MOST 4u

/* In bulk, or path by path. */
static int route_in_place(struct aside_job *job, unsigned lanes, bool guarded, bool *in_bulk,
			  struct hd_error *err)
{
	bool rests = false;

	job->stay = job->thorough = true;
	int rc = try_bulk(job, guarded, in_bulk, err);
	if (rc || *in_bulk)
		return rc;
	rc = repair(job, lanes, guarded, err);
	rests = !rc && !hd_routes_count_changes(job->request->previous, job->routes);
	for (unsigned i = 0; !rc && !rests && i < REPAIRS_MOST; i++)
		rc = repair_again(job, lanes, guarded, &rests, err);
	return rc;
}

/* In bulk, then path by path. */
static int route_afresh(struct aside_job *job, unsigned lanes, bool guarded, struct hd_error *err)
{
	bool done = false;
	int rc = try_bulk(job, guarded, &done, err);

	return rc || done ? rc : try_ways(job, lanes, guarded, &done, err);
}

/* Without tables in place, if that serves more sources. */
static int route_better(struct aside_job *job, const struct aside_way *way,
			const struct aside_tables *own, struct hd_error *err)
{
	const uint64_t unserved = job->unserved, lost = job->lost;
	struct aside_tables in_place;
	int rc = aside_tables_copy(job->routes, &in_place, err);

	if (rc)
		return rc;
	rc = aside_tables_put_back(job->routes, own, err);
	job->stay = false;
	if (!rc)
		rc = route_afresh(job, way->lanes, way->guarded, err);
	if (!rc && job->unserved >= unserved) {
		rc = aside_tables_put_back(job->routes, &in_place, err);
		job->unserved = unserved;
		job->lost = lost;
	}
	aside_tables_release(&in_place);
	return rc;
}

static int order_and_return(struct aside_job *job, struct hd_error *err)
{
	int rc = aside_hosts_collect(job, err);

	if (!rc)
		rc = aside_paths_order(&job->paths);
	/* with credit loops between hosts nothing can be proved */
	return rc == -ELOOP ? 0 : rc ? hd_error_no_memory(err) : aside_return(job, err);
}

static int give_back(struct aside_job *job, struct hd_error *err)
{
	unsigned lanes = lanes_used(job->fabric, job->routes);

	job->thorough = true;
	int rc = init_paths(job, lanes, lanes, true) ? hd_error_no_memory(err)
						     : order_and_return(job, err);

	aside_paths_release(&job->paths);
	return rc;
}

/* With tables in place, and perhaps without them if that leaves out what needs a path. */
static int route_again(struct aside_job *job, const struct aside_way *way, struct hd_error *err)
{
	bool in_bulk = false;
	struct aside_tables own;
	int rc = aside_tables_copy(job->routes, &own, err);

	if (rc)
		return rc;
	rc = route_in_place(job, way->lanes, way->guarded, &in_bulk, err);
	if (!rc && (way->all ? job->unserved : job->lost))
		rc = route_better(job, way, &own, err);
	if (!rc && !in_bulk && way->guarded)
		rc = give_back(job, err);
	aside_tables_release(&own);
	return rc;
}

int aside_route(const struct hd_route_request *request, const struct aside_way *way,
		struct hd_routes *routes, struct aside_left *left, struct hd_error *err)
{
	struct aside_job job = {.request = request, .fabric = request->fabric, .routes = routes};
	int rc = 0;

	job.had_levels = routes->sl != NULL;
	if (!job.fabric->aside_count)
		rc = 0;
	else if (!request->previous)
		rc = route_afresh(&job, way->lanes, way->guarded, err);
	else
		rc = route_again(&job, way, err);
	*left = (struct aside_left){job.unserved, job.lost};
	return rc;
}
