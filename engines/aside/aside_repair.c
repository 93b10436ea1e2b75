/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_job.h"

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
	struct aside_target target;
	uint8_t way;
	bool open, hole; /* some source has no path yet; some source stays without */
	bool first; /* some source would lose its path if others came first */
};

struct repair {
	struct aside_job *job;
	struct aside_adopter adopter;
	struct column *columns; /* [count] */
	uint32_t count;
	bool again; /* some column goes on to its next way */
};

/* ---- the columns ---- */

static int list_columns(struct repair *repair)
{
	struct aside_job *job = repair->job;
	struct hd_arena *arena = &job->paths.arena;
	const struct aside_target *targets = NULL;

	if (aside_adopt_init(&repair->adopter, job) ||
	    aside_adopt_list(job, &targets, &repair->count))
		return -ENOMEM;
	repair->columns = hd_arena_alloc(arena, repair->count, sizeof(*repair->columns));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < repair->count; i++)
		repair->columns[i] = (struct column){.target = targets[i]};
	return 0;
}

static void adopt_in_place(struct repair *repair, const struct column *column)
{
	const struct hd_route_request *request = repair->job->request;

	if (column->way == MIXED)
		aside_adopt(&repair->adopter, request->baseline, column->target.lid);
	if (column->way != AFRESH)
		aside_adopt(&repair->adopter, request->previous, column->target.lid);
}

/* What the engine has: for a host, and else for the adapter's own switch. */
static void adopt_engine(struct repair *repair, const struct column *column)
{
	const struct hd_fabric *fabric = repair->job->fabric;

	aside_adopt(&repair->adopter, repair->job->routes,
		    column->target.host ? column->target.lid
					: fabric->lid[fabric->port_base[column->target.sw]]);
}

static void take_next_way(struct repair *repair, struct column *column)
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

	aside_adopt_begin(&repair->adopter, &column->target);
	adopt_in_place(repair, column);
	if (aside_sources_settle(job))
		return hd_error_no_memory(err);
	column->open = !may_all_wait(job);
	column->hole = job->waiting_count > 0;
	if (column->way == MIXED && is_refused(job)) {
		take_next_way(repair, column);
		return 0;
	}
	if (column->open)
		return 0;
	int rc = aside_sources_give_up(job, err);
	if (!rc)
		aside_adopt_write(&repair->adopter, &column->target);
	return rc;
}

/* Other next hops for sources whose paths are cut or refused. */
static int mend_column(struct repair *repair, struct column *column, struct hd_error *err)
{
	struct aside_job *job = repair->job;
	uint64_t lost = job->lost;

	aside_adopt_begin(&repair->adopter, &column->target);
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
		aside_adopt_write(&repair->adopter, &column->target);
	if (job->lost > lost)
		take_next_way(repair, column);
	return rc;
}

/* Sources that have no path yet get one if there is one now. Nothing else moves. */
static int fill_column(struct repair *repair, struct column *column, struct hd_error *err)
{
	struct aside_job *job = repair->job;

	aside_adopt_begin(&repair->adopter, &column->target);
	aside_adopt(&repair->adopter, job->routes, column->target.lid);
	if (aside_sources_settle(job))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < job->waiting_count; i++)
		aside_sources_take_back(job, job->waiting[i]);
	int rc = aside_sources_finish(job, 0, err);
	if (!rc)
		aside_adopt_write(&repair->adopter, &column->target);
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
	return column->target.host && stays(column);
}

static bool is_mixed_host(const struct column *column)
{
	return column->target.host && column->way == MIXED;
}

static bool stays_aside(const struct column *column)
{
	return !column->target.host && stays(column);
}

static bool is_mixed_aside(const struct column *column)
{
	return !column->target.host && column->way == MIXED;
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

/* Nothing goes back to the baseline, if less is lost so. */
static int stay_all(struct repair *repair, const struct aside_tables *own, struct hd_error *err)
{
	struct aside_job *job = repair->job;
	struct aside_result left;
	int rc = aside_result_save(job, &left, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < repair->count; i++)
		repair->columns[i].way = STAYING;
	aside_paths_undo(&job->paths);
	rc = aside_tables_put_back(job->routes, own, err);
	if (!rc)
		rc = run_rounds(repair, own, err);
	if (!rc && job->lost >= left.lost)
		rc = aside_result_take_back(job, &left, err);
	aside_tables_release(&left.tables);
	return rc;
}

/* Columns of adapters that have lost the path of some source come first, and are routed afresh with
 * turns elsewhere. */
static void put_first(struct repair *repair)
{
	for (uint32_t i = 0; i < repair->count; i++) {
		struct column *column = &repair->columns[i];
		column->first = !column->target.host && (column->first || column->way == LEFT);
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
	struct aside_result left;
	int rc = aside_result_save(job, &left, err);

	if (rc)
		return rc;
	for (unsigned choice = 0; !rc && job->lost && choice < CHOICES; choice++)
		rc = try_choice(repair, choice, own, err);
	if (!rc && job->lost)
		rc = aside_result_take_back(job, &left, err);
	aside_tables_release(&left.tables);
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
		rc = stay_all(&repair, &own, err);
	if (!rc && job->lost)
		rc = make_way(&repair, &own, err);
	if (job->paths.trying)
		aside_paths_undo(&job->paths);
	aside_tables_release(&own);
	return rc;
}
