/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plan_shared.h"

int plan_shared_prepare(struct planner *planner, uint32_t classes)
{
	planner->wish_room = classes;
	for (unsigned i = 0; i < planner->worker_count; i++) {
		struct planner_worker *worker = &planner->workers[i];
		worker->set_of_class =
		    hd_arena_alloc(&planner->arena, classes, sizeof(*worker->set_of_class));
		link_sets_init(&worker->sets, planner->words, classes, &planner->arena);
	}
	return hd_arena_check(&planner->arena);
}

void plan_shared_set(struct planner_worker *worker, const uint64_t *set, uint32_t class)
{
	bool choice = link_sets_count(set, worker->sets.words) > 1;

	worker->set_of_class[class] =
	    choice ? link_sets_number(&worker->sets, set) : HD_AR_NO_GROUP;
}

static void make_wishes(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	for (uint32_t number = 0; number < worker->sets.count; number++) {
		struct groups_wish *wish = &worker->wishes[number];
		*wish = (struct groups_wish){.lids = 0};
		link_sets_to_ports(planner->fabric, sw, link_sets_get(&worker->sets, number),
				   planner->words, &wish->group.ports[0]);
	}
	worker->wish_count = worker->sets.count;
}

static bool is_cut(const struct planner *planner, uint32_t sw, uint32_t lid, const uint64_t *set)
{
	uint32_t destination = planner->lids.destination[lid];
	uint64_t shared = 0;

	if (!planner->cuts || destination == HD_NONE)
		return false;
	for (uint32_t word = 0; word < planner->words; word++)
		shared |= set[word] & cuts_get(planner->cuts, sw, destination)[word];
	return shared != 0;
}

void plan_shared_mark(const struct planner *planner, struct planner_worker *worker, uint32_t sw,
		      const uint32_t *class_of_lid)
{
	uint32_t lids = planner->fabric->lid_count;
	uint16_t *groups = planning_groups(planner, worker, 0);
	uint8_t *ports = planning_ports(planner, worker, 0), link_of_port[256];

	make_wishes(planner, worker, sw);
	memcpy(ports, hd_routes_row(planner->request->routes, sw), lids);
	link_sets_of_ports(planner->fabric, sw, link_of_port);
	for (uint32_t lid = 0; lid < lids; lid++) {
		uint32_t class = class_of_lid[lid], link = link_of_port[ports[lid]];
		uint32_t set = class == HD_NONE ? HD_AR_NO_GROUP : worker->set_of_class[class];
		groups[lid] = HD_AR_NO_GROUP;
		if (set == HD_AR_NO_GROUP || link == LINK_SETS_NO_LINK ||
		    !planner->lids.may_adapt[lid] ||
		    !link_sets_has(link_sets_get(&worker->sets, set), link) ||
		    is_cut(planner, sw, lid, link_sets_get(&worker->sets, set)))
			continue;
		groups[lid] = (uint16_t)set;
		worker->wishes[set].lids++;
	}
}
