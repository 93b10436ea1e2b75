/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plan_data.h"
#include "planning.h"

#include <stdlib.h>
#include <string.h>

static int plan_memory_allocate(struct plan_memory *memory, const struct hd_fabric *fabric)
{
	const uint32_t switches = fabric->switch_count, links = fabric->isl_count;
	const uint32_t lids = fabric->lid_count;

	memory->switch_count = switches;
	memory->lid_count = lids;
	memory->link_base =
	    hd_arena_alloc(&memory->arena, switches + 1u, sizeof(*memory->link_base));
	memory->link_to = hd_arena_alloc(&memory->arena, links, sizeof(*memory->link_to));
	memory->link_port = hd_arena_alloc(&memory->arena, links, sizeof(*memory->link_port));
	memory->stray = hd_arena_alloc(&memory->arena, links, sizeof(*memory->stray));
	memory->room = hd_arena_alloc(&memory->arena, switches, sizeof(*memory->room));
	memory->cut = hd_arena_alloc(&memory->arena, switches, sizeof(*memory->cut));
	memory->destination = hd_arena_alloc(&memory->arena, lids, sizeof(*memory->destination));
	memory->may_adapt = hd_arena_alloc(&memory->arena, lids, sizeof(*memory->may_adapt));
	return hd_arena_check(&memory->arena);
}

int plan_memory_fill(struct planner *planner)
{
	struct plan_memory *memory = planner->holder->memory;

	if (!planner->algorithm->set_of) {
		plan_memory_free(memory);
		planner->holder->memory = NULL;
		return 0;
	}
	if (plan_memory_allocate(memory, planner->fabric))
		return -ENOMEM;
	const struct hd_fabric *fabric = planner->fabric;
	const uint32_t links = fabric->isl_count;
	memcpy(memory->link_base, fabric->isl_base,
	       (fabric->switch_count + 1u) * sizeof(*memory->link_base));
	if (links) {
		memcpy(memory->link_to, fabric->isl_to, links * sizeof(*memory->link_to));
		memcpy(memory->link_port, fabric->isl_port, links);
		if (planner->stray)
			memcpy(memory->stray, planner->stray, links * sizeof(*memory->stray));
	}
	for (uint32_t sw = 0; sw < memory->switch_count; sw++) {
		memory->room[sw] = planning_room(planner, sw);
		memory->cut[sw] = cuts_any(planner->cuts, sw);
	}
	for (uint32_t lid = 0; lid < memory->lid_count; lid++) {
		const uint32_t number = planner->lids.destination[lid];
		memory->destination[lid] = number == HD_NONE ? HD_NONE : planner->lids.sw[number];
		memory->may_adapt[lid] = planner->lids.may_adapt[lid];
	}
	memory->hops = planner->hops;
	memory->hop_stride = planner->hop_stride;
	memory->level = planner->level;
	memory->algorithm = planner->algorithm;
	return 0;
}
