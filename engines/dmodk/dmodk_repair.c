/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Repairs the tables of the closed form: dmodk_steps.h says how. */
#include "dmodk_numbers.h"
#include "dmodk_repairing.h"
#include "dmodk_steps.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/fabric/siblings.h>
#include <string.h>

static const uint64_t *dmodk_reach_of(const struct dmodk_repairing *repairing, uint64_t **list,
				      uint32_t level, uint32_t block)
{
	return dmodk_reach_mask(&repairing->damage->masks, &repairing->reach, list, level, block);
}

static void dmodk_set_entries(const struct dmodk_repairing *repairing, uint8_t *row, uint8_t port)
{
	for (uint32_t i = 0; i < repairing->span_count; i++)
		memset(row + repairing->spans[i].lid, port, repairing->spans[i].count);
}

/* ---- items ---- */

static uint32_t climb_of(const struct dmodk_repairing *repairing, const struct dmodk_item *item,
			 uint32_t level)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);

	return item->to_switch ? dmodk_switch_climb(tree, level, repairing->sw, item->number)
			       : dmodk_host_climb(tree, level, item->number);
}

static void find_descents(struct dmodk_repairing *repairing, uint32_t i)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	uint8_t *descent = repairing->descents + (size_t)i * tree->level_count;
	struct dmodk_item *item = &repairing->items[i];

	for (uint32_t level = 1; level < tree->level_count; level++)
		if (tree->child_links[level] > 1)
			descent[level] =
			    (uint8_t)(item->to_switch
					  ? dmodk_switch_descent(tree, level, item->number)
					  : dmodk_host_descent(tree, level, item->number));
	item->descent = descent;
}

static void find_runs(struct dmodk_repairing *repairing, uint32_t level)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	struct dmodk_run *run = repairing->runs[level] - 1;

	for (uint32_t i = 0; i < repairing->item_count; i++) {
		const struct dmodk_item *item = &repairing->items[i];
		uint32_t first = climb_of(repairing, item, level);
		uint32_t key = dmodk_key(tree, level, item->number);
		uint8_t avoid = level == repairing->damage->part_level ? item->avoid : DMODK_ANY;
		if (!i || run->first != first || run->key != key || run->avoid != avoid)
			*++run = (struct dmodk_run){.begin = i,
						    .first = first,
						    .key = key,
						    .lid = item->lid,
						    .follow = true,
						    .avoid = avoid,
						    .next = HD_NONE};
		run->end = i + 1;
		run->follow &= item->lid == run->lid + i - run->begin;
	}
	repairing->run_count[level] = (uint32_t)(run + 1 - repairing->runs[level]);
}

/* Leaves look for the runs of the cables that they have lost. */
static void chain_runs(struct dmodk_repairing *repairing)
{
	const struct dmodk_cables *cables = &repairing->damage->cables[0];
	uint32_t width =
	    dmodk_tree_of(repairing)->parent_links[0] * repairing->damage->masks.words[1];

	memset(repairing->taken, 0, width * sizeof(*repairing->taken));
	for (uint32_t i = 0; i < repairing->run_count[0]; i++) {
		struct dmodk_run *run = &repairing->runs[0][i];
		uint32_t bit = cables->leaf_bit[run->first];
		uint64_t *word = &repairing->taken[bit / 64];
		run->next = *word >> bit % 64 & 1 ? repairing->first_run[bit] : HD_NONE;
		repairing->first_run[bit] = i;
		*word |= UINT64_C(1) << bit % 64;
	}
}

/* The parent by which packets to LID offset `offset` of the sibling of a host climb. */
static uint8_t parent_of_sibling(const struct dmodk_damage *damage, uint32_t host, uint32_t offset)
{
	const uint32_t sibling = damage->sibling ? damage->sibling[host] : HD_NONE;
	const uint32_t level = damage->part_level;

	if (sibling == HD_NONE || level == HD_NONE)
		return DMODK_ANY;
	return damage->cables[level]
	    .parent[dmodk_host_climb(damage->tree, level, damage->position[sibling] + offset)];
}

