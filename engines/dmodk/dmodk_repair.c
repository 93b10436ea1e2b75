/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_repair.h"
#include "dmodk_choice.h"
#include "dmodk_numbers.h"
#include "dmodk_repairing.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <string.h>

/* Calls visit for each bit of a word of a mask whose switch is present. */
static inline void each_bit(struct repairing *repairing, uint32_t level, uint32_t block,
			    uint32_t word, uint64_t bits,
			    void (*visit)(struct repairing *repairing, const struct spot *spot,
					  const struct item *item),
			    const struct item *item)
{
	const struct dmodk_masks *masks = &repairing->repair->masks;
	const struct hd_regular_tree *tree = tree_of(repairing);

	for (; bits; bits &= bits - 1) {
		uint32_t bit = word * 64 + (uint32_t)__builtin_ctzll(bits);
		uint32_t group = masks->group_of[level][bit];
		const struct spot spot = {
		    .level = level,
		    .block = block,
		    .bit = bit,
		    .sw = tree->at[level][(size_t)block * tree->above[level] + group]};
		visit(repairing, &spot, item);
	}
}

/* ---- numbers ---- */

static void number_item(const struct repairing *repairing, struct item *item, uint8_t *climb,
			uint8_t *descent, uint32_t *key)
{
	const struct hd_regular_tree *tree = tree_of(repairing);
	uint32_t number = item->number;

	for (uint32_t level = 0; level + 1 < tree->level_count; level++) {
		climb[level] = (uint8_t)(item->to_switch ? dmodk_switch_climb(tree, level,
									      repairing->sw, number)
							 : dmodk_host_climb(tree, level, number));
		descent[level + 1] =
		    (uint8_t)(item->to_switch ? dmodk_switch_descent(tree, level + 1, number)
					      : dmodk_host_descent(tree, level + 1, number));
		/* what the first cable at the level does not depend on */
		key[level] = number / (tree->above[level] * dmodk_cables_up(tree, level));
	}
	item->climb = climb;
	item->descent = descent;
	item->key = key;
}

/* ---- other cables ---- */

struct climb {
	const struct repairing *repairing;
	const struct spot *spot;
	const uint64_t *above; /* the parents that lead to the destination */
};

static inline bool can_climb(const void *context, uint32_t cable)
{
	const struct climb *climb = context;
	const struct repairing *repairing = climb->repairing;
	const struct spot *spot = climb->spot;
	uint32_t parents = tree_of(repairing)->parents[spot->level];
	uint32_t bit =
	    dmodk_parent_bit(&repairing->repair->masks, spot->level, spot->bit, cable % parents);

	return dmodk_bit(climb->above, bit) &&
	       dmodk_bit(cable_of(repairing, spot->level, spot->block, cable / parents), bit);
}

static void climb_otherwise(struct repairing *repairing, const struct spot *spot,
			    const struct item *item, uint64_t **classes)
{
	const struct hd_regular_tree *tree = tree_of(repairing);
	uint32_t parent_block = spot->block / tree->children[spot->level + 1];
	const struct climb climb = {.repairing = repairing,
				    .spot = spot,
				    .above =
					mask_of(repairing, classes, spot->level + 1, parent_block)};
	const struct dmodk_order order = {.count = dmodk_cables_up(tree, spot->level),
					  .first = item->climb[spot->level],
					  .key = item->key[spot->level] + spot->block};
	uint32_t cable = dmodk_choose(&order, can_climb, &climb);

	set_entry(repairing, spot->sw, item->lid,
		  tree->up_port[(size_t)spot->sw * HD_TREE_FANOUT + cable]);
}

static void climb_legally(struct repairing *repairing, const struct spot *spot,
			  const struct item *item)
{
	climb_otherwise(repairing, spot, item, repairing->reach.legal);
}

static void climb_to_detour(struct repairing *repairing, const struct spot *spot,
			    const struct item *item)
{
	climb_otherwise(repairing, spot, item, repairing->reach.climb);
}

struct descent {
	const struct repairing *repairing;
	const struct spot *spot;
	uint32_t child; /* block of the child */
};

static inline bool can_descend(const void *context, uint32_t cable)
{
	const struct descent *descent = context;

	return dmodk_bit(
	    cable_of(descent->repairing, descent->spot->level - 1, descent->child, cable),
	    descent->spot->bit);
}

