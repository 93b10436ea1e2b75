/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_repair.h"
#include "aside_hosts.h"
#include "aside_sources.h"
#include "aside_tables.h"

#include <errno.h>

#define ROUNDS_MOST 12u

/* How a column is routed. It begins with the first, and goes on to the next if sources lose paths. */
enum way {
	MIXED, /* entries go back to the baseline; others stay */
	STAYING, /* entries in place stay */
	AFRESH, /* nothing stays */
	LEFT /* entries in place stay, and sources for which there is no path get none */
};

struct column {
	uint32_t lid, sw; /* sw: destination switch */
	uint8_t port; /* by which packets leave it */
	uint8_t way;
	bool host; /* only switches without hosts are sources, and entries that hosts use stay */
	bool open, hole; /* some source has no path yet; some source stays without */
	bool first; /* some source would lose its path if others came first */
};

struct repair {
	struct aside_job *job;
	struct column *columns; /* [count] */
	uint32_t count;
	bool *broken; /* [switch_count] the path by the tables in hand does not arrive */
	uint8_t *levels; /* [switch_count] service levels of a column while paths are tried */
	bool again; /* some column goes on to its next way */
};

static bool has_hosts(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->host_base[sw] < fabric->host_base[sw + 1];
}

/* ---- the columns ---- */

static void list_port(struct repair *repair, uint32_t port, uint32_t sw, uint8_t sw_port, bool host)
{
	const struct hd_fabric *fabric = repair->job->fabric;

	for (uint32_t i = 0; i < hd_port_lid_count(fabric, port); i++)
		repair->columns[repair->count++] = (struct column){
		    .lid = fabric->lid[port] + i, .sw = sw, .port = sw_port, .host = host};
}

static int list_columns(struct repair *repair)
{
	const struct hd_fabric *fabric = repair->job->fabric;
	struct hd_arena *arena = &repair->job->paths.arena;

	repair->columns = hd_arena_alloc(arena, fabric->lid_count, sizeof(*repair->columns));
	repair->broken = hd_arena_alloc(arena, fabric->switch_count, sizeof(*repair->broken));
	repair->levels = hd_arena_alloc(arena, fabric->switch_count, sizeof(*repair->levels));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t i = 0; repair->job->paths.guarded && i < fabric->host_count; i++)
		list_port(repair, fabric->host_port[i], fabric->host_switch[i],
			  fabric->host_switch_port[i], true);
	for (uint32_t i = 0; i < fabric->aside_count; i++)
		list_port(repair, fabric->aside_port[i], fabric->aside_switch[i],
			  fabric->aside_switch_port[i], false);
	return 0;
}

/* The entries that paths between hosts take, and the switches that wait for a path. */
static void begin(struct repair *repair, const struct column *column)
{
	struct aside_job *job = repair->job;

	aside_paths_begin(&job->paths, column->lid, column->sw);
	if (column->host)
		aside_hosts_fix(job);
	job->waiting_count = 0;
	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++)
		if (sw != column->sw && job->paths.sends[sw] &&
		    !(column->host && has_hosts(job->fabric, sw)) &&
		    job->component[sw] == job->component[column->sw])
			job->waiting[job->waiting_count++] = sw;
}

