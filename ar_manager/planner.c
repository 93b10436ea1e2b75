/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The making of a plan by one algorithm, without a proof. attempts.c calls planner_run().
 *
 * prepare() of the algorithm looks at the fabric; then threads take one switch after another: wishes of the
 * entries (or the row of the plan before, plan_again.h), a choice of groups (groups.h), and the row. Rows do not
 * depend on each other, so the number of threads changes nothing.
 */
#include "plan_again.h"
#include "plan_data.h"
#include "planning.h"

#include <heddle/base/parallel.h>
#include <stdlib.h>
#include <string.h>

static const struct hd_ar_switch *previous_of(const struct planner *planner, uint32_t sw)
{
	const struct hd_ar_plan *previous = planner->request->previous;
	uint32_t index =
	    previous ? hd_ar_plan_find(previous, planner->fabric->node_guid[sw]) : HD_NONE;

	if (index == HD_NONE ||
	    previous->switches[index].sub_groups != planner->switches[sw].sub_groups)
		return NULL;
	return &previous->switches[index];
}

/* Finds out for each wish which group its first entry had before. */
static void find_heirs(const struct planner *planner, struct planner_worker *worker,
		       const struct hd_ar_switch *previous)
{
	const struct hd_ar_plan *plan = planner->request->previous;
	uint32_t lids = planner->fabric->lid_count;

	for (uint32_t i = 0; i < worker->wish_count; i++)
		worker->wishes[i].heir_of = HD_AR_NO_GROUP;
	if (!previous)
		return;
	lids = plan->lid_count < lids ? plan->lid_count : lids;
	for (uint32_t table = 0; table < planner->holder->plan.table_count; table++) {
		const uint16_t *wished = planning_groups(planner, worker, table);
		const uint16_t *before = previous->lid_group[table];
		for (uint32_t lid = 0; lid < lids && before; lid++)
			if (wished[lid] != HD_AR_NO_GROUP &&
			    worker->wishes[wished[lid]].heir_of == HD_AR_NO_GROUP)
				worker->wishes[wished[lid]].heir_of = before[lid];
	}
}

/* What the groups and entries add to the sums of the plan. */
static void count_row(const struct planner_worker *worker, struct hd_ar_row *row)
{
	const size_t cells = (size_t)row->table_count * row->lid_count;

	for (uint32_t i = 0; i < worker->wish_count; i++) {
		const struct groups_wish *wish = &worker->wishes[i];
		row->possible += wish->lids;
		if (wish->number == HD_AR_NO_GROUP)
			continue;
		row->adaptive += wish->lids;
		row->groups[wish->number] = wish->group;
		row->lids[wish->number] = (uint32_t)wish->lids;
	}
	for (size_t cell = 0; cell < cells; cell++)
		row->entries += row->lid_port[cell] != HD_NO_PORT;
	row->counted = true;
}

static const struct hd_ar_row *make_row(const struct planner *planner,
					struct planner_worker *worker, uint32_t group_count)
{
	const uint32_t tables = planner->algorithm->table_count, lids = planner->fabric->lid_count;
	const size_t cells = (size_t)tables * lids;
	struct hd_ar_row *row = plan_row_new(tables, lids, group_count);

	if (!row)
		return NULL;
	memcpy(row->lid_group, worker->lid_group, cells * sizeof(*row->lid_group));
	memcpy(row->lid_port, worker->lid_port, cells);
	count_row(worker, row);
	return row;
}

static void plan_switch(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	struct hd_ar_switch *planned = &planner->switches[sw];
	const struct hd_ar_switch *previous = previous_of(planner, sw);
	uint32_t cap = planning_room(planner, sw);

	planned->form = cap ? planning_capability(planner, sw)->form : HD_AR_FORM_NONE;
	find_heirs(planner, worker, previous);
	groups_choose(&worker->chooser, worker->wishes, worker->wish_count, cap, previous, planned);
	/* Wishes become groups, and those without room static entries. */
	size_t cells = (size_t)planner->algorithm->table_count * planner->fabric->lid_count;
	uint16_t *groups = worker->lid_group;
	for (size_t cell = 0; cell < cells; cell++)
		if (groups[cell] != HD_AR_NO_GROUP)
			groups[cell] = (uint16_t)worker->wishes[groups[cell]].number;
	const struct hd_ar_row *row = make_row(planner, worker, planned->group_count);
	if (!row) {
		worker->failed = true;
		return;
	}
	plan_row_use(row, planned);
	/* Gives the switch the row of the previous plan if it is the same. The next plan relies
	 * on its numbers. */
	const uint32_t lids = planner->fabric->lid_count;
	if (!previous || !previous->row || !previous->row->counted ||
	    planner->request->previous->lid_count != lids || previous->used != planned->used ||
	    previous->wanted != planned->wanted || previous->port_count != planned->port_count ||
	    !hd_port_set_equal(&previous->above, &planned->above) ||
	    !plan_row_equal(previous, planned, planner->algorithm->table_count, lids))
		return;
	plan_row_release(planned->row);
	plan_row_use(plan_row_hold(previous->row), planned);
}

