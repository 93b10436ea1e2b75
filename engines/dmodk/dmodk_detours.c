/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_repairing.h"

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

void dmodk_detours_repair(struct dmodk_repairing *repairing, uint32_t level)
{
	const struct dmodk_reach *reach = &repairing->reach;

	for (uint32_t i = 0; i < reach->opened_count[level]; i++) {
		uint32_t block = reach->opened[level][i];
		if (level || reach->climb[0][block] != reach->legal[0][block])
			repair_block(repairing, level, block);
	}
}
