/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where every switch has an aggregation node, every switch sends to every host. So at first all
 * entries for hosts are taken for traffic, row by row, which is fast. If that closes no credit
 * loop, as in every intact tree, all those paths are proved at once. Otherwise the paths between
 * hosts are collected one by one, and those from other switches are added as far as the graph takes
 * them.
 */
#include "aside_job.h"

#include <errno.h>
#include <stdlib.h>

/* ---- columns of adapters that are set aside ---- */

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

/* How to route the columns. */
struct attempt {
	bool turns; /* turn only where aside_turns allows it */
	bool grow; /* look for other next hops where all that is refused */
};

static int route_column(struct aside_job *job, const struct attempt *attempt,
			struct aside_adopter *adopter, const struct aside_target *target,
			struct hd_error *err)
{
	uint32_t own = job->fabric->lid[job->fabric->port_base[target->sw]];
	int rc = 0;

	aside_adopt_begin(adopter, target);
	if (!job->apart) {
		if (own)
			propose(job, own);
		if (attempt->turns)
			aside_turns_apply(&job->turns, job->component, &job->paths);
		if (aside_sources_settle(job))
			return hd_error_no_memory(err);
	}
	if (job->apart)
		rc = aside_sources_finish(job, job->paths.lanes - 1, err);
	else if (attempt->grow)
		rc = aside_sources_finish(job, 0, err);
	else
		rc = aside_sources_give_up(job, err);
	if (!rc)
		aside_adopt_write(adopter, target);
	return rc;
}

/* What to route: the targets that are no hosts. */
struct columns {
	struct aside_adopter adopter;
	const struct aside_target *targets; /* [count] */
	uint32_t count;
};

/* Routes all columns, or stops at the first source without a path. */
static int attempt_columns(struct aside_job *job, const struct attempt *attempt,
			   struct columns *columns, bool to_the_end, struct hd_error *err)
{
	uint64_t lost = job->lost;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < columns->count && (to_the_end || job->lost == lost); i++)
		if (!columns->targets[i].host)
			rc = route_column(job, attempt, &columns->adopter, &columns->targets[i],
					  err);
	return rc;
}

/* The engine's own paths to switches come first, then turns in few places, at last whatever the
 * lanes take. *done is false where that leaves something out and the job may not give it up. */
static int route_columns(struct aside_job *job, bool *done, struct hd_error *err)
{
	static const struct attempt attempts[] = {{false, false}, {true, false}, {true, true}};
	const unsigned count = sizeof(attempts) / sizeof(attempts[0]);
	const uint64_t unserved = job->unserved, lost = job->lost;
	struct columns columns;
	int rc = 0;

	*done = false;
	if (aside_adopt_init(&columns.adopter, job) ||
	    aside_adopt_list(job, &columns.targets, &columns.count))
		return hd_error_no_memory(err);
	for (unsigned i = 0; !rc && !*done && i < count; i++) {
		bool to_the_end = i + 1 == count && job->last_way;
		job->unserved = unserved;
		job->lost = lost;
		aside_paths_try(&job->paths);
		rc = attempt_columns(job, &attempts[i], &columns, to_the_end, err);
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

unsigned aside_ways_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t bits = routes->sl ? hd_routes_lanes(fabric, routes) : 1;

	return bits ? 32u - (unsigned)__builtin_clz(bits) : 1;
}

int aside_ways_init(struct aside_job *job, unsigned lanes, unsigned most, bool guarded)
{
	const struct hd_fabric *fabric = job->fabric;
	struct hd_arena *arena = &job->paths.arena;

	if (aside_paths_init(&job->paths, fabric, lanes, most, guarded))
		return -ENOMEM;
	job->waiting = hd_arena_alloc(arena, fabric->switch_count, sizeof(*job->waiting));
	job->component = hd_arena_alloc(arena, fabric->switch_count, sizeof(*job->component));
	return hd_arena_check(arena) ? -ENOMEM : hd_tree_components(fabric, job->component);
}

int aside_ways_begin(struct aside_job *job, unsigned lanes, bool guarded)
{
	const struct hd_fabric *fabric = job->fabric;

	clear_levels(job);
	unsigned used = aside_ways_lanes(fabric, job->routes);
	unsigned most = used < lanes ? used + 1 : used;
	for (unsigned level = used; level < 16; level++)
		job->routes->sl2vl[level] = 0;
	if (job->stay && aside_ways_lanes(fabric, job->request->previous) > used)
		used = most;
	job->unserved = job->lost = 0;
	return aside_ways_init(job, used, most, guarded);
}

int aside_ways_order(struct aside_job *job, bool *done, struct hd_error *err)
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
	/* all entries at once leave those out that are missing */
	if (!job->thorough &&
	    aside_hosts_find_holes(job->fabric, job->routes, job->component, NULL))
		return 0;
	int rc = aside_hosts_collect(job, err);

	if (!rc)
		rc = aside_ways_order(job, done, err);
	if (rc || !*done)
		return rc;
	if (job->apart && job->paths.lanes < job->paths.most && aside_paths_open_lane(&job->paths))
		return hd_error_no_memory(err);
	if (job->thorough && job->paths.guarded)
		rc = aside_hosts_settle(job, err);
	*done = !job->lost || job->last_way;
	return rc || !*done ? rc : route_columns(job, done, err);
}

