/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "planner.h"

#include <heddle/base/parallel.h>
#include <stdlib.h>

const struct hd_ar_capability hd_ar_capability_full = {.form = HD_AR_FORM_REV1,
						       .group_cap = HD_AR_GROUPS_MAX,
						       .sub_groups = HD_AR_SUB_GROUPS,
						       .private_tables = true};

void hd_ar_plan_free(struct hd_ar_plan *plan)
{
	struct planner_holder *holder = (struct planner_holder *)plan;

	if (!holder)
		return;
	for (unsigned i = 0; i < holder->worker_count; i++)
		hd_arena_release(&holder->worker_arenas[i]);
	hd_arena_release(&holder->arena);
	free(holder);
}

static const struct hd_ar_capability *capability(const struct planner *planner, uint32_t sw)
{
	return planner->request->capabilities ? &planner->request->capabilities[sw]
					      : &hd_ar_capability_full;
}

/* Groups that the switch has room for; 0: it has no AR. */
static uint32_t room(const struct planner *planner, uint32_t sw)
{
	const struct hd_ar_capability *can = capability(planner, sw);
	uint32_t most = can->form == HD_AR_FORM_OLD ? HD_AR_OLD_GROUPS_MAX : HD_AR_GROUPS_MAX;
	uint32_t limit = planner->request->group_cap;

	if (can->form == HD_AR_FORM_NONE)
		return 0;
	most = can->group_cap < most ? can->group_cap : most;
	return limit && limit < most ? limit : most;
}

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

/* Wishes become groups, and those without room static entries. */
static uint64_t replace_wishes(const struct planner_worker *worker, uint16_t *groups,
			       uint32_t lid_count)
{
	uint64_t adaptive = 0;

	for (uint32_t lid = 0; lid < lid_count; lid++) {
		if (groups[lid] == HD_AR_NO_GROUP)
			continue;
		groups[lid] = (uint16_t)worker->wishes[groups[lid]].number;
		adaptive += groups[lid] != HD_AR_NO_GROUP;
	}
	return adaptive;
}

/* Finds out for each wish which group its first entry had before. */
static void find_heirs(const struct planner *planner, struct planner_worker *worker, uint32_t sw,
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
		const uint16_t *wished = planner_groups(planner, sw, table);
		const uint16_t *before = previous->lid_group[table];
		for (uint32_t lid = 0; lid < lids && before; lid++)
			if (wished[lid] != HD_AR_NO_GROUP &&
			    worker->wishes[wished[lid]].heir_of == HD_AR_NO_GROUP)
				worker->wishes[wished[lid]].heir_of = before[lid];
	}
}

static void plan_switch(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	struct hd_ar_switch *planned = &planner->switches[sw];
	const struct hd_ar_switch *previous = previous_of(planner, sw);
	uint32_t lids = planner->fabric->lid_count, cap = room(planner, sw);
	struct planner_tally *tally = &worker->tally;

	planned->guid = planner->fabric->node_guid[sw];
	planned->form = cap ? capability(planner, sw)->form : HD_AR_FORM_NONE;
	for (uint32_t i = 0; i < worker->wish_count; i++)
		tally->possible += worker->wishes[i].lids;
	find_heirs(planner, worker, sw, previous);
	groups_choose(&worker->chooser, worker->wishes, worker->wish_count, cap, previous,
		      worker->arena, planned);
	tally->full += cap && planned->wanted > planned->used;
	for (uint32_t table = 0; table < planner->holder->plan.table_count; table++) {
		uint16_t *groups = planner_groups(planner, sw, table);
		const uint8_t *ports = planner_ports(planner, sw, table);
		planned->lid_group[table] = groups;
		planned->lid_port[table] = ports;
		tally->adaptive += replace_wishes(worker, groups, lids);
		for (uint32_t lid = 0; lid < lids; lid++)
			tally->entries += ports[lid] != HD_NO_PORT;
	}
}

struct run {
	struct planner planner;
	const struct planner_algorithm *algorithm;
};

static void plan_switches(void *context, uint32_t begin, uint32_t end, unsigned index)
{
	const struct run *run = context;
	struct planner_worker *worker = &run->planner.workers[index];

	for (uint32_t sw = begin; sw < end; sw++) {
		run->planner.switches[sw].sub_groups = run->algorithm->sub_groups;
		worker->wish_count = 0;
		run->algorithm->wish(&run->planner, worker, sw);
		plan_switch(&run->planner, worker, sw);
	}
}