/* Descends to a child by the first usable cable. */
static void descend_to(struct repairing *repairing, const struct spot *spot,
		       const struct item *item, uint32_t child)
{
	const struct hd_regular_tree *tree = tree_of(repairing);
	uint32_t level = spot->level, links = tree->child_links[level];
	const struct descent descent = {.repairing = repairing, .spot = spot, .child = child};
	const struct dmodk_order order = {
	    .count = links, .first = item->descent[level], .key = item->key[level - 1]};
	uint32_t cable = dmodk_choose(&order, can_descend, &descent);

	set_entry(repairing, spot->sw, item->lid,
		  tree->down_port[(size_t)spot->sw * HD_TREE_FANOUT +
				  child % tree->children[level] * links + cable]);
}

static void descend_legally(struct repairing *repairing, const struct spot *spot,
			    const struct item *item)
{
	const struct dmodk_place *to = &repairing->reach.to;

	descend_to(repairing, spot, item,
		   dmodk_block_above(tree_of(repairing), to->level, to->block, spot->level - 1));
}

/* ---- detours of switches without a legal path ---- */

/* The child to which a switch descends on a detour before all others: the one that has the
 * destination below it, else the first. */
static uint32_t best_child(const struct repairing *repairing, uint32_t level, uint32_t block)
{
	const struct hd_regular_tree *tree = tree_of(repairing);
	const struct dmodk_place *to = &repairing->reach.to;

	if (level > to->level && dmodk_contains(tree, to, level, block))
		return dmodk_block_above(tree, to->level, to->block, level - 1);
	return block * tree->children[level];
}

static bool child_leads(const struct repairing *repairing, const struct spot *spot, uint32_t child)
{
	const struct dmodk_masks *masks = &repairing->repair->masks;
	uint32_t word = spot->bit / 64, level = spot->level - 1;
	uint64_t usable =
	    masks->any[level][(size_t)child * masks->words[spot->level] + word] &
	    dmodk_repeated(masks, level,
			   reach_of(repairing, repairing->reach.descend, level, child), word);

	return usable >> spot->bit % 64 & 1;
}

/* The child to which a switch descends on a detour. */
static uint32_t detour_child(const struct repairing *repairing, const struct spot *spot)
{
	uint32_t children = tree_of(repairing)->children[spot->level];
	uint32_t child = best_child(repairing, spot->level, spot->block);

	if (child_leads(repairing, spot, child))
		return child;
	for (child = spot->block * children; !child_leads(repairing, spot, child);)
		child++;
	return child;
}

static void descend_detour(struct repairing *repairing, const struct spot *spot,
			   const struct item *item)
{
	descend_to(repairing, spot, item, detour_child(repairing, spot));
}

/* Where there are no parallel cables all LIDs take the same one. */
static void descend_detour_all(struct repairing *repairing, const struct spot *spot,
			       const struct item *item)
{
	const struct hd_regular_tree *tree = tree_of(repairing);
	uint32_t child = detour_child(repairing, spot) % tree->children[spot->level];

	(void)item;
	set_entries(repairing, spot->sw,
		    tree->down_port[(size_t)spot->sw * HD_TREE_FANOUT + child]);
}

/* Of the switches that descend on a detour in the intact tree, too: those that cannot do it by the
 * cable that they have there. */
static uint64_t lost_detours(const struct repairing *repairing, uint32_t level, uint32_t block,
			     uint32_t word, const struct item *item)
{
	const struct dmodk_masks *masks = &repairing->repair->masks;
	uint32_t child = best_child(repairing, level, block);
	const uint64_t *below = reach_of(repairing, repairing->reach.descend, level - 1, child);

	return ~(cable_of(repairing, level - 1, child, item->descent[level])[word] &
		 dmodk_repeated(masks, level - 1, below, word));
}

/* One word's entries that descend on a detour; lost: switches that have a legal path in the intact
 * tree. */
