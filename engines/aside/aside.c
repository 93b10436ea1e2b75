/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside.h"
#include "aside_hosts.h"
#include "aside_repair.h"
#include "aside_return.h"
#include "aside_stay.h"
#include "aside_tables.h"
#include "aside_ways.h"

#include <errno.h>
#include <inttypes.h>

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

/* In bulk, or path by path. */
static int route_in_place(struct aside_job *job, unsigned lanes, bool guarded, struct hd_error *err)
{
	bool in_bulk = false, rests = false;

	job->stay = job->thorough = true;
	int rc = aside_ways_bulk(job, guarded, &in_bulk, err);
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

/* Hosts are routed afresh, so what is set aside is, too. */
static int route_afresh(struct aside_job *job, const struct aside_way *way, struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	struct hd_route_request with = *request;
	int rc = aside_ways_afresh(job, way, false, err);

	if (rc || !way->replaced || !way->guarded)
		return rc;
	with.previous = way->replaced;
	job->request = &with;
	rc = give_back(job, err);
	job->request = request;
	return rc;
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
	*left = (struct aside_left){job.unserved, job.lost};
	return rc;
}