/* Takes over the entries of a whole path; it ends where there is a next hop already. */
static void adopt_from(struct repair *repair, const struct hd_routes *tables, uint32_t lid,
		       uint32_t sw)
{
	struct aside_paths *paths = &repair->job->paths;
	uint32_t steps = 0;

	while (sw != paths->destination && paths->next[sw] == HD_NONE && !repair->broken[sw]) {
		uint32_t link = aside_paths_link(paths, sw, hd_routes_port(tables, sw, lid));
		repair->broken[sw] = true; /* until the path is known: so a loop ends */
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

/* Next hops where there are none yet and the tables have a whole path. */
static void adopt(struct repair *repair, const struct hd_routes *tables, uint32_t lid)
{
	uint32_t switches = repair->job->fabric->switch_count;

	if (!tables || !lid)
		return;
	memset(repair->broken, 0, switches * sizeof(*repair->broken));
	for (uint32_t sw = 0; sw < switches; sw++)
		adopt_from(repair, tables, lid, sw);
}

static void adopt_in_place(struct repair *repair, const struct column *column)
{
	const struct hd_route_request *request = repair->job->request;

	if (column->way == MIXED)
		adopt(repair, request->baseline, column->lid);
	if (column->way != AFRESH)
		adopt(repair, request->previous, column->lid);
}

/* What the engine has: for a host, and else for the adapter's own switch. */
static void adopt_engine(struct repair *repair, const struct column *column)
{
	const struct hd_fabric *fabric = repair->job->fabric;

	adopt(repair, repair->job->routes,
	      column->host ? column->lid : fabric->lid[fabric->port_base[column->sw]]);
}

static void write(struct repair *repair, const struct column *column)
{
	struct aside_job *job = repair->job;

	aside_paths_fill(&job->paths);
	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++) {
		uint32_t link = job->paths.next[sw];
		hd_routes_row(job->routes, sw)[column->lid] =
		    link == HD_NONE ? HD_NO_PORT : job->fabric->isl_port[link];
	}
	hd_routes_row(job->routes, column->sw)[column->lid] = column->port;
}

static void go_on(struct repair *repair, struct column *column)
{
	if (column->way == LEFT)
		return;
	column->way++;
	repair->again = true;
}

/* ---- passes over the columns ---- */

/* Whether the lanes refuse the path of a source that is whole. */
static bool is_refused(const struct aside_job *job)
{
	for (uint32_t i = 0; i < job->waiting_count; i++)
		if (aside_paths_arrives(&job->paths, job->waiting[i]))
			return true;
	return false;
}

static bool may_all_wait(const struct aside_job *job)
{
	for (uint32_t i = 0; i < job->waiting_count; i++)
		if (!aside_sources_is_spared(job, job->waiting[i]))
			return false;
	return true;
}

/* What is whole, and fits, stays. */
static int keep_column(struct repair *repair, struct column *column, struct hd_error *err)
{
	struct aside_job *job = repair->job;

	begin(repair, column);
	adopt_in_place(repair, column);
	if (aside_sources_settle(job))
		return hd_error_no_memory(err);
	column->open = !may_all_wait(job);
	column->hole = job->waiting_count > 0;
	if (column->way == MIXED && is_refused(job)) {
		go_on(repair, column);
		return 0;
	}
	if (column->open)
		return 0;
	int rc = aside_sources_give_up(job, err);
	if (!rc)
		write(repair, column);
	return rc;
}

/* Other next hops for sources whose paths are cut or refused. */
static int mend_column(struct repair *repair, struct column *column, struct hd_error *err)
{
	struct aside_job *job = repair->job;
	uint64_t lost = job->lost;

	begin(repair, column);
	adopt_in_place(repair, column);
	if (column->way != AFRESH && aside_sources_settle(job))
		return hd_error_no_memory(err);
	adopt_engine(repair, column);
	if (column->way == AFRESH)
		aside_turns_apply(&job->turns, job->component, &job->paths);
	if (aside_sources_settle(job))
		return hd_error_no_memory(err);
	int rc = aside_sources_finish(job, 0, err);
	column->hole = job->waiting_count > 0;
	if (!rc)
		write(repair, column);
	if (job->lost > lost)
		go_on(repair, column);
	return rc;
}

/* Sources that have no path yet get one if there is one now. Nothing else moves. */
static int fill_column(struct repair *repair, struct column *column, struct hd_error *err)
{
	struct aside_job *job = repair->job;

	begin(repair, column);
	adopt(repair, job->routes, column->lid);
	if (aside_sources_settle(job))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < job->waiting_count; i++)
		aside_sources_take_back(job, job->waiting[i]);
	int rc = aside_sources_finish(job, 0, err);
	if (!rc)
		write(repair, column);
	return rc;
}

