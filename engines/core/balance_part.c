/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "balance_part.h"

#include <errno.h>

#define BACK_SHARE 4u /* of a part, which may be so much smaller than others */

int balance_part_allocate(struct balance_part *part, const struct balance_plan *plan,
			  uint8_t *chosen, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = plan->request->fabric;

	*part = (struct balance_part){.plan = plan, .chosen = chosen};
	if (dag_allocate(&part->dag, fabric, arena))
		return -ENOMEM;
	part->before = hd_arena_alloc(arena, fabric->switch_count, 1);
	return balance_trees_allocate(&part->trees, fabric, plan->policy->uncounted, arena);
}

/* ---- dealing out ---- */

static bool share_neighbour(const struct hd_fabric *fabric, uint32_t a, uint32_t b)
{
	for (uint32_t left = fabric->isl_base[a]; left < fabric->isl_base[a + 1]; left++)
		for (uint32_t right = fabric->isl_base[b]; right < fabric->isl_base[b + 1]; right++)
			if (fabric->isl_to[left] == fabric->isl_to[right])
				return true;
	return false;
}

/*
 * Where to cut a list of destination switches so that paths to both sides have few links in common:
 * between switches without a common neighbour, at most `back` places before `at`; else between
 * two switches.
 */
static uint32_t find_cut(const struct hd_fabric *fabric, const uint32_t *sw, uint32_t at,
			 uint32_t back)
{
	uint32_t cut = at;

	for (; cut && at - cut < back; cut--)
		if (sw[cut] != sw[cut - 1] && !share_neighbour(fabric, sw[cut], sw[cut - 1]))
			return cut;
	for (cut = at; cut && sw[cut] == sw[cut - 1];)
		cut--;
	return cut;
}

struct dealing {
	struct balance_part *parts;
	unsigned part_count;
	const struct destinations *list;
	const struct hd_fabric *fabric;
	uint32_t *lids; /* [switch_count] */
	uint32_t *sw; /* [list->count] the destination switch of each LID, breadth first */
	uint8_t *part_of; /* [switch_count] */
};

/* Breadth first, so that switches with common neighbours follow each other. */
static void sort_switches(struct dealing *dealing, uint32_t begin, uint32_t end)
{
	const uint32_t *scan = dealing->parts->dag.scan;
	uint32_t switches = dealing->fabric->switch_count, place = 0;

	memset(dealing->lids, 0, switches * sizeof(*dealing->lids));
	for (uint32_t i = begin; i < end; i++)
		dealing->lids[dealing->list->items[i].sw]++;
	for (uint32_t i = 0; i < switches; i++)
		for (uint32_t lid = 0; lid < dealing->lids[scan[i]]; lid++)
			dealing->sw[place++] = scan[i];
}

static void deal_layer(struct dealing *dealing, uint32_t layer)
{
	const struct destinations *list = dealing->list;
	uint32_t begin = list->layer_begin[layer], end = list->layer_begin[layer + 1];
	uint32_t count = end - begin, from = 0, parts = dealing->part_count;

	sort_switches(dealing, begin, end);
	for (uint32_t part = 0; part < parts; part++) {
		uint32_t at = (uint32_t)((uint64_t)count * (part + 1) / parts);
		uint32_t to = at < count ? find_cut(dealing->fabric, dealing->sw, at,
						    count / parts / BACK_SHARE)
					 : count;
		for (; from < to; from++)
			dealing->part_of[dealing->sw[from]] = (uint8_t)part;
	}
	for (uint32_t i = begin; i < end; i++) {
		struct balance_part *part = &dealing->parts[dealing->part_of[list->items[i].sw]];
		part->row[part->list.count] = i;
		part->sw[part->list.count] = list->items[i].sw;
		part->list.items[part->list.count++] = list->items[i];
	}
	for (uint32_t i = 0; i < parts; i++)
		dealing->parts[i].list.layer_begin[layer + 1] = dealing->parts[i].list.count;
}

