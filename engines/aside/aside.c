/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside.h"
#include "aside_job.h"

#include <errno.h>
#include <inttypes.h>

/* ---- paths that come back ---- */

/* At last paths that were in place come back, where they fit beside all that is routed now. */

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

/* Whether any whole path in place is not in the routes. Enough of the job's paths is aside_paths_init_links().
 * Cost: O(switches * LIDs), and O(hops) for each entry that differs. */
static bool aside_return_has_work(const struct aside_job *job)
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

/*
 * Looks at each entry for adapters that are set aside which differs from the tables in place and from
 * the baseline. The whole path that it was part of comes back, if no source loses its path so and no
 * lane gets a credit loop. The graphs of the job are ordered ones with the paths between hosts only;
 * the paths of the routes are added. Counts sources that get a path out of job->unserved and job->lost.
 * The number of paths that are tried is limited by the number of switches, in the order of the fabric.
 * *any: some paths came back. The graphs still know those that they replace, so others may fit in
 * another go. Errors: -ENOMEM, -ECANCELED. Cost: O(switches * LIDs), and for each such entry O(switches * hops) and
 * a search among links.
 */
static int aside_return(struct aside_job *job, bool *any, struct hd_error *err)
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

/* ---- paths between hosts that stay ---- */

/* Paths between hosts that once moved for others (aside_escape.c) stay where they are. */

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

/*
 * Whole paths between hosts in the tables in place go to the job's routes, on one lane. Memory of the
 * job's paths is there. *done is false where nothing differs, or the paths close a credit loop
 * together; the job's routes are then not to be used. Errors: -ENOMEM. Cost: O(switches * LIDs).
 */
static int aside_stay(struct aside_job *job, bool *done, struct hd_error *err)
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

/* ---- one way after the other ---- */

static int collect_and_repair(struct aside_job *job, struct hd_error *err)
{
	bool done;
	int rc = aside_hosts_collect(job, err);

	if (!rc)
		rc = aside_ways_order(job, &done, err);
	return rc ? rc : aside_repair(job, err);
}

static int repair(struct aside_job *job, unsigned lanes, bool guarded, struct hd_error *err)
{
	job->up = ASIDE_UP_IN_USE;
	job->choice = 0;
	int rc = aside_ways_begin(job, lanes, guarded) ? hd_error_no_memory(err)
						       : collect_and_repair(job, err);

	aside_paths_release(&job->paths);
	return rc;
}

/* Tables that a job has made, as if they were in place already. */
struct in_place {
	const struct hd_route_request *before; /* the job's request */
	struct hd_route_request request;
	struct hd_routes routes;
	struct aside_tables tables;
	uint64_t lost; /* by them */
};

static int put_in_place(struct aside_job *job, struct in_place *place, struct hd_error *err)
{
	int rc = aside_tables_copy(job->routes, &place->tables, err);

	if (rc)
		return rc;
	place->lost = job->lost;
	place->before = job->request;
	place->request = *job->request;
	place->routes = *job->request->previous;
	place->routes.lft = place->tables.lft;
	place->routes.sl = place->tables.sl;
	memcpy(place->routes.sl2vl, place->tables.sl2vl, sizeof(place->routes.sl2vl));
	place->request.previous = &place->routes;
	job->request = &place->request;
	return 0;
}

/* Returns whether the job has made the same tables again. What it has lost beside these tables is not
 * all: they have lost something before. */
static bool take_away(struct aside_job *job, struct in_place *place)
{
	bool same = !hd_routes_count_changes(&place->routes, job->routes);

	job->lost = place->lost < job->unserved ? place->lost : job->unserved;
	job->request = place->before;
	aside_tables_release(&place->tables);
	return same;
}

/* What the next sweep would change, with these tables in place, changes at once. */
static int repair_again(struct aside_job *job, unsigned lanes, bool guarded, bool *rests,
			struct hd_error *err)
{
	struct in_place place;
	int rc = put_in_place(job, &place, err);

	if (rc)
		return rc;
	rc = repair(job, lanes, guarded, err);
	*rests = take_away(job, &place);
	return rc;
}

#define REPAIRS_MOST 4u