static int try_way(struct aside_job *job, const struct aside_way *way, bool *done,
		   struct hd_error *err)
{
	int rc = aside_ways_begin(job, way->lanes, way->guarded) ? hd_error_no_memory(err)
								 : route(job, done, err);

	aside_paths_release(&job->paths);
	return rc;
}

static int order_and_escape(struct aside_job *job, aside_escape_fn *escape, bool *done,
			    struct hd_error *err)
{
	int rc = aside_hosts_collect(job, err);

	if (!rc)
		rc = aside_paths_order(&job->paths);
	/* with credit loops between hosts nothing can be proved */
	if (rc == -ELOOP)
		return 0;
	if (!rc)
		rc = aside_paths_orient(&job->paths, ASIDE_UP_IN_USE);
	return rc ? hd_error_no_memory(err) : escape(job, done, err);
}

int aside_ways_escape(struct aside_job *job, aside_escape_fn *escape, bool *done,
		      struct hd_error *err)
{
	*done = false;
	job->thorough = true;
	int rc = aside_ways_init(job, 1, 1, true) ? hd_error_no_memory(err)
						  : order_and_escape(job, escape, done, err);

	aside_paths_release(&job->paths);
	return rc;
}

bool aside_ways_may_escape(const struct aside_job *job, const struct aside_way *way)
{
	return way->guarded && way->lanes == 1 && !way->all && !job->had_levels;
}

/* The engine's tables again, and paths of a tree where nothing else serves a source. If the escape
 * declines, the last way gives up what it cannot route. */
static int escape_or_give_up(struct aside_job *job, const struct aside_way *way,
			     const struct aside_tables *own, bool *done, struct hd_error *err)
{
	int rc = aside_tables_put_back(job->routes, own, err);

	if (!rc)
		rc = aside_ways_escape(job, aside_escape, done, err);
	if (rc || *done)
		return rc;
	job->last_way = true;
	rc = aside_tables_put_back(job->routes, own, err);
	return rc ? rc : try_way(job, way, done, err);
}

/* The quick way first, then path by path, then with turns in few places only, for two opinions of
 * what is above what and for several places. */
static int try_shared(struct aside_job *job, const struct aside_way *way, bool may_give_up,
		      bool *done, struct hd_error *err)
{
	const unsigned ways = 2 + 2 * ASIDE_TURNS_CHOICES;
	int rc = 0;

	for (unsigned i = job->routes->sl ? 1 : 0; !rc && !*done && i < ways; i++) {
		job->thorough = i > 0;
		job->turning = i > 1;
		job->up = i > 1 && i % 2 ? ASIDE_UP_LEVELS : ASIDE_UP_IN_USE;
		job->choice = i > 1 ? i / 2 - 1 : 0;
		job->last_way = i + 1 == ways && may_give_up;
		rc = hd_go_on_check(&job->request->go_on, err);
		if (!rc)
			rc = try_way(job, way, done, err);
	}
	return rc;
}

static int try_ways(struct aside_job *job, const struct aside_way *way, bool hosts_stay, bool *done,
		    struct hd_error *err)
{
	unsigned used = aside_ways_lanes(job->fabric, job->routes);
	bool may = !hosts_stay && aside_ways_may_escape(job, way);
	struct aside_tables own;
	int rc = aside_tables_copy(job->routes, &own, err);

	if (rc)
		return rc;
	job->apart = false;
	rc = try_shared(job, way, used >= way->lanes && !may, done, err);
	if (!rc && !*done && may)
		rc = escape_or_give_up(job, way, &own, done, err);
	aside_tables_release(&own);
	if (rc || *done)
		return rc;
	job->up = ASIDE_UP_ROOT;
	job->apart = job->last_way = true;
	return try_way(job, way, done, err);
}

int aside_ways_bulk(struct aside_job *job, bool guarded, bool *done, struct hd_error *err)
{
	int rc = aside_bulk_route(job->request, guarded, job->stay, job->routes, done, err);

	if (!rc && *done) {
		clear_levels(job);
		job->unserved = job->lost = 0;
	}
	return rc;
}

int aside_ways_afresh(struct aside_job *job, const struct aside_way *way, bool hosts_stay,
		      struct hd_error *err)
{
	bool done = false;
	int rc = aside_ways_bulk(job, way->guarded, &done, err);

	return rc || done ? rc : try_ways(job, way, hosts_stay, &done, err);
}