int balance_parts_list(struct balance_part *parts, unsigned part_count,
		       const struct destinations *list, struct hd_arena *arena)
{
	struct dealing dealing = {.parts = parts, .part_count = part_count, .list = list};

	dealing.fabric = parts->plan->request->fabric;
	dealing.part_of = hd_arena_alloc(arena, dealing.fabric->switch_count, 1);
	dealing.lids = hd_arena_alloc(arena, dealing.fabric->switch_count, sizeof(*dealing.lids));
	dealing.sw = hd_arena_alloc(arena, list->count, sizeof(*dealing.sw));
	for (unsigned i = 0; i < part_count; i++) {
		struct destinations *own = &parts[i].list;
		parts[i].row = hd_arena_alloc(arena, list->count, sizeof(*parts[i].row));
		parts[i].sw = hd_arena_alloc(arena, list->count, sizeof(*parts[i].sw));
		own->items = hd_arena_alloc(arena, list->count, sizeof(*own->items));
		own->layer_begin =
		    hd_arena_alloc(arena, list->layer_count + 1, sizeof(*own->layer_begin));
		own->layer_count = list->layer_count;
	}
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t layer = 0; layer < list->layer_count; layer++)
		deal_layer(&dealing, layer);
	return 0;
}

uint32_t balance_part_cut(const struct balance_part *part, uint32_t layer, uint32_t number,
			  uint32_t steps)
{
	const struct hd_fabric *fabric = part->plan->request->fabric;
	uint32_t begin = part->list.layer_begin[layer];
	uint32_t count = part->list.layer_begin[layer + 1] - begin;
	uint32_t at = (uint32_t)((uint64_t)count * number / steps);

	return at < count ? begin + find_cut(fabric, part->sw + begin, at, count / steps)
			  : begin + count;
}

/* ---- passes ---- */

static uint8_t *tree_of(const struct balance_part *part, uint32_t destination)
{
	return part->chosen +
	       (size_t)part->row[destination] * part->plan->request->fabric->switch_count;
}

int balance_part_build(struct balance_part *part, uint32_t destination, struct hd_error *err)
{
	const struct balance_destination *to = &part->list.items[destination];
	bool to_host = to->host != HD_NONE;
	int rc = hd_go_on_check(&part->plan->request->go_on, err);

	if (rc)
		return rc;
	if (!part->plan->per_destination && part->dag.destination == to->sw &&
	    part->dag_to_host == to_host)
		return 0;
	part->dag_to_host = to_host;
	return part->plan->build(part->plan->context, to, &part->dag, err);
}

void balance_part_settle(struct balance_part *part, uint32_t destination)
{
	const struct balance_plan *plan = part->plan;
	const uint8_t *tree = tree_of(part, destination);

	balance_tree_add(&part->trees, &part->dag, tree);
	if (plan->routed)
		plan->routed(plan->context, &part->list.items[destination], tree);
}

void balance_part_route(struct balance_part *part, uint32_t begin, uint32_t end, bool first)
{
	uint32_t switches = part->plan->request->fabric->switch_count;

	for (uint32_t d = begin; d < end && !part->rc; d++) {
		part->rc = balance_part_build(part, d, &part->err);
		if (part->rc)
			return;
		uint8_t *tree = tree_of(part, d);
		if (!first)
			balance_tree_remove(&part->trees, &part->dag, tree);
		memcpy(part->before, tree, switches);
		balance_tree_choose(&part->trees, &part->dag, tree, false);
		part->changed |= memcmp(part->before, tree, switches) != 0;
		balance_part_settle(part, d);
	}
}

void balance_parts_merge(struct balance_part *parts, unsigned part_count, uint32_t *load)
{
	uint32_t links = parts->plan->request->fabric->isl_count, bits = 0;

	if (part_count == 1)
		return;
	for (uint32_t link = 0; link < links; link++) {
		uint32_t sum = load[link];
		for (unsigned i = 0; i < part_count; i++)
			sum += parts[i].trees.load[link] - load[link];
		for (unsigned i = 0; i < part_count; i++)
			parts[i].trees.load[link] = sum;
		load[link] = sum;
		bits |= sum;
	}
	for (unsigned i = 0; i < part_count; i++)
		parts[i].trees.load_bits |= bits;
}
