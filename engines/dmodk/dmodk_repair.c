/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_repair.h"
#include "dmodk_choice.h"
#include "dmodk_numbers.h"
#include "dmodk_repairing.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <string.h>

/* Leaves with hosts that have a path to the destination but no legal one. */
static bool leaf_is_cut(const struct dmodk_repairing *repairing)
{
	const struct dmodk_damage *damage = repairing->damage;
	const struct hd_regular_tree *tree = damage->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t to = repairing->sw;

	if (repairing->reach.all || fabric->host_base[to] == fabric->host_base[to + 1])
		return false;
	for (uint32_t i = 0; i < repairing->reach.opened_count[0]; i++) {
		uint32_t leaf = repairing->reach.opened[0][i], sw = tree->at[0][leaf];
		if (sw != HD_NONE && !repairing->reach.legal[0][leaf] &&
		    fabric->host_base[sw] < fabric->host_base[sw + 1] &&
		    damage->component[sw] == damage->component[to])
			return true;
	}
	return false;
}

static void repair_tree(struct dmodk_repairing *repairing)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	const struct dmodk_reach *reach = &repairing->reach;

	for (uint32_t level = 0; level < tree->level_count; level++) {
		dmodk_paths_repair(repairing, level);
		if (!reach->all)
			dmodk_detours_repair(repairing, level);
	}
}

/* All entries of and for a switch without cables are holes already. */
static bool is_stray(const struct hd_regular_tree *tree, uint32_t sw)
{
	return tree->group[sw] == HD_NONE &&
	       tree->fabric->isl_base[sw] < tree->fabric->isl_base[sw + 1];
}

static void repair_destination(struct dmodk_repairing *repairing, uint32_t sw)
{
	const struct dmodk_damage *damage = repairing->damage;
	const struct hd_regular_tree *tree = damage->tree;

	dmodk_items_list(repairing, sw);
	if (!repairing->item_count)
		return;
	if (tree->group[sw] == HD_NONE) {
		if (is_stray(tree, sw))
			dmodk_rest_repair(repairing);
		return;
	}
	uint32_t level = tree->level[sw];
	dmodk_reach_find(&damage->masks,
			 (struct dmodk_place){.level = level,
					      .block = tree->first_leaf[sw] / tree->leaves[level],
					      .group = tree->group[sw]},
			 &repairing->reach);
	if (leaf_is_cut(repairing))
		atomic_store(&repairing->damage->cut, true);
	repair_tree(repairing);
	if (damage->strays || !repairing->reach.all_climb)
		dmodk_rest_repair(repairing);
}

static void repair_chunk(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct dmodk_damage *damage = context;

	for (uint32_t sw = begin; sw < end && !atomic_load(&damage->cut); sw++)
		repair_destination(&damage->workers[worker], sw);
}

/* The largest number that a LID can have. */
static uint32_t largest_number(const struct dmodk_damage *damage)
{
	const struct hd_regular_tree *tree = damage->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t most = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t end =
		    damage->position[host] + hd_port_lid_count(fabric, fabric->host_port[host]);
		most = end > most ? end : most;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t end = tree->ordinal[sw] + hd_port_lid_count(fabric, fabric->port_base[sw]);
		most = end > most ? end : most;
	}
	return most;
}

static void list_ports(struct dmodk_damage *damage, uint32_t level, struct dmodk_cables *cables)
{
	const struct hd_regular_tree *tree = damage->tree;
	uint32_t places = hd_regular_tree_blocks(tree, level) * tree->above[level];
	uint8_t *ports = cables->ports;

	for (uint32_t place = 0; place < places; place++, ports += cables->count + 1) {
		uint32_t sw = tree->at[level][place];
		if (sw != HD_NONE)
			memcpy(ports, tree->up_port + (size_t)sw * HD_TREE_FANOUT, cables->count);
		ports[cables->count] = HD_NO_PORT;
	}
}

static int list_cables(struct dmodk_damage *damage, uint32_t level, uint32_t largest,
		       struct hd_arena *arena)
{
	const struct hd_regular_tree *tree = damage->tree;
	struct dmodk_cables *cables = &damage->cables[level];
	uint32_t blocks = hd_regular_tree_blocks(tree, level);
	uint32_t keys = dmodk_key(tree, level, largest) + blocks;

	cables->count = dmodk_cables_up(tree, level);
	cables->steps = hd_arena_alloc(arena, keys, cables->count - 1);
	cables->ports =
	    hd_arena_alloc(arena, (size_t)blocks * tree->above[level], cables->count + 1);
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t cable = 0; cable < cables->count; cable++) {
		cables->parent[cable] = (uint8_t)(cable % tree->parents[level]);
		cables->parallel[cable] = (uint8_t)(cable / tree->parents[level]);
		cables->leaf_bit[cable] =
		    (uint16_t)(cables->parallel[cable] * damage->masks.words[1] * 64 +
			       cables->parent[cable]);
	}
	for (uint32_t key = 0; key < keys; key++)
		dmodk_list_steps(cables->count, key,
				 cables->steps + (size_t)key * (cables->count - 1));
	list_ports(damage, level, cables);
	return 0;
}