static void note_levels(struct repair *repair, const struct column *column)
{
	const struct hd_routes *routes = repair->job->routes;

	for (uint32_t sw = 0; sw < routes->switch_count; sw++)
		repair->levels[sw] =
		    routes->sl ? routes->sl[(size_t)sw * routes->stride + column->lid] : 0;
}

static void put_levels_back(const struct repair *repair, const struct column *column)
{
	struct hd_routes *routes = repair->job->routes;

	for (uint32_t sw = 0; routes->sl && sw < routes->switch_count; sw++)
		routes->sl[(size_t)sw * routes->stride + column->lid] = repair->levels[sw];
}

/* Takes over the path from a switch by the tables in place, if every source keeps a path. */
static int return_path(struct repair *repair, const struct column *column, uint32_t sw,
		       struct hd_error *err)
{
	struct aside_job *job = repair->job;

	begin(repair, column);
	memset(repair->broken, 0, job->fabric->switch_count * sizeof(*repair->broken));
	adopt_from(repair, job->request->previous, column->lid, sw);
	adopt(repair, job->routes, column->lid);
	note_levels(repair, column);
	if (aside_sources_settle(job))
		return hd_error_no_memory(err);
	if (job->waiting_count)
		put_levels_back(repair, column);
	else
		write(repair, column);
	return 0;
}

/* Whether an entry is neither that of the tables in place nor that of the baseline. */
static bool has_moved(const struct repair *repair, uint32_t lid, uint32_t sw)
{
	const struct hd_route_request *request = repair->job->request;
	uint8_t before = hd_routes_port(request->previous, sw, lid);
	uint8_t now = hd_routes_port(repair->job->routes, sw, lid);

	return before != HD_NO_PORT && now != before && now != HD_NO_PORT &&
	       (!request->baseline || now != hd_routes_port(request->baseline, sw, lid));
}

/* Paths in place that fit beside all that is routed by now come back. */
static int return_column(struct repair *repair, struct column *column, struct hd_error *err)
{
	const struct hd_routes *routes = repair->job->routes;
	int rc = 0;

	for (uint32_t sw = 0; !rc && sw < routes->switch_count; sw++)
		if (has_moved(repair, column->lid, sw))
			rc = return_path(repair, column, sw, err);
	return rc;
}

typedef int visit_fn(struct repair *repair, struct column *column, struct hd_error *err);
typedef bool choose_fn(const struct column *column);

static bool stays(const struct column *column)
{
	return !column->first && (column->way == STAYING || column->way == LEFT);
}

static bool stays_host(const struct column *column)
{
	return column->host && stays(column);
}

static bool is_mixed_host(const struct column *column)
{
	return column->host && column->way == MIXED;
}

static bool stays_aside(const struct column *column)
{
	return !column->host && stays(column);
}

static bool is_mixed_aside(const struct column *column)
{
	return !column->host && column->way == MIXED;
}

static bool is_first(const struct column *column)
{
	return column->first;
}

static bool is_open(const struct column *column)
{
	return column->open && column->way != AFRESH && !column->first;
}

static bool is_afresh(const struct column *column)
{
	return column->way == AFRESH && !column->first;
}

static bool is_aside_and_whole(const struct column *column)
{
	return !column->host && !column->hole;
}

static bool has_hole(const struct column *column)
{
	return column->hole;
}

static int visit(struct repair *repair, choose_fn *choose, visit_fn *what, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < repair->count; i++)
		if (choose(&repair->columns[i]))
			rc = what(repair, &repair->columns[i], err);
	return rc;
}

/* ---- rounds ---- */

/* Ends the rounds. */
static void leave_all(struct repair *repair)
{
	for (uint32_t i = 0; i < repair->count; i++)
		repair->columns[i].way = LEFT;
}