/* From so many pairs of a switch and an adapter on, path by path takes seconds. */
#define PAIRS_MOST 250000u

/* With the paths in place, or if there are many, without: as where the leaf by which paths turn has lost what it needs,
 * so that all have to turn elsewhere. */
static int route_in_bulk(struct aside_job *job, bool guarded, bool *done, struct hd_error *err)
{
	const uint64_t pairs = (uint64_t)job->fabric->switch_count * job->fabric->aside_count;
	int rc = aside_ways_bulk(job, guarded, done, err);

	if (rc || *done || pairs < PAIRS_MOST)
		return rc;
	job->stay = false;
	rc = aside_ways_bulk(job, guarded, done, err);
	job->stay = true;
	return rc;
}

/* In bulk, or path by path. */
static int route_in_place(struct aside_job *job, unsigned lanes, bool guarded, struct hd_error *err)
{
	bool in_bulk = false, rests = false;

	job->stay = job->thorough = true;
	int rc = route_in_bulk(job, guarded, &in_bulk, err);
	if (rc || in_bulk)
		return rc;
	rc = repair(job, lanes, guarded, err);
	rests = !rc && !hd_routes_count_changes(job->request->previous, job->routes);
	for (unsigned i = 0; !rc && !rests && i < REPAIRS_MOST; i++)
		rc = repair_again(job, lanes, guarded, &rests, err);
	return rc;
}

/* Without tables in place, if that serves more sources; all of them, if hosts_stay. */
static int route_better(struct aside_job *job, const struct aside_way *way,
			const struct aside_tables *own, bool hosts_stay, struct hd_error *err)
{
	struct aside_result in_place;
	int rc = aside_result_save(job, &in_place, err);

	if (rc)
		return rc;
	rc = aside_tables_put_back(job->routes, own, err);
	job->stay = false;
	if (!rc)
		rc = aside_ways_afresh(job, way, hosts_stay, err);
	if (!rc && (job->unserved >= in_place.unserved || (hosts_stay && job->lost)))
		rc = aside_result_take_back(job, &in_place, err);
	aside_tables_release(&in_place.tables);
	return rc;
}

static int stay(struct aside_job *job, bool *done, struct hd_error *err)
{
	job->thorough = true;
	int rc =
	    aside_ways_init(job, 1, 1, true) ? hd_error_no_memory(err) : aside_stay(job, done, err);

	aside_paths_release(&job->paths);
	return rc;
}

/* Without paths between hosts that move; then sources without a path get that of a tree. */
static int route_and_fill(struct aside_job *job, const struct aside_way *way, bool *rests,
			  struct hd_error *err)
{
	bool done = false;
	int rc = route_in_place(job, way->lanes, way->guarded, err);

	if (!rc && job->unserved && aside_ways_may_escape(job, way))
		rc = aside_ways_escape(job, aside_escape_beside, &done, err);
	*rests = !done;
	return rc;
}

/* With the paths between hosts in place, unless that serves fewer sources. */
static int route_with_hosts(struct aside_job *job, const struct aside_way *way,
			    const struct aside_tables *own, bool *rests, struct hd_error *err)
{
	struct aside_result engines;
	bool done = false;
	int rc = aside_result_save(job, &engines, err);

	if (rc)
		return rc;
	rc = aside_tables_put_back(job->routes, own, err);
	if (!rc)
		rc = stay(job, &done, err);
	if (!rc && done)
		rc = route_and_fill(job, way, rests, err);
	if (!rc && (!done || job->lost > engines.lost))
		rc = aside_result_take_back(job, &engines, err);
	aside_tables_release(&engines.tables);
	return rc;
}

/* First without moving paths between hosts, even at the cost of all others if the engine wants that;
 * then with those that moved once; at last with any. */