static void add_item(struct dmodk_repairing *repairing, uint32_t lid, uint32_t number,
		     bool to_switch, uint8_t avoid)
{
	struct dmodk_span *last = repairing->spans + repairing->span_count - 1;

	if (repairing->span_count && last->lid + last->count == lid)
		last->count++;
	else
		repairing->spans[repairing->span_count++] =
		    (struct dmodk_span){.lid = lid, .count = 1};
	repairing->items[repairing->item_count++] = (struct dmodk_item){
	    .lid = lid, .number = number, .to_switch = to_switch, .avoid = avoid};
}

/* Lists the LIDs of a destination switch, and the runs of them. */
static void dmodk_items_list(struct dmodk_repairing *repairing, uint32_t sw)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	const struct hd_fabric *fabric = tree->fabric;

	repairing->sw = sw;
	repairing->item_count = repairing->span_count = 0;
	for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1]; host++)
		for (uint32_t offset = 0;
		     offset < hd_port_lid_count(fabric, fabric->host_port[host]); offset++)
			add_item(repairing, fabric->lid[fabric->host_port[host]] + offset,
				 repairing->damage->position[host] + offset, false,
				 parent_of_sibling(repairing->damage, host, offset));
	for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, fabric->port_base[sw]);
	     offset++)
		add_item(repairing, fabric->lid[fabric->port_base[sw]] + offset,
			 tree->ordinal[sw] + offset, true, DMODK_ANY);
	if (tree->group[sw] == HD_NONE)
		return;
	for (uint32_t i = 0; i < repairing->item_count; i++)
		find_descents(repairing, i);
	for (uint32_t level = 0; level + 1 < tree->level_count; level++)
		find_runs(repairing, level);
	if (tree->level_count > 1)
		chain_runs(repairing);
}

/* Most LIDs that one switch and its hosts have. */
static uint32_t dmodk_items_most(const struct hd_fabric *fabric)
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

/* ---- detours ---- */

/* The child to which a switch descends on a detour before all others: the one that has the
 * destination below it, else the first. */
static uint32_t best_child(const struct dmodk_repairing *repairing, uint32_t level, uint32_t block)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	const struct dmodk_place *to = &repairing->reach.to;

	if (level > to->level && dmodk_contains(&repairing->reach, level, block))
		return repairing->reach.chain[level - 1];
	return block * tree->children[level];
}

static bool child_leads(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			uint32_t child)
{
	const struct dmodk_masks *masks = &repairing->damage->masks;
	uint32_t word = spot->bit / 64, level = spot->level - 1;
	uint64_t usable =
	    masks->any[level][(size_t)child * masks->words[spot->level] + word] &
	    dmodk_repeated(masks, level,
			   dmodk_reach_of(repairing, repairing->reach.descend, level, child), word);

	return usable >> spot->bit % 64 & 1;
}

/* The child to which a switch descends on a detour. */
static uint32_t detour_child(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot)
{
	uint32_t children = dmodk_tree_of(repairing)->children[spot->level];
	uint32_t child = best_child(repairing, spot->level, spot->block);

	if (child_leads(repairing, spot, child))
		return child;
	for (child = spot->block * children; !child_leads(repairing, spot, child);)
		child++;
	return child;
}

/* Whether a port is a detour that leads to the destination. ports: to the children. */
static bool is_detour(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
		      const uint8_t *ports, uint8_t port)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	uint32_t children = tree->children[spot->level], links = tree->child_links[spot->level];
	const uint8_t *found = port == HD_NO_PORT ? NULL : memchr(ports, port, children * links);

	if (!found)
		return false;
	uint32_t number = (uint32_t)(found - ports),
		 child = spot->block * children + number / links;
	return child_leads(repairing, spot, child) &&
	       dmodk_bit(dmodk_cable_of(repairing, spot->level - 1, child, number % links),
			 spot->bit);
}