static int list_rows(struct dmodk_damage *damage, uint32_t level, struct hd_arena *arena)
{
	const struct hd_regular_tree *tree = damage->tree;
	uint32_t places = hd_regular_tree_blocks(tree, level) * tree->above[level];

	damage->row[level] = hd_arena_alloc(arena, places, sizeof(**damage->row));
	for (uint32_t place = 0; damage->row[level] && place < places; place++)
		if (tree->at[level][place] != HD_NONE)
			damage->row[level][place] =
			    hd_routes_row(damage->routes, tree->at[level][place]);
	return hd_arena_check(arena);
}

static int list_levels(struct dmodk_damage *damage, struct hd_arena *arena)
{
	const struct hd_regular_tree *tree = damage->tree;
	uint32_t largest = largest_number(damage);

	damage->cables = hd_arena_alloc(arena, tree->level_count, sizeof(*damage->cables));
	damage->row = hd_arena_alloc(arena, tree->level_count, sizeof(*damage->row));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t level = 0; level < tree->level_count; level++)
		if (list_rows(damage, level, arena) ||
		    (level + 1 < tree->level_count && list_cables(damage, level, largest, arena)))
			return -ENOMEM;
	return 0;
}

static int allocate_worker(struct dmodk_damage *damage, struct dmodk_repairing *worker,
			   struct hd_arena *arena)
{
	const struct hd_regular_tree *tree = damage->tree;
	uint32_t switches = tree->fabric->switch_count, levels = tree->level_count;
	uint32_t items = dmodk_items_most(tree->fabric);

	worker->damage = damage;
	worker->items = hd_arena_alloc(arena, items, sizeof(*worker->items));
	worker->spans = hd_arena_alloc(arena, items, sizeof(*worker->spans));
	worker->descents = hd_arena_alloc(arena, items, levels);
	worker->runs = hd_arena_alloc(arena, levels, sizeof(*worker->runs));
	worker->run_count = hd_arena_alloc(arena, levels, sizeof(*worker->run_count));
	for (uint32_t level = 0; worker->runs && level + 1 < levels; level++)
		worker->runs[level] = hd_arena_alloc(arena, items, sizeof(**worker->runs));
	uint32_t width = levels > 1 ? tree->parent_links[0] * damage->masks.words[1] : 0;
	worker->taken = hd_arena_alloc(arena, width, sizeof(*worker->taken));
	worker->first_run = hd_arena_alloc(arena, width, 64 * sizeof(*worker->first_run));
	worker->reached = hd_arena_alloc(arena, switches, 1);
	worker->rest = hd_arena_alloc(arena, switches, sizeof(*worker->rest));
	return dmodk_reach_allocate(&damage->masks, arena, &worker->reach);
}

static int allocate(struct dmodk_damage *damage, unsigned workers, struct hd_arena *arena)
{
	if (dmodk_masks_make(damage->tree, arena, &damage->masks) || list_levels(damage, arena))
		return -ENOMEM;
	damage->workers = hd_arena_alloc(arena, workers, sizeof(*damage->workers));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (unsigned i = 0; i < workers; i++)
		if (allocate_worker(damage, &damage->workers[i], arena))
			return -ENOMEM;
	return 0;
}

/* Tables of the same size whose entries may stay. */
static void keep(struct dmodk_damage *damage, const struct hd_routes *tables)
{
	if (tables && tables->stride == damage->routes->stride &&
	    tables->switch_count == damage->routes->switch_count)
		damage->kept[damage->kept_count++] = tables;
}

int dmodk_repair(const struct hd_regular_tree *tree, const uint32_t *position,
		 const uint32_t *component, const struct hd_route_request *request,
		 struct hd_routes *routes)
{
	struct hd_arena arena = {0};
	struct dmodk_damage damage = {
	    .tree = tree, .position = position, .component = component, .routes = routes};

	if (request->baseline != request->previous)
		keep(&damage, request->baseline);
	keep(&damage, request->previous);
	int rc = allocate(&damage, hd_parallel_workers(request->threads), &arena);

	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++)
		damage.strays |= is_stray(tree, sw);
	if (!rc)
		rc = hd_parallel_for_while(request->threads, tree->fabric->switch_count, 16,
					   repair_chunk, &damage, &request->go_on);
	if (!rc && atomic_load(&damage.cut))
		rc = DMODK_CUT;
	hd_arena_release(&arena);
	return rc;
}
