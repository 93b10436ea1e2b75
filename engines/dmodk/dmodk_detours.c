/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_repairing.h"

static void climb_to_detour(struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			    const struct dmodk_item *item)
{
	dmodk_paths_climb(repairing, spot, item, repairing->reach.climb);
}

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

static void descend_detour(struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			   const struct dmodk_item *item)
{
	dmodk_paths_descend(repairing, spot, item, detour_child(repairing, spot));
}

/* Where there are no parallel cables all LIDs take the same one. */
static void descend_detour_all(struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			       const struct dmodk_item *item)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	uint32_t child = detour_child(repairing, spot) % tree->children[spot->level];

	(void)item;
	dmodk_set_entries(repairing, spot->sw,
			  tree->down_port[(size_t)spot->sw * HD_TREE_FANOUT + child]);
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
static void repair_descending_detours(struct dmodk_repairing *repairing, uint32_t level,
				      uint32_t block, uint32_t word, uint64_t detours)
{
	uint64_t lost = detours & repairing->reach.intact[level][word];
	bool same = level && dmodk_tree_of(repairing)->child_links[level] == 1;

	for (uint32_t i = 0; i < repairing->item_count && detours; i += same ? UINT16_MAX : 1) {
		const struct dmodk_item *item = &repairing->items[i];
		uint64_t moved = lost;
		if (detours & ~lost)
			moved |= detours & lost_detours(repairing, level, block, word, item);
		dmodk_each_bit(repairing, level, block, word, moved,
			       same ? descend_detour_all : descend_detour, item);
	}
}

void dmodk_detours_repair(struct dmodk_repairing *repairing, uint32_t level, uint32_t block)
{
	struct dmodk_reach *reach = &repairing->reach;
	const struct dmodk_masks *masks = &repairing->damage->masks;
	const uint64_t *legal = dmodk_mask_of(repairing, reach->legal, level, block);
	const uint64_t *descend = dmodk_mask_of(repairing, reach->descend, level, block);
	const uint64_t *climb = dmodk_mask_of(repairing, reach->climb, level, block);

	for (uint32_t word = 0; word < masks->words[level]; word++) {
		uint64_t climbing = climb[word] & ~descend[word];
		repair_descending_detours(repairing, level, block, word,
					  descend[word] & ~legal[word]);
		for (uint32_t i = 0; i < repairing->item_count && climbing; i++)
			dmodk_each_bit(repairing, level, block, word, climbing, climb_to_detour,
				       &repairing->items[i]);
	}
}