static int init_holder(struct run *run)
{
	struct planner *planner = &run->planner;
	struct planner_holder *holder = planner->holder = calloc(1, sizeof(*planner->holder));

	if (!holder)
		return -ENOMEM;
	unsigned workers = hd_parallel_workers(planner->request->threads);
	uint32_t switches = planner->fabric->switch_count, lids = planner->fabric->lid_count;
	size_t entries = (size_t)run->algorithm->table_count * switches * lids;
	holder->worker_arenas =
	    hd_arena_alloc(&holder->arena, workers, sizeof(*holder->worker_arenas));
	planner->switches = hd_arena_alloc(&holder->arena, switches, sizeof(*planner->switches));
	planner->lid_group = hd_arena_alloc(&holder->arena, entries, sizeof(*planner->lid_group));
	planner->lid_port = hd_arena_alloc(&holder->arena, entries, sizeof(*planner->lid_port));
	if (hd_arena_check(&holder->arena))
		return -ENOMEM;
	holder->worker_count = workers;
	holder->plan = (struct hd_ar_plan){.algorithm = run->algorithm->algorithm,
					   .mode = planner->request->mode,
					   .switch_count = switches,
					   .lid_count = lids,
					   .table_count = run->algorithm->table_count,
					   .switches = planner->switches};
	return 0;
}

static int init_workers(struct planner *planner)
{
	struct planner_holder *holder = planner->holder;

	for (unsigned i = 0; i < holder->worker_count; i++) {
		struct planner_worker *worker = &planner->workers[i];
		worker->arena = &holder->worker_arenas[i];
		worker->wishes =
		    hd_arena_alloc(&planner->arena, planner->wish_room, sizeof(*worker->wishes));
		worker->set = hd_arena_alloc(&planner->arena, planner->words, sizeof(*worker->set));
		worker->wanted =
		    hd_arena_alloc(&planner->arena, planner->words, sizeof(*worker->wanted));
		groups_init(&worker->chooser, planner->wish_room, &planner->arena);
	}
	return hd_arena_check(&planner->arena);
}

static int prepare(struct run *run, struct hd_error *err)
{
	struct planner *planner = &run->planner;

	if (init_holder(run) || host_lids_init(&planner->lids, planner->fabric, &planner->arena))
		return hd_error_no_memory(err);
	planner->workers = hd_arena_alloc(&planner->arena, planner->holder->worker_count,
					  sizeof(*planner->workers));
	if (!planner->workers)
		return hd_error_no_memory(err);
	int rc = hd_go_on_check(&planner->request->go_on, err);
	if (!rc)
		rc = run->algorithm->prepare(planner, err);
	if (rc)
		return rc;
	return init_workers(planner) ? hd_error_no_memory(err) : 0;
}

/* Adds up what the threads counted. */
static int finish(struct planner *planner, struct hd_error *err)
{
	struct hd_ar_plan *plan = &planner->holder->plan;

	for (unsigned i = 0; i < planner->holder->worker_count; i++) {
		const struct planner_tally *tally = &planner->workers[i].tally;
		if (hd_arena_check(&planner->holder->worker_arenas[i]))
			return hd_error_no_memory(err);
		plan->entries += tally->entries;
		plan->possible += tally->possible;
		plan->adaptive += tally->adaptive;
		plan->full += tally->full;
	}
	return 0;
}

int planner_run(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		const struct cuts *cuts, struct hd_ar_plan **out, struct hd_error *err)
{
	struct run run = {.planner = {.request = request,
				      .fabric = request->fabric,
				      .cuts = cuts,
				      .words = link_sets_words(request->fabric)},
			  .algorithm = algorithm};
	int rc = prepare(&run, err);

	if (!rc) {
		rc = hd_parallel_for_while(request->threads, request->fabric->switch_count, 8,
					   plan_switches, &run, &request->go_on);
		rc = rc ? hd_go_on_stopped(err) : finish(&run.planner, err);
	}
	hd_arena_release(&run.planner.arena);
	if (rc)
		hd_ar_plan_free(run.planner.holder ? &run.planner.holder->plan : NULL);
	else
		*out = &run.planner.holder->plan;
	return rc;
}