static int route_once(struct aside_job *job, const struct aside_way *way,
		      const struct aside_tables *own, bool *rests, struct hd_error *err)
{
	const bool may_move = aside_ways_may_escape(job, way) && !job->hosts_fixed;
	bool done = false;
	int rc = hd_go_on_check(&job->request->go_on, err);

	if (!rc)
		rc = route_and_fill(job, way, rests, err);
	if (rc || !(way->all ? job->unserved : job->lost))
		return rc;
	if (!may_move || way->hosts_first)
		rc = route_better(job, way, own, may_move, err);
	if (!rc && job->lost && may_move)
		rc = route_with_hosts(job, way, own, rests, err);
	if (!rc && job->lost && may_move)
		rc = aside_ways_escape(job, aside_escape_in_place, &done, err);
	*rests = false;
	return rc;
}

static int route_to_rest(struct aside_job *job, const struct aside_way *way,
			 const struct aside_tables *own, struct hd_error *err)
{
	bool rests = false;
	int rc = route_once(job, way, own, &rests, err);

	for (unsigned i = 0; !rc && !rests && i < REPAIRS_MOST; i++) {
		struct in_place place;
		rc = put_in_place(job, &place, err);
		if (rc)
			return rc;
		rc = aside_tables_put_back(job->routes, own, err);
		if (!rc)
			rc = route_once(job, way, own, &rests, err);
		rests = take_away(job, &place);
	}
	return rc;
}

static int order_and_return(struct aside_job *job, bool *any, struct hd_error *err)
{
	int rc;

	*any = false;
	if (!aside_return_has_work(job))
		return 0;
	rc = aside_hosts_collect(job, err);
	if (!rc)
		rc = aside_paths_order(&job->paths);
	/* with credit loops between hosts nothing can be proved */
	return rc == -ELOOP ? 0 : rc ? hd_error_no_memory(err) : aside_return(job, any, err);
}

#define RETURNS_MOST 3u

static int give_back(struct aside_job *job, struct hd_error *err)
{
	unsigned lanes = aside_ways_lanes(job->fabric, job->routes);
	bool any = true;
	int rc = 0;

	job->thorough = true;
	for (unsigned i = 0; !rc && any && i < RETURNS_MOST; i++) {
		rc = aside_ways_init(job, lanes, lanes, true) ? hd_error_no_memory(err)
							      : order_and_return(job, &any, err);
		aside_paths_release(&job->paths);
	}
	return rc;
}

/* The same to tables that are not in place any more. */
static int give_back_to_replaced(struct aside_job *job, const struct aside_way *way,
				 struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	struct hd_route_request with = *request;

	if (!way->replaced || !way->guarded)
		return 0;
	with.previous = way->replaced;
	job->request = &with;
	int rc = give_back(job, err);
	job->request = request;
	return rc;
}

/* Hosts are routed afresh, so what is set aside is, too. */
static int route_afresh(struct aside_job *job, const struct aside_way *way, struct hd_error *err)
{
	int rc = aside_ways_afresh(job, way, false, err);

	return rc ? rc : give_back_to_replaced(job, way, err);
}

/* With tables in place, and perhaps without them if that leaves out what needs a path. */
static int route_again(struct aside_job *job, const struct aside_way *way, struct hd_error *err)
{
	struct aside_tables own;
	int rc = aside_tables_copy(job->routes, &own, err);

	if (rc)
		return rc;
	rc = route_to_rest(job, way, &own, err);
	if (!rc && way->guarded)
		rc = give_back(job, err);
	if (!rc)
		rc = give_back_to_replaced(job, way, err);
	aside_tables_release(&own);
	return rc;
}

int aside_route(const struct hd_route_request *request, const struct aside_way *way,
		struct hd_routes *routes, struct aside_left *left, struct hd_error *err)
{
	struct aside_job job = {.request = request, .fabric = request->fabric, .routes = routes};
	int rc = 0;

	job.had_levels = routes->sl != NULL;
	job.hosts_fixed = way->hosts_fixed;
	if (!job.fabric->aside_count)
		rc = 0;
	else if (!request->previous)
		rc = route_afresh(&job, way, err);
	else
		rc = route_again(&job, way, err);
	if (!rc && job.moved)
		hd_log(request->log, HD_LOG_INFO,
		       "%" PRIu64 " entries for hosts moved: on one virtual lane they were in the "
		       "way of aggregation nodes",
		       job.moved);
	*left = (struct aside_left){job.unserved, job.lost, job.moved};
	return rc;
}
