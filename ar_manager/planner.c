/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "planner.h"

#include <heddle/base/lookup.h>
#include <heddle/base/parallel.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

/*
 * The group table of one switch: which of the groups that its entries want it gets, and under which
 * numbers.
 */

#define SLOTS 16384u /* a power of two, more than twice HD_AR_GROUPS_MAX */

/* Errors: -ENOMEM. */
static int groups_init(struct groups_chooser *chooser, uint32_t room, struct hd_arena *arena)
{
	chooser->room = room;
	chooser->order = hd_arena_alloc(arena, room, sizeof(*chooser->order));
	chooser->slots = hd_arena_alloc(arena, SLOTS, sizeof(*chooser->slots));
	chooser->taken = hd_arena_alloc(arena, HD_AR_GROUPS_MAX, sizeof(*chooser->taken));
	return hd_arena_check(arena);
}

static uint32_t group_ports(const struct hd_ar_group *group)
{
	return hd_port_set_count(&group->ports[0]) + hd_port_set_count(&group->ports[1]);
}

static uint32_t slot_of(const struct hd_ar_group *group)
{
	return (uint32_t)hd_hash_bytes(group, sizeof(*group)) & (SLOTS - 1);
}

static void load_previous(struct groups_chooser *chooser, const struct hd_ar_switch *previous)
{
	for (uint32_t number = 0; number < previous->group_count; number++) {
		const struct hd_ar_group *group = &previous->groups[number];
		uint32_t slot = slot_of(group);
		if (hd_ar_group_is_empty(group))
			continue;
		while (chooser->slots[slot])
			slot = (slot + 1) & (SLOTS - 1);
		chooser->slots[slot] = (uint16_t)(number + 1);
	}
}

static void unload_previous(struct groups_chooser *chooser, const struct hd_ar_switch *previous)
{
	if (previous->group_count)
		memset(chooser->slots, 0, SLOTS * sizeof(*chooser->slots));
}

static uint32_t number_before(const struct groups_chooser *chooser,
			      const struct hd_ar_switch *previous, const struct hd_ar_group *group)
{
	uint32_t slot = slot_of(group);

	for (; chooser->slots[slot]; slot = (slot + 1) & (SLOTS - 1)) {
		uint32_t number = chooser->slots[slot] - 1u;
		if (hd_ar_group_equal(&previous->groups[number], group))
			return number;
	}
	return HD_AR_NO_GROUP;
}

static void find_numbers_before(struct groups_chooser *chooser, uint32_t count,
				const struct hd_ar_switch *previous)
{
	for (uint32_t i = 0; i < count; i++)
		chooser->order[i].before = HD_AR_NO_GROUP;
	if (!previous)
		return;
	load_previous(chooser, previous);
	for (uint32_t i = 0; i < count; i++)
		chooser->order[i].before =
		    number_before(chooser, previous, &chooser->order[i].group);
	unload_previous(chooser, previous);
}

/* The more useful wish first. */
static int by_benefit(const void *left, const void *right)
{
	const struct groups_wish *a = left, *b = right;
	bool a_new = a->before == HD_AR_NO_GROUP, b_new = b->before == HD_AR_NO_GROUP;

	if (a->benefit != b->benefit)
		return a->benefit > b->benefit ? -1 : 1;
	if (a_new != b_new)
		return a_new ? 1 : -1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* The wishes that anybody has, the most useful first if not all of them fit. Returns how many get a
 * number. */
static uint32_t select_wishes(struct groups_chooser *chooser, const struct groups_wish *wishes,
			      uint32_t count, uint32_t cap, const struct hd_ar_switch *previous,
			      struct hd_ar_switch *sw)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!wishes[i].lids)
			continue;
		struct groups_wish *wish = &chooser->order[sw->wanted++];
		*wish = wishes[i];
		wish->index = i;
		wish->benefit = wish->lids * group_ports(&wish->group);
	}
	find_numbers_before(chooser, sw->wanted, previous);
	if (sw->wanted <= cap)
		return sw->wanted;
	qsort(chooser->order, sw->wanted, sizeof(*chooser->order), by_benefit);
	return cap;
}

/* In use in the previous plan, with another meaning. */
static bool had_meaning(const struct hd_ar_switch *previous, uint32_t number)
{
	return previous && number < previous->group_count &&
	       !hd_ar_group_is_empty(&previous->groups[number]);
}

/* The lowest number from *from on that is free; below `cap` there is one, unless those with another
 * meaning are passed over. HD_AR_NO_GROUP if there is none. */