static void plan_switches(void *context, uint32_t begin, uint32_t end, unsigned index)
{
	const struct planner *planner = context;
	struct planner_worker *worker = &planner->workers[index];

	for (uint32_t sw = begin; sw < end && !worker->failed; sw++) {
		struct hd_ar_switch *planned = &planner->switches[sw];
		planned->guid = planner->fabric->node_guid[sw];
		planned->sub_groups = planner->algorithm->sub_groups;
		worker->wish_count = 0;
		if (!plan_again_switch(planner, worker, sw)) {
			planner->algorithm->wish(planner, worker, sw);
			plan_switch(planner, worker, sw);
		}
		if (!worker->failed) {
			struct planner_tally *tally = &worker->tally;
			tally->entries += planned->row->entries;
			tally->possible += planned->row->possible;
			tally->adaptive += planned->row->adaptive;
			tally->full +=
			    planned->form != HD_AR_FORM_NONE && planned->wanted > planned->used;
		}
	}
}

static int init_holder(struct planner *planner)
{
	struct plan_holder *holder = planner->holder = calloc(1, sizeof(*planner->holder));
	uint32_t switches = planner->fabric->switch_count;

	if (!holder)
		return -ENOMEM;
	holder->memory = calloc(1, sizeof(*holder->memory));
	planner->switches = hd_arena_alloc(&holder->arena, switches, sizeof(*planner->switches));
	if (!holder->memory || !planner->switches)
		return -ENOMEM;
	holder->plan = (struct hd_ar_plan){.algorithm = planner->algorithm->algorithm,
					   .mode = planner->request->mode,
					   .switch_count = switches,
					   .lid_count = planner->fabric->lid_count,
					   .table_count = planner->algorithm->table_count,
					   .switches = planner->switches};
	return 0;
}

static int planner_prepare(struct planner *planner, struct hd_error *err)
{
	if (init_holder(planner) ||
	    host_lids_init(&planner->lids, planner->fabric, &planner->arena))
		return hd_error_no_memory(err);
	planner->worker_count = hd_parallel_workers(planner->request->threads);
	planner->workers =
	    hd_arena_alloc(&planner->arena, planner->worker_count, sizeof(*planner->workers));
	if (!planner->workers)
		return hd_error_no_memory(err);
	int rc = hd_go_on_check(&planner->request->go_on, err);
	if (!rc)
		rc = planner->algorithm->prepare(planner, err);
	if (rc)
		return rc;
	const size_t cells = (size_t)planner->algorithm->table_count * planner->fabric->lid_count;
	for (unsigned i = 0; i < planner->worker_count; i++) {
		struct planner_worker *worker = &planner->workers[i];
		worker->wishes =
		    hd_arena_alloc(&planner->arena, planner->wish_room, sizeof(*worker->wishes));
		worker->set = hd_arena_alloc(&planner->arena, planner->words, sizeof(*worker->set));
		worker->wanted =
		    hd_arena_alloc(&planner->arena, planner->words, sizeof(*worker->wanted));
		worker->lid_group =
		    hd_arena_alloc(&planner->arena, cells, sizeof(*worker->lid_group));
		worker->lid_port =
		    hd_arena_alloc(&planner->arena, cells, sizeof(*worker->lid_port));
		groups_init(&worker->chooser, planner->wish_room, &planner->arena);
		plan_again_init_worker(planner, worker);
	}
	return hd_arena_check(&planner->arena) ? hd_error_no_memory(err) : 0;
}

/* Adds up what the threads counted. */
static int planner_finish(struct planner *planner, struct hd_error *err)
{
	struct hd_ar_plan *plan = &planner->holder->plan;

	for (unsigned i = 0; i < planner->worker_count; i++) {
		const struct planner_tally *tally = &planner->workers[i].tally;
		if (planner->workers[i].failed)
			return hd_error_no_memory(err);
		plan->entries += tally->entries;
		plan->possible += tally->possible;
		plan->adaptive += tally->adaptive;
		plan->full += tally->full;
	}
	return plan_memory_fill(planner) ? hd_error_no_memory(err) : 0;
}

int planner_run(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		const struct cuts *cuts, struct hd_ar_plan **out, struct hd_error *err)
{
	struct planner planner = {.request = request,
				  .fabric = request->fabric,
				  .cuts = cuts,
				  .words = link_sets_words(request->fabric),
				  .algorithm = algorithm};
	int rc = planner_prepare(&planner, err);

	if (!rc) {
		rc = hd_parallel_for_while(request->threads, request->fabric->switch_count, 8,
					   plan_switches, &planner, &request->go_on);
		rc = rc ? hd_go_on_stopped(err) : planner_finish(&planner, err);
	}
	hd_arena_release(&planner.arena);
	if (rc)
		hd_ar_plan_free(planner.holder ? &planner.holder->plan : NULL);
	else
		*out = &planner.holder->plan;
	return rc;
}