static void repair_descending_detours(struct repairing *repairing, uint32_t level, uint32_t block,
				      uint32_t word, uint64_t detours)
{
	uint64_t lost = detours & repairing->reach.intact[level][word];
	bool same = level && tree_of(repairing)->child_links[level] == 1;

	for (uint32_t i = 0; i < repairing->item_count && detours; i += same ? UINT16_MAX : 1) {
		const struct item *item = &repairing->items[i];
		uint64_t moved = lost;
		if (detours & ~lost)
			moved |= detours & lost_detours(repairing, level, block, word, item);
		each_bit(repairing, level, block, word, moved,
			 same ? descend_detour_all : descend_detour, item);
	}
}

/* Entries of a block's switches without a legal path. */
static void repair_detours(struct repairing *repairing, uint32_t level, uint32_t block)
{
	struct dmodk_reach *reach = &repairing->reach;
	const struct dmodk_masks *masks = &repairing->repair->masks;
	const uint64_t *legal = mask_of(repairing, reach->legal, level, block);
	const uint64_t *descend = mask_of(repairing, reach->descend, level, block);
	const uint64_t *climb = mask_of(repairing, reach->climb, level, block);

	for (uint32_t word = 0; word < masks->words[level]; word++) {
		uint64_t climbing = climb[word] & ~descend[word];
		repair_descending_detours(repairing, level, block, word,
					  descend[word] & ~legal[word]);
		for (uint32_t i = 0; i < repairing->item_count && climbing; i++)
			each_bit(repairing, level, block, word, climbing, climb_to_detour,
				 &repairing->items[i]);
	}
}

/* ---- legal paths ---- */

/* Entries of switches that descend to the destination by parallel cables. */
static void repair_descents(struct repairing *repairing, uint32_t level, uint32_t block)
{
	const struct hd_regular_tree *tree = tree_of(repairing);
	const struct dmodk_place *to = &repairing->reach.to;
	const uint64_t *legal = mask_of(repairing, repairing->reach.legal, level, block);
	uint32_t words = repairing->repair->masks.words[level];

	if (level == to->level || tree->child_links[level] == 1)
		return;
	uint32_t child = dmodk_block_above(tree, to->level, to->block, level - 1);
	for (uint32_t i = 0; i < repairing->item_count; i++) {
		const struct item *item = &repairing->items[i];
		const uint64_t *cable = cable_of(repairing, level - 1, child, item->descent[level]);
		for (uint32_t word = 0; word < words; word++)
			each_bit(repairing, level, block, word, legal[word] & ~cable[word],
				 descend_legally, item);
	}
}

/* The items that take a cable in the closed form, at switches that cannot use it. */
static void climb_by_others(struct repairing *repairing, uint32_t level, uint32_t block,
			    uint32_t number, uint32_t word, uint64_t switches)
{
	uint32_t levels = tree_of(repairing)->level_count;

	for (uint32_t i = repairing->first_item[level * HD_TREE_FANOUT + number]; i != HD_NONE;
	     i = repairing->next_item[i * levels + level])
		each_bit(repairing, level, block, word, switches, climb_legally,
			 &repairing->items[i]);
}

/* Entries of a leaf: the bits of its masks are parents. */
static void repair_leaf_climbs(struct repairing *repairing, uint32_t block)
{
	const struct dmodk_masks *masks = &repairing->repair->masks;
	const struct hd_regular_tree *tree = tree_of(repairing);
	const uint64_t *legal = mask_of(repairing, repairing->reach.legal, 0, block);
	const uint64_t *above =
	    mask_of(repairing, repairing->reach.legal, 1, block / tree->children[1]);

	for (uint32_t i = 0; legal[0] && i < tree->parent_links[0]; i++) {
		const uint64_t *cable = cable_of(repairing, 0, block, i);
		for (uint32_t word = 0; word < masks->words[1]; word++)
			for (uint64_t bits = masks->valid[1][word] & ~(cable[word] & above[word]);
			     bits; bits &= bits - 1)
				climb_by_others(repairing, 0, block,
						i * tree->parents[0] + word * 64 +
						    (uint32_t)__builtin_ctzll(bits),
						0, legal[0]);
	}
}