static uint32_t free_number(const struct groups_chooser *chooser, uint32_t *from, uint32_t cap,
			    const struct hd_ar_switch *pass_over)
{
	for (; *from < cap; ++*from)
		if (!chooser->taken[*from] && !had_meaning(pass_over, *from))
			return (*from)++;
	return HD_AR_NO_GROUP;
}

static void give(struct groups_chooser *chooser, struct groups_wish *wishes,
		 const struct groups_wish *wish, uint32_t number, struct hd_ar_switch *sw)
{
	wishes[wish->index].number = number;
	chooser->taken[number] = 1;
	if (number >= sw->group_count)
		sw->group_count = number + 1;
}

static bool is_part(const struct hd_port_set *part, const struct hd_port_set *all)
{
	struct hd_port_set shared = *part;

	hd_port_set_intersect(&shared, all);
	return hd_port_set_equal(&shared, part);
}

static bool group_is_part(const struct hd_ar_group *part, const struct hd_ar_group *all)
{
	return is_part(&part->ports[0], &all->ports[0]) && is_part(&part->ports[1], &all->ports[1]);
}

/* The number that a group without one takes over, if that is free and below `cap`. */
static uint32_t inherited(const struct groups_chooser *chooser, const struct groups_wish *wish,
			  uint32_t cap, const struct hd_ar_switch *previous)
{
	uint32_t number = wish->heir_of;

	if (!previous || number >= cap || number >= previous->group_count || chooser->taken[number])
		return HD_AR_NO_GROUP;
	const struct hd_ar_group *before = &previous->groups[number];
	return group_is_part(&wish->group, before) || group_is_part(before, &wish->group)
		   ? number
		   : HD_AR_NO_GROUP;
}

static void number_wishes(struct groups_chooser *chooser, struct groups_wish *wishes,
			  uint32_t chosen, uint32_t cap, const struct hd_ar_switch *previous,
			  struct hd_ar_switch *sw)
{
	uint32_t fresh = 0, again = 0;

	memset(chooser->taken, 0, HD_AR_GROUPS_MAX * sizeof(*chooser->taken));
	for (uint32_t i = 0; i < chosen; i++)
		if (chooser->order[i].before < cap)
			give(chooser, wishes, &chooser->order[i], chooser->order[i].before, sw);
	for (uint32_t i = 0; i < chosen; i++) {
		if (chooser->order[i].before < cap)
			continue;
		uint32_t number = inherited(chooser, &chooser->order[i], cap, previous);
		if (number == HD_AR_NO_GROUP)
			number = free_number(chooser, &fresh, cap, previous);
		if (number == HD_AR_NO_GROUP)
			number = free_number(chooser, &again, cap, NULL);
		give(chooser, wishes, &chooser->order[i], number, sw);
	}
	sw->used = chosen;
}

/*
 * Gives numbers below `cap` to the wishes. If they are too many, those that serve most entries,
 * times ports, get one; of equal ones those that had a number before, then the first. A group that
 * had a number keeps it. A group that has only lost ports, or got some, takes over the number of
 * the one before, so that entries need no change. `previous` is the same switch in the plan in
 * force, or NULL. Fills sw->groups (in memory of the arena), group_count, used and wanted. Errors:
 * -ENOMEM, in the arena. Cost: O(wishes log wishes + previous groups).
 */
static void groups_choose(struct groups_chooser *chooser, struct groups_wish *wishes,
			  uint32_t count, uint32_t cap, const struct hd_ar_switch *previous,
			  struct hd_arena *arena, struct hd_ar_switch *sw)
{
	for (uint32_t i = 0; i < count; i++)
		wishes[i].number = HD_AR_NO_GROUP;
	uint32_t chosen = select_wishes(chooser, wishes, count, cap, previous, sw);
	number_wishes(chooser, wishes, chosen, cap, previous, sw);
	struct hd_ar_group *groups = hd_arena_alloc(arena, sw->group_count, sizeof(*groups));
	if (!groups)
		return;
	for (uint32_t i = 0; i < count; i++)
		if (wishes[i].number != HD_AR_NO_GROUP)
			groups[wishes[i].number] = wishes[i].group;
	sw->groups = groups;
}

/* ---- the planner ---- */

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
	struct plan_holder *holder = planner->holder = calloc(1, sizeof(*planner->holder));

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
	struct plan_holder *holder = planner->holder;

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