/* Columns that give up something come before others, so that these cannot displace them. */
static int run_round(struct repair *repair, struct hd_error *err)
{
	int rc = visit(repair, stays_host, keep_column, err);

	if (!rc)
		rc = visit(repair, is_mixed_host, keep_column, err);
	if (!rc)
		rc = visit(repair, is_first, mend_column, err);
	if (!rc)
		rc = visit(repair, stays_aside, keep_column, err);
	if (!rc)
		rc = visit(repair, is_mixed_aside, keep_column, err);
	if (!rc && !repair->again)
		rc = visit(repair, is_open, mend_column, err);
	if (!rc && !repair->again)
		rc = visit(repair, is_afresh, mend_column, err);
	return rc;
}

static int run_rounds(struct repair *repair, const struct aside_tables *own, struct hd_error *err)
{
	struct aside_job *job = repair->job;
	int rc = 0;

	repair->again = true;
	for (unsigned round = 0; !rc && repair->again && round < ROUNDS_MOST; round++) {
		if (round) {
			aside_paths_undo(&job->paths);
			rc = aside_tables_put_back(job->routes, own, err);
		}
		if (round + 1 == ROUNDS_MOST)
			leave_all(repair);
		job->unserved = job->lost = 0;
		repair->again = false;
		aside_paths_try(&job->paths);
		if (!rc)
			rc = run_round(repair, err);
	}
	return rc ? rc : visit(repair, has_hole, fill_column, err);
}

/* Columns of adapters that have lost the path of some source come first, and are routed afresh with
 * turns elsewhere. */
static void put_first(struct repair *repair)
{
	for (uint32_t i = 0; i < repair->count; i++) {
		struct column *column = &repair->columns[i];
		column->first = !column->host && (column->first || column->way == LEFT);
		if (column->first)
			column->way = AFRESH;
		else if (column->way == LEFT)
			column->way = STAYING;
	}
}

/* How often columns are put first, each time with turns elsewhere. */
#define CHOICES (2 * ASIDE_TURNS_CHOICES)

static int try_choice(struct repair *repair, unsigned choice, const struct aside_tables *own,
		      struct hd_error *err)
{
	struct aside_job *job = repair->job;
	enum aside_up up = choice % 2 ? ASIDE_UP_LEVELS : ASIDE_UP_IN_USE;

	put_first(repair);
	aside_paths_undo(&job->paths);
	if (aside_paths_orient(&job->paths, up) ||
	    aside_turns_find(&job->paths, choice / 2, &job->turns))
		return hd_error_no_memory(err);
	int rc = aside_tables_put_back(job->routes, own, err);
	return rc ? rc : run_rounds(repair, own, err);
}

/* Others make way for the columns that have lost something, if nothing is lost so. */
static int make_way(struct repair *repair, const struct aside_tables *own, struct hd_error *err)
{
	struct aside_job *job = repair->job;
	const uint64_t unserved = job->unserved, lost = job->lost;
	struct aside_tables left;
	int rc = aside_tables_copy(job->routes, &left, err);

	if (rc)
		return rc;
	for (unsigned choice = 0; !rc && job->lost && choice < CHOICES; choice++)
		rc = try_choice(repair, choice, own, err);
	if (!rc && job->lost) {
		job->unserved = unserved;
		job->lost = lost;
		rc = aside_tables_put_back(job->routes, &left, err);
	}
	aside_tables_release(&left);
	return rc;
}

int aside_repair(struct aside_job *job, struct hd_error *err)
{
	struct repair repair = {.job = job};
	struct aside_tables own;

	if (list_columns(&repair))
		return hd_error_no_memory(err);
	int rc = aside_tables_copy(job->routes, &own, err);
	if (rc)
		return rc;
	rc = run_rounds(&repair, &own, err);
	if (!rc && job->lost)
		rc = make_way(&repair, &own, err);
	/* the graphs are those of the tables, which are not put back, if nothing is lost */
	if (!rc && !job->lost)
		rc = visit(&repair, is_aside_and_whole, return_column, err);
	if (job->paths.trying)
		aside_paths_undo(&job->paths);
	aside_tables_release(&own);
	return rc;
}