/* Entries that have a detour keep it. The others take the best one. */
static void descend_detour(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			   const struct dmodk_item *item)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	uint8_t *row = dmodk_row_of(repairing, spot);
	const uint8_t *ports =
	    tree->down_port + (size_t)dmodk_switch_of(repairing, spot) * HD_TREE_FANOUT;

	for (uint32_t n = 0; n < repairing->damage->kept_count; n++) {
		uint8_t port = dmodk_kept_row(repairing->damage, n, row)[item->lid];
		if (!is_detour(repairing, spot, ports, port))
			continue;
		row[item->lid] = port;
		return;
	}
	dmodk_paths_descend(repairing, spot, item, detour_child(repairing, spot));
}

/* Where there are no parallel cables all LIDs take the same one, unless they have another detour. */
static void descend_together(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot)
{
	const struct dmodk_damage *damage = repairing->damage;
	const struct hd_regular_tree *tree = damage->tree;
	uint32_t child = detour_child(repairing, spot) % tree->children[spot->level];
	uint32_t sw = dmodk_switch_of(repairing, spot);
	uint8_t port = tree->down_port[(size_t)sw * HD_TREE_FANOUT + child];
	uint8_t *row = dmodk_row_of(repairing, spot);

	dmodk_set_entries(repairing, row, port);
	if (!damage->kept_count)
		return;
	const uint8_t *kept = dmodk_kept_row(damage, 0, row);
	for (uint32_t i = 0; i < repairing->item_count; i++)
		if (kept[repairing->items[i].lid] != port)
			descend_detour(repairing, spot, &repairing->items[i]);
}

/* Of the switches that descend on a detour in the intact tree, too: those that cannot do it by the
 * cable that they have there. */
static uint64_t lost_detours(const struct dmodk_repairing *repairing, uint32_t level,
			     uint32_t block, uint32_t word, const struct dmodk_item *item)
{
	const struct dmodk_masks *masks = &repairing->damage->masks;
	uint32_t child = best_child(repairing, level, block);
	const uint64_t *below =
	    dmodk_reach_of(repairing, repairing->reach.descend, level - 1, child);

	return ~(dmodk_cable_of(repairing, level - 1, child, item->descent[level])[word] &
		 dmodk_repeated(masks, level - 1, below, word));
}

/* One word's entries that descend on a detour; lost: switches that have a legal path in the intact
 * tree. */
static void repair_descending_detours(const struct dmodk_repairing *repairing, uint32_t level,
				      uint32_t block, uint32_t word, uint64_t detours)
{
	uint64_t lost = detours & repairing->reach.intact[level][word];
	bool together = dmodk_tree_of(repairing)->child_links[level] == 1;

	for (uint32_t i = 0; i < (together ? 1 : repairing->item_count); i++) {
		const struct dmodk_item *item = &repairing->items[i];
		uint64_t moved = lost;
		if (detours & ~lost)
			moved |= detours & lost_detours(repairing, level, block, word, item);
		for (; moved; moved &= moved - 1) {
			const struct dmodk_spot spot = dmodk_spot_at(
			    repairing, level, block, word * 64 + (uint32_t)__builtin_ctzll(moved));
			if (together)
				descend_together(repairing, &spot);
			else
				descend_detour(repairing, &spot, item);
		}
	}
}

static void repair_block(const struct dmodk_repairing *repairing, uint32_t level, uint32_t block)
{
	const struct dmodk_reach *reach = &repairing->reach;
	size_t words = repairing->damage->masks.words[level];
	const uint64_t *legal = reach->legal[level] + block * words;
	const uint64_t *descend = reach->descend[level] + block * words;
	const uint64_t *climb = reach->climb[level] + block * words;

	for (uint32_t word = 0; word < words; word++) {
		uint64_t descending = descend[word] & ~legal[word];
		if (descending)
			repair_descending_detours(repairing, level, block, word, descending);
		for (uint64_t climbing = climb[word] & ~descend[word]; climbing;
		     climbing &= climbing - 1) {
			const struct dmodk_spot spot =
			    dmodk_spot_at(repairing, level, block,
					  word * 64 + (uint32_t)__builtin_ctzll(climbing));
			dmodk_paths_climb(repairing, &spot, repairing->reach.climb);
		}
	}
}