/* Entries of switches that climb. */
static void repair_climbs(struct repairing *repairing, uint32_t level, uint32_t block)
{
	const struct dmodk_masks *masks = &repairing->repair->masks;
	const struct hd_regular_tree *tree = tree_of(repairing);
	const uint64_t *legal = mask_of(repairing, repairing->reach.legal, level, block);
	const uint64_t *above = mask_of(repairing, repairing->reach.legal, level + 1,
					block / tree->children[level + 1]);
	uint32_t parents = tree->parents[level], words = masks->words[level];

	for (uint32_t number = 0; number < dmodk_cables_up(tree, level); number++) {
		const uint64_t *cable = cable_of(repairing, level, block, number / parents);
		uint32_t slice = number % parents * words;
		for (uint32_t word = 0; word < words; word++) {
			uint64_t lost = legal[word] & ~(cable[slice + word] & above[slice + word]);
			if (lost)
				climb_by_others(repairing, level, block, number, word, lost);
		}
	}
}

/* ---- destinations ---- */

/* Puts an item at the head of the lists of the cables by which it climbs. */
static void chain_item(struct repairing *repairing, uint32_t i)
{
	uint32_t levels = tree_of(repairing)->level_count;

	for (uint32_t level = 0; level + 1 < levels; level++) {
		uint32_t *first =
		    &repairing
			 ->first_item[level * HD_TREE_FANOUT + repairing->items[i].climb[level]];
		repairing->next_item[i * levels + level] = *first;
		*first = i;
	}
}

static void list_items(struct repairing *repairing, uint32_t sw)
{
	const struct hd_regular_tree *tree = tree_of(repairing);
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t count = 0, port = fabric->port_base[sw];

	repairing->sw = sw;
	for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1]; host++)
		for (uint32_t offset = 0;
		     offset < hd_port_lid_count(fabric, fabric->host_port[host]); offset++)
			repairing->items[count++] =
			    (struct item){.lid = fabric->lid[fabric->host_port[host]] + offset,
					  .number = repairing->repair->position[host] + offset};
	for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++)
		repairing->items[count++] = (struct item){.lid = fabric->lid[port] + offset,
							  .number = tree->ordinal[sw] + offset,
							  .to_switch = true};
	repairing->item_count = count;
	memset(repairing->first_item, 0xFF,
	       tree->level_count * HD_TREE_FANOUT * sizeof(*repairing->first_item));
	for (uint32_t i = 0; tree->group[sw] != HD_NONE && i < count; i++) {
		uint8_t *numbers = repairing->numbers + (size_t)i * 2 * tree->level_count;
		number_item(repairing, &repairing->items[i], numbers, numbers + tree->level_count,
			    repairing->keys + (size_t)i * tree->level_count);
		chain_item(repairing, i);
	}
}

/* Leaves with hosts that have a path to the destination but no legal one. */
static bool leaf_is_cut(const struct repairing *repairing)
{
	const struct repair *repair = repairing->repair;
	const struct hd_regular_tree *tree = repair->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t to = repairing->sw;

	if (repairing->reach.all || fabric->host_base[to] == fabric->host_base[to + 1])
		return false;
	for (uint32_t leaf = 0; leaf < hd_regular_tree_blocks(tree, 0); leaf++) {
		uint32_t sw = tree->at[0][leaf];
		if (sw != HD_NONE && repairing->reach.open[0][leaf] &&
		    !repairing->reach.legal[0][leaf] &&
		    fabric->host_base[sw] < fabric->host_base[sw + 1] &&
		    repair->component[sw] == repair->component[to])
			return true;
	}
	return false;
}

static void repair_tree(struct repairing *repairing)
{
	const struct hd_regular_tree *tree = tree_of(repairing);
	const struct dmodk_reach *reach = &repairing->reach;

	for (uint32_t level = 0; level < tree->level_count; level++)
		for (uint32_t block = 0; block < hd_regular_tree_blocks(tree, level); block++) {
			if (!reach->open[level][block])
				continue;
			if (dmodk_contains(tree, &reach->to, level, block))
				repair_descents(repairing, level, block);
			else if (level)
				repair_climbs(repairing, level, block);
			else
				repair_leaf_climbs(repairing, block);
			if (!reach->all)
				repair_detours(repairing, level, block);
		}
}

