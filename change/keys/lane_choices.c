/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_choices.h"

#include <errno.h>
#include <heddle/ar_manager/plan.h>
#include <string.h>

int lane_choices_init(struct lane_choices *choices, struct lane_graphs *graphs,
		      const struct hd_ar_plan *plan)
{
	const struct hd_fabric *fabric = graphs->fabric;
	const size_t switches = fabric->switch_count;
	struct hd_arena *arena = &graphs->arena;

	*choices = (struct lane_choices){.graphs = graphs, .words = graphs->lanes[0].words};
	for (uint32_t left = graphs->used; left; left &= left - 1)
		choices->words = graphs->lanes[__builtin_ctz(left)].words;
	choices->planned = hd_arena_alloc(arena, switches, sizeof(const struct hd_ar_switch *));
	choices->links = hd_arena_alloc(arena, switches * choices->words, sizeof(*choices->links));
	choices->queue = hd_arena_alloc(arena, switches, sizeof(*choices->queue));
	choices->queued = hd_arena_alloc(arena, switches, sizeof(*choices->queued));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++) {
		uint32_t index = hd_ar_plan_find(plan, fabric->node_guid[sw]);
		if (index != HD_NONE && plan->switches[index].used)
			choices->planned[sw] = &plan->switches[index];
	}
	return 0;
}

/* ---- where packets may go ---- */

static void add_port(struct lane_choices *choices, uint32_t sw, uint32_t port)
{
	const struct lane_graphs *graphs = choices->graphs;
	const struct hd_fabric *fabric = graphs->fabric;

	if (port > hd_node_ports(fabric, sw))
		return;
	const uint32_t step = graphs->columns.port_step[hd_port_index(fabric, sw, port)];
	if (!hd_step_is_link(step))
		return;
	const uint32_t bit = step - fabric->isl_base[sw];
	choices->links[(size_t)sw * choices->words + bit / 64] |= UINT64_C(1) << bit % 64;
}

static void add_group(struct lane_choices *choices, uint32_t sw, uint32_t lid)
{
	const struct hd_ar_switch *planned = choices->planned[sw];
	const uint16_t number = planned ? planned->lid_group[0][lid] : HD_AR_NO_GROUP;

	for (unsigned sub = 0; number != HD_AR_NO_GROUP && sub < HD_AR_SUB_GROUPS; sub++)
		HD_PORT_SET_FOREACH(port, &planned->groups[number].ports[sub])
			add_port(choices, sw, port);
}

static void find_links(struct lane_choices *choices, const struct hd_routes *const *tables,
		       unsigned count, uint32_t lid)
{
	const uint32_t switches = choices->graphs->fabric->switch_count;

	memset(choices->links, 0, (size_t)switches * choices->words * sizeof(*choices->links));
	for (uint32_t sw = 0; sw < switches; sw++) {
		for (unsigned i = 0; i < count; i++)
			add_port(choices, sw, hd_routes_port(tables[i], sw, lid));
		add_group(choices, sw, lid);
	}
}

/* ---- which switches they reach ---- */

/* Switches with new lanes: each is in the ring at most once. */
struct reach {
	uint32_t first, count;
};

static void arrive(struct lane_choices *choices, struct reach *reach, uint32_t sw, uint32_t lanes)
{
	const uint32_t switches = choices->graphs->fabric->switch_count;
	uint16_t *passing = &choices->graphs->passing[sw];

	if (!(lanes & ~(uint32_t)*passing))
		return;
	*passing = (uint16_t)(*passing | lanes);
	if (choices->queued[sw])
		return;
	const uint32_t place = reach->first + reach->count++;
	choices->queue[place < switches ? place : place - switches] = sw;
	choices->queued[sw] = true;
}

static void spread(struct lane_choices *choices, struct reach *reach)
{
	const struct hd_fabric *fabric = choices->graphs->fabric;

	while (reach->count) {
		const uint32_t sw = choices->queue[reach->first];
		const uint64_t *links = choices->links + (size_t)sw * choices->words;
		reach->first = reach->first + 1 < fabric->switch_count ? reach->first + 1 : 0;
		reach->count--;
		choices->queued[sw] = false;
		for (uint32_t word = 0; word < choices->words; word++)
			for (uint64_t left = links[word]; left; left &= left - 1) {
				uint32_t bit = word * 64 + (uint32_t)__builtin_ctzll(left);
				arrive(choices, reach, fabric->isl_to[fabric->isl_base[sw] + bit],
				       choices->graphs->passing[sw]);
			}
	}
}

static void find_passing(struct lane_choices *choices, const struct hd_routes *tables, uint32_t lid)
{
	const struct hd_fabric *fabric = choices->graphs->fabric;
	struct reach reach = {0, 0};

	memset(choices->graphs->passing, 0,
	       fabric->switch_count * sizeof(*choices->graphs->passing));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_has_adapters(fabric, sw))
			arrive(choices, &reach, sw, 1u << hd_routes_vl(tables, sw, lid));
	spread(choices, &reach);
}

/* ---- what they depend on ---- */

/* On one lane; most dependencies are known. */
static bool add_next(const struct lane_choices *choices, struct hd_dependencies *graph,
		     uint32_t link)
{
	const struct hd_fabric *fabric = choices->graphs->fabric;
	const uint32_t to = fabric->isl_to[link];
	const uint64_t *links = choices->links + (size_t)to * choices->words;

	for (uint32_t word = 0; word < choices->words; word++) {
		uint64_t left = links[word] & ~graph->waits_for[(size_t)link * graph->words + word];
		for (; left; left &= left - 1) {
			uint32_t bit = word * 64 + (uint32_t)__builtin_ctzll(left);
			if (!hd_dependencies_add(graph, link, fabric->isl_base[to] + bit))
				return false;
		}
	}
	return true;
}

static bool add_link(const struct lane_choices *choices, uint32_t lanes, uint32_t link)
{
	struct lane_graphs *graphs = choices->graphs;

	for (uint32_t left = lanes & graphs->used; left; left &= left - 1)
		if (!add_next(choices, &graphs->lanes[__builtin_ctz(left)], link))
			return false;
	return true;
}

bool lane_choices_add(struct lane_choices *choices, const struct hd_routes *const *tables,
		      unsigned count, uint32_t lid)
{
	const struct hd_fabric *fabric = choices->graphs->fabric;

	find_links(choices, tables, count, lid);
	find_passing(choices, tables[0], lid);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint64_t *links = choices->links + (size_t)sw * choices->words;
		const uint16_t lanes = choices->graphs->passing[sw];
		for (uint32_t word = 0; lanes && word < choices->words; word++)
			for (uint64_t left = links[word]; left; left &= left - 1) {
				uint32_t bit = word * 64 + (uint32_t)__builtin_ctzll(left);
				if (!add_link(choices, lanes, fabric->isl_base[sw] + bit))
					return false;
			}
	}
	return true;
}