/* Entries of a level's switches without a legal path. */
static void dmodk_detours_repair(struct dmodk_repairing *repairing, uint32_t level)
{
	const struct dmodk_reach *reach = &repairing->reach;

	for (uint32_t i = 0; i < reach->opened_count[level]; i++) {
		uint32_t block = reach->opened[level][i];
		if (level || reach->climb[0][block] != reach->legal[0][block])
			repair_block(repairing, level, block);
	}
}

/* ---- the rest ---- */

static void mark_reached(struct dmodk_repairing *repairing)
{
	const struct dmodk_damage *damage = repairing->damage;
	const struct hd_regular_tree *tree = damage->tree;
	const struct dmodk_masks *masks = &damage->masks;
	uint64_t **found = repairing->reach.all ? repairing->reach.legal : repairing->reach.climb;

	memset(repairing->reached, 0, tree->fabric->switch_count);
	repairing->reached[repairing->sw] = 1;
	for (uint32_t level = 0; tree->group[repairing->sw] != HD_NONE && level < tree->level_count;
	     level++)
		for (uint32_t block = 0; block < hd_regular_tree_blocks(tree, level); block++)
			for (uint32_t bit = 0; bit < masks->words[level] * 64; bit++)
				if (dmodk_bit(dmodk_reach_of(repairing, found, level, block), bit))
					repairing->reached
					    [tree->at[level][(size_t)block * tree->above[level] +
							     masks->group_of[level][bit]]] = 1;
}

/* The link to the lowest-numbered neighbour that earlier rounds have reached, or HD_NONE. */
static uint32_t lowest_reached(const struct dmodk_repairing *repairing, uint32_t sw, uint8_t round)
{
	const struct hd_fabric *fabric = dmodk_tree_of(repairing)->fabric;
	uint32_t best = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t far = fabric->isl_to[link];
		if (repairing->reached[far] && repairing->reached[far] != round &&
		    (best == HD_NONE || far < fabric->isl_to[best]))
			best = link;
	}
	return best;
}

static uint8_t *row_of(const struct dmodk_repairing *repairing, uint32_t sw)
{
	return hd_routes_row(repairing->damage->routes, sw);
}

/*
 * Entries of switches that the masks do not reach, such as those without a place in the tree: in
 * rounds, each goes to its lowest-numbered neighbour that an earlier round has reached. Entries
 * that lead nowhere become holes. Cost: O(rounds * links of these switches).
 */
static void dmodk_rest_repair(struct dmodk_repairing *repairing)
{
	const struct hd_fabric *fabric = dmodk_tree_of(repairing)->fabric;
	uint32_t count = 0;

	mark_reached(repairing);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (!repairing->reached[sw])
			repairing->rest[count++] = sw;
	/* rounds alternate between two marks, so that a round does not see its own */
	for (uint8_t round = 2; count; round = round == 2 ? 3 : 2) {
		uint32_t left = 0;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t sw = repairing->rest[i];
			uint32_t link = lowest_reached(repairing, sw, round);
			if (link != HD_NONE) {
				repairing->reached[sw] = round;
				dmodk_set_entries(repairing, row_of(repairing, sw),
						  fabric->isl_port[link]);
			} else {
				repairing->rest[left++] = sw;
			}
		}
		for (uint32_t s = 0; s < fabric->switch_count; s++)
			if (repairing->reached[s] == round)
				repairing->reached[s] = 1;
		if (left == count)
			break;
		count = left;
	}
	for (uint32_t i = 0; i < count; i++)
		dmodk_set_entries(repairing, row_of(repairing, repairing->rest[i]), HD_NO_PORT);
}

/* ---- the repair ---- */

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
	struct dmodk_damage damage = {.tree = tree,
				      .position = position,
				      .component = component,
				      .routes = routes,
				      .part_level = HD_NONE};

	for (uint32_t level = tree->level_count - 1; level-- > 0;)
		if (tree->parents[level] > 1)
			damage.part_level = level;
	if (request->baseline != request->previous)
		keep(&damage, request->baseline);
	keep(&damage, request->previous);
	int rc = hd_siblings_find(tree->fabric, &arena, &damage.sibling);

	if (!rc)
		rc = allocate(&damage, hd_parallel_workers(request->threads), &arena);
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