static bool all_reached(const struct repairing *repairing)
{
	const struct hd_regular_tree *tree = tree_of(repairing);
	const struct dmodk_masks *masks = &repairing->repair->masks;
	const struct dmodk_reach *reach = &repairing->reach;

	for (uint32_t level = 0; !reach->all && level < tree->level_count; level++)
		for (uint32_t block = 0; block < hd_regular_tree_blocks(tree, level); block++)
			if (reach->open[level][block] &&
			    memcmp(mask_of(repairing, masks->present, level, block),
				   mask_of(repairing, reach->climb, level, block),
				   masks->words[level] * sizeof(uint64_t)) != 0)
				return false;
	return true;
}

/* All entries of and for a switch without cables are holes already. */
static bool is_stray(const struct hd_regular_tree *tree, uint32_t sw)
{
	return tree->group[sw] == HD_NONE &&
	       tree->fabric->isl_base[sw] < tree->fabric->isl_base[sw + 1];
}

static void repair_destination(struct repairing *repairing, uint32_t sw)
{
	const struct repair *repair = repairing->repair;
	const struct hd_regular_tree *tree = repair->tree;

	list_items(repairing, sw);
	if (tree->group[sw] == HD_NONE) {
		if (is_stray(tree, sw))
			dmodk_rest_repair(repairing);
		return;
	}
	uint32_t level = tree->level[sw];
	dmodk_reach_find(&repair->masks,
			 (struct dmodk_place){.level = level,
					      .block = tree->first_leaf[sw] / tree->leaves[level],
					      .group = tree->group[sw]},
			 &repairing->reach);
	if (leaf_is_cut(repairing))
		atomic_store(&repairing->repair->cut, true);
	repair_tree(repairing);
	if (repair->strays || !all_reached(repairing))
		dmodk_rest_repair(repairing);
}

static void repair_chunk(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct repair *repair = context;

	for (uint32_t sw = begin; sw < end && !atomic_load(&repair->cut); sw++)
		repair_destination(&repair->workers[worker], sw);
}

/* Most LIDs that one switch and its hosts have. */
static uint32_t most_items(const struct hd_fabric *fabric)
{
	uint32_t most = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t count = hd_port_lid_count(fabric, fabric->port_base[sw]);
		for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1];
		     host++)
			count += hd_port_lid_count(fabric, fabric->host_port[host]);
		most = count > most ? count : most;
	}
	return most;
}

static int allocate(struct repair *repair, unsigned workers, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = repair->tree->fabric;
	uint32_t items = most_items(fabric);

	repair->workers = hd_arena_alloc(arena, workers, sizeof(*repair->workers));
	if (dmodk_masks_make(repair->tree, arena, &repair->masks) || hd_arena_check(arena))
		return -ENOMEM;
	for (unsigned i = 0; i < workers; i++) {
		struct repairing *worker = &repair->workers[i];
		worker->repair = repair;
		worker->items = hd_arena_alloc(arena, items, sizeof(*worker->items));
		worker->numbers = hd_arena_alloc(arena, items, 2 * repair->tree->level_count);
		worker->keys =
		    hd_arena_alloc(arena, items, repair->tree->level_count * sizeof(uint32_t));
		worker->first_item = hd_arena_alloc(arena, repair->tree->level_count,
						    HD_TREE_FANOUT * sizeof(uint32_t));
		worker->next_item =
		    hd_arena_alloc(arena, items, repair->tree->level_count * sizeof(uint32_t));
		worker->reached = hd_arena_alloc(arena, fabric->switch_count, 1);
		worker->rest = hd_arena_alloc(arena, fabric->switch_count, sizeof(uint32_t));
		if (dmodk_reach_allocate(&repair->masks, arena, &worker->reach))
			return -ENOMEM;
	}
	return hd_arena_check(arena);
}

int dmodk_repair(const struct hd_regular_tree *tree, const uint32_t *position,
		 const uint32_t *component, unsigned threads, struct hd_routes *routes)
{
	struct hd_arena arena = {0};
	struct repair repair = {
	    .tree = tree, .position = position, .component = component, .routes = routes};
	int rc = allocate(&repair, hd_parallel_workers(threads), &arena);

	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++)
		repair.strays |= is_stray(tree, sw);
	if (!rc)
		hd_parallel_for(threads, tree->fabric->switch_count, 16, repair_chunk, &repair);
	if (!rc && atomic_load(&repair.cut))
		rc = DMODK_CUT;
	hd_arena_release(&arena);
	return rc;
}
