/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The row of a switch from the row of the plan before. planner.c asks for it switch by switch, in many threads; a
 * worker writes only its own memory.
 *
 * An entry is made again only if the hop counts, the static port or the owner of its LID have changed. Groups that
 * keep an entry keep their number. If a group without a number is wanted twice, or the table becomes too small,
 * the switch is planned afresh; the result is the same in both ways.
 */
#include "plan_again.h"
#include "plan_changes.h"
#include "plan_data.h"

#include <string.h>

#define CHUNK 64u /* ports compared at a time */
#define MANY_LIDS 16u /* one of so many LIDs has another entry: the switch is planned afresh */

static void set_bit(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* An entry that is made again. */
struct entry {
	uint32_t lid;
	uint16_t group;
	uint8_t port;
};

/* Memory of a worker, and what becomes of the switch at hand. */
struct plan_again_work {
	uint64_t
	    *lids; /* [words] LIDs whose entries are made again: bits; all 0 between two switches */
	struct entry *entries; /* [entry_room] */
	uint32_t entry_count, entry_room;
	uint32_t *counts; /* [HD_AR_GROUPS_MAX + 1] entries of each group; at last of the new one */
	const struct hd_ar_switch *was;
	const struct hd_ar_row *row; /* of `was` */
	uint64_t with_port, adaptive; /* entries of the switch */
	bool differs; /* an entry */
	/* The class at hand. */
	uint32_t class; /* HD_NONE: none yet */
	uint32_t class_group; /* its group, NEW_GROUP, or HD_AR_NO_GROUP if it has no choice */
	/* A group that the switch did not have. */
	bool has_new;
	struct groups_wish wish;
	uint8_t link_of_port[256];
};

#define NEW_GROUP HD_AR_GROUPS_MAX /* below HD_AR_NO_GROUP, above all numbers */

void plan_again_init_worker(struct planner *planner, struct planner_worker *worker)
{
	struct hd_arena *arena = &planner->arena;

	if (!planner->changes)
		return;
	struct plan_again_work *work = hd_arena_alloc(arena, 1, sizeof(*work));
	if (!work)
		return;
	work->entry_room = planner->changes->words * 64 / MANY_LIDS + CHUNK;
	work->lids = hd_arena_alloc(arena, planner->changes->words, sizeof(*work->lids));
	work->entries = hd_arena_alloc(arena, work->entry_room, sizeof(*work->entries));
	work->counts = hd_arena_alloc(arena, HD_AR_GROUPS_MAX + 1u, sizeof(*work->counts));
	worker->again = work;
}

/* Finds the LIDs whose static port differs. */
static bool compare_ports(const uint8_t *now, const uint8_t *was, uint32_t count, uint64_t *lids)
{
	bool any = false;

	for (uint32_t first = 0; first < count; first += CHUNK) {
		const uint32_t end = least(first + CHUNK, count);
		if (!memcmp(now + first, was + first, end - first))
			continue;
		any = true;
		for (uint32_t lid = first; lid < end; lid++)
			if (now[lid] != was[lid])
				set_bit(lids, lid);
	}
	return any;
}

/* The LIDs whose entries are made again; false: none. */
static bool find_lids(const struct planner *planner, struct plan_again_work *work, uint32_t sw)
{
	const struct plan_changes *changes = planner->changes;
	const uint32_t first = changes->pair_base[sw], end = changes->pair_base[sw + 1];
	const uint32_t lids = least(planner->fabric->lid_count, changes->known->lid_count);
	bool any = compare_ports(hd_routes_row(planner->request->routes, sw),
				 work->was->lid_port[0], lids, work->lids);

	for (uint32_t word = 0; changes->any_lid && word < changes->words; word++)
		work->lids[word] |= changes->lids[word];
	for (uint32_t i = first; i < end; i++) {
		const uint32_t number = changes->destinations[i];
		for (uint32_t j = changes->lid_base[number]; j < changes->lid_base[number + 1]; j++)
			set_bit(work->lids, changes->lid_list[j]);
	}
	return any || changes->any_lid || first < end;
}

/* The number of the group of a class, or NEW_GROUP. False: a second group is new. */
static bool find_group(const struct planner *planner, struct plan_again_work *work, uint32_t sw,
		       const uint64_t *set)
{
	struct hd_ar_group group = {0};
	const struct hd_ar_switch *was = work->was;

	work->class_group = HD_AR_NO_GROUP;
	if (link_sets_count(set, planner->words) < 2)
		return true;
	link_sets_to_ports(planner->fabric, sw, set, planner->words, &group.ports[0]);
	for (uint32_t number = 0; number < was->group_count; number++)
		if (hd_ar_group_equal(&was->groups[number], &group)) {
			work->class_group = number;
			return true;
		}
	work->class_group = NEW_GROUP;
	if (work->has_new)
		return hd_ar_group_equal(&work->wish.group, &group);
	return true;
}

/* The group that an entry wants now. False: the switch has to be planned afresh. */
static bool wanted_group(const struct planner *planner, struct planner_worker *worker, uint32_t sw,
			 uint32_t lid, uint8_t port, uint16_t *group)
{
	struct plan_again_work *work = worker->again;
	const uint8_t link = work->link_of_port[port];

	*group = HD_AR_NO_GROUP;
	if (!planner->lids.may_adapt[lid] || link == LINK_SETS_NO_LINK)
		return true;
	const uint32_t class = planner->algorithm->class_of(planner, sw, lid, link);
	if (class == HD_NONE)
		return true;
	if (class != work->class) {
		planner->algorithm->set_of(planner, worker, sw, class);
		work->class = class;
		if (!find_group(planner, work, sw, worker->set))
			return false;
	}
	if (work->class_group == HD_AR_NO_GROUP || !link_sets_has(worker->set, link))
		return true;
	*group = (uint16_t)work->class_group;
	if (*group == NEW_GROUP) {
		const uint64_t *set = worker->set;
		if (!work->has_new) {
			work->has_new = true;
			work->wish = (struct groups_wish){.heir_of = HD_AR_NO_GROUP};
			link_sets_to_ports(planner->fabric, sw, set, planner->words,
					   &work->wish.group.ports[0]);
		}
	}
	return true;
}

/* What the entry was counts no more. */
static uint16_t leave_entry(const struct planner *planner, struct plan_again_work *work,
			    uint32_t lid, uint8_t *port)
{
	*port = HD_NO_PORT;
	if (lid >= planner->changes->known->lid_count)
		return HD_AR_NO_GROUP;
	const uint16_t group = work->was->lid_group[0][lid];
	*port = work->was->lid_port[0][lid];
	work->with_port -= *port != HD_NO_PORT;
	if (group != HD_AR_NO_GROUP) {
		work->adaptive--;
		work->counts[group]--;
	}
	return group;
}

static bool make_entry(const struct planner *planner, struct planner_worker *worker, uint32_t sw,
		       uint32_t lid)
{
	struct plan_again_work *work = worker->again;
	uint8_t port_before;
	const uint16_t before = leave_entry(planner, work, lid, &port_before);

	if (lid >= planner->fabric->lid_count)
		return true;
	if (work->entry_count == work->entry_room)
		return false;
	struct entry *entry = &work->entries[work->entry_count++];
	*entry =
	    (struct entry){.lid = lid, .port = hd_routes_row(planner->request->routes, sw)[lid]};
	if (!wanted_group(planner, worker, sw, lid, entry->port, &entry->group))
		return false;
	work->with_port += entry->port != HD_NO_PORT;
	work->differs |= entry->port != port_before || entry->group != before;
	if (entry->group == HD_AR_NO_GROUP)
		return true;
	work->adaptive++;
	work->counts[entry->group]++;
	if (entry->group == NEW_GROUP && work->wish.heir_of == HD_AR_NO_GROUP)
		work->wish.heir_of = before;
	return true;
}

static bool make_entries(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	struct plan_again_work *work = worker->again;
	bool made = true;

	for (uint32_t word = 0; word < planner->changes->words; word++) {
		uint64_t left = work->lids[word];
		work->lids[word] = 0;
		for (; made && left; left &= left - 1)
			made = make_entry(planner, worker, sw,
					  word * 64 + (uint32_t)__builtin_ctzll(left));
	}
	return made;
}

static void make_row(const struct planner *planner, struct planner_worker *worker,
		     struct hd_ar_switch *planned)
{
	const struct plan_again_work *work = worker->again;
	struct hd_ar_row *row = plan_row_new(1, planner->fabric->lid_count, planned->group_count);
	uint16_t new_group = HD_AR_NO_GROUP;

	if (!row) {
		worker->failed = true;
		return;
	}
	for (uint32_t i = 0; i < worker->wish_count; i++) {
		const struct groups_wish *wish = &worker->wishes[i];
		row->groups[wish->number] = wish->group;
		row->lids[wish->number] = (uint32_t)wish->lids;
		new_group =
		    (uint16_t)wish->number; /* the last one is the new one, if there is one */
	}
	const uint32_t was = planner->changes->known->lid_count, now = row->lid_count;
	memcpy(row->lid_group, work->was->lid_group[0], least(was, now) * sizeof(*row->lid_group));
	memcpy(row->lid_port, work->was->lid_port[0], least(was, now));
	for (uint32_t i = 0; i < work->entry_count; i++) {
		const struct entry *entry = &work->entries[i];
		row->lid_port[entry->lid] = entry->port;
		row->lid_group[entry->lid] = entry->group == NEW_GROUP ? new_group : entry->group;
	}
	row->entries = work->with_port;
	row->adaptive = row->possible = work->adaptive;
	row->counted = true;
	plan_row_use(row, planned);
}

static void share(const struct plan_again_work *work, struct hd_ar_switch *planned)
{
	*planned = *work->was;
	plan_row_hold(work->row);
}

bool plan_again_switch(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	const struct plan_changes *changes = planner->changes;
	struct hd_ar_switch *planned = &planner->switches[sw];
	struct plan_again_work *work = worker->again;

	if (!changes || changes->whole[sw])
		return false;
	work->was = &planner->changes->previous->switches[planner->changes->before[sw]];
	work->row = work->was->row;
	work->entry_count = 0;
	work->with_port = work->row->entries;
	work->adaptive = work->row->adaptive;
	work->differs = work->has_new = false;
	work->class = HD_NONE;
	work->counts[NEW_GROUP] = 0;
	if (work->was->group_count)
		memcpy(work->counts, work->row->lids,
		       work->was->group_count * sizeof(*work->counts));
	const bool any = find_lids(planner, work, sw);
	if (!any) {
		share(work, planned);
		return true;
	}
	link_sets_of_ports(planner->fabric, sw, work->link_of_port);
	const bool made = make_entries(planner, worker, sw);
	/* without room for all groups their worth counts, too */
	if (!made || work->was->wanted > work->was->used)
		return false;
	if (!work->differs && planner->fabric->lid_count == changes->known->lid_count) {
		share(work, planned);
		return true;
	}
	struct hd_ar_switch now = {.guid = planned->guid, .sub_groups = planned->sub_groups};
	now.form = work->was->form;
	/* Gives numbers to the groups, as if the switch were planned afresh. False: there may be
	 * no room for all. */
	const struct hd_ar_switch *was = work->was;
	const uint32_t room = planning_room(planner, sw);
	worker->wish_count = 0;
	for (uint32_t number = 0; number < was->group_count; number++) {
		if (!work->counts[number])
			continue;
		if (worker->wish_count == planner->wish_room)
			return false;
		worker->wishes[worker->wish_count++] =
		    (struct groups_wish){.group = was->groups[number],
					 .lids = work->counts[number],
					 .heir_of = HD_AR_NO_GROUP};
	}
	if (worker->wish_count + work->has_new > least(planner->wish_room, room))
		return false;
	if (work->has_new) {
		work->wish.lids = work->counts[NEW_GROUP];
		worker->wishes[worker->wish_count++] = work->wish;
	}
	groups_choose(&worker->chooser, worker->wishes, worker->wish_count, room, was, &now);
	make_row(planner, worker, &now);
	if (!worker->failed)
		*planned = now;
	return true;
}
