/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_choice.h"
#include "dmodk_numbers.h"
#include "dmodk_repairing.h"

struct climb {
	const struct dmodk_repairing *repairing;
	const struct dmodk_spot *spot;
	const uint64_t *above; /* the parents that lead to the destination */
};

static inline bool can_climb(const void *context, uint32_t cable)
{
	const struct climb *climb = context;
	const struct dmodk_repairing *repairing = climb->repairing;
	const struct dmodk_spot *spot = climb->spot;
	const struct dmodk_cables *cables = &repairing->damage->cables[spot->level];
	uint32_t bit = dmodk_parent_bit(&repairing->damage->masks, spot->level, spot->bit,
					cables->parent[cable]);

	return dmodk_bit(climb->above, bit) &&
	       dmodk_bit(
		   dmodk_cable_of(repairing, spot->level, spot->block, cables->parallel[cable]),
		   bit);
}

void dmodk_paths_climb(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
		       const struct dmodk_item *item, uint64_t **classes)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	uint32_t parent_block = repairing->damage->masks.parent_block[spot->level][spot->block];
	const struct climb climb = {
	    .repairing = repairing,
	    .spot = spot,
	    .above = dmodk_mask_of(repairing, classes, spot->level + 1, parent_block)};
	const struct dmodk_cables *cables = &repairing->damage->cables[spot->level];
	uint32_t turn = item->turn[spot->level] + cables->block_turn[spot->block];

	turn -= turn + 1 >= cables->count ? cables->count - 1 : 0;
	const struct dmodk_order order = {
	    .count = cables->count,
	    .first = item->climb[spot->level],
	    .second = dmodk_second(cables->count, item->climb[spot->level], turn),
	    .key = item->key[spot->level] + spot->block};
	uint32_t cable = dmodk_choose(&order, can_climb, &climb);

	dmodk_set_entry(repairing, spot->sw, item->lid,
			tree->up_port[(size_t)spot->sw * HD_TREE_FANOUT + cable]);
}

static void climb_legally(struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			  const struct dmodk_item *item)
{
	dmodk_paths_climb(repairing, spot, item, repairing->reach.legal);
}

struct descent {
	const struct dmodk_repairing *repairing;
	const struct dmodk_spot *spot;
	uint32_t child; /* block of the child */
};

static inline bool can_descend(const void *context, uint32_t cable)
{
	const struct descent *descent = context;

	return dmodk_bit(
	    dmodk_cable_of(descent->repairing, descent->spot->level - 1, descent->child, cable),
	    descent->spot->bit);
}

void dmodk_paths_descend(const struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			 const struct dmodk_item *item, uint32_t child)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	uint32_t level = spot->level, links = tree->child_links[level];
	const struct descent descent = {.repairing = repairing, .spot = spot, .child = child};
	const struct dmodk_order order = {
	    .count = links,
	    .first = item->descent[level],
	    .second =
		dmodk_second(links, item->descent[level], dmodk_turn(links, item->key[level - 1])),
	    .key = item->key[level - 1]};
	uint32_t cable = dmodk_choose(&order, can_descend, &descent);

	dmodk_set_entry(repairing, spot->sw, item->lid,
			tree->down_port[(size_t)spot->sw * HD_TREE_FANOUT +
					child % tree->children[level] * links + cable]);
}

static void descend_legally(struct dmodk_repairing *repairing, const struct dmodk_spot *spot,
			    const struct dmodk_item *item)
{
	dmodk_paths_descend(repairing, spot, item, repairing->reach.chain[spot->level - 1]);
}

/* Entries of switches that descend to the destination by parallel cables. */
static void repair_descents(struct dmodk_repairing *repairing, uint32_t level, uint32_t block)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	const struct dmodk_place *to = &repairing->reach.to;
	const uint64_t *legal = dmodk_mask_of(repairing, repairing->reach.legal, level, block);
	uint32_t words = repairing->damage->masks.words[level];

	if (level == to->level || tree->child_links[level] == 1)
		return;
	uint32_t child = repairing->reach.chain[level - 1];
	for (uint32_t i = 0; i < repairing->item_count; i++) {
		const struct dmodk_item *item = &repairing->items[i];
		const uint64_t *cable =
		    dmodk_cable_of(repairing, level - 1, child, item->descent[level]);
		for (uint32_t word = 0; word < words; word++)
			dmodk_each_bit(repairing, level, block, word, legal[word] & ~cable[word],
				       descend_legally, item);
	}
}

/* The items that take a cable in the closed form, at switches that cannot use it. */
static void climb_by_others(struct dmodk_repairing *repairing, uint32_t level, uint32_t block,
			    uint32_t number, uint32_t word, uint64_t switches)
{
	uint32_t levels = dmodk_tree_of(repairing)->level_count;

	for (uint32_t i = repairing->first_item[level * HD_TREE_FANOUT + number]; i != HD_NONE;
	     i = repairing->next_item[i * levels + level])
		dmodk_each_bit(repairing, level, block, word, switches, climb_legally,
			       &repairing->items[i]);
}

/* Entries of a leaf: the bits of its masks are parents. */
static void repair_leaf_climbs(struct dmodk_repairing *repairing, uint32_t block)
{
	const struct dmodk_masks *masks = &repairing->damage->masks;
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	const uint64_t *legal = dmodk_mask_of(repairing, repairing->reach.legal, 0, block);
	const uint64_t *above =
	    dmodk_mask_of(repairing, repairing->reach.legal, 1, masks->parent_block[0][block]);

	for (uint32_t i = 0; legal[0] && i < tree->parent_links[0]; i++) {
		const uint64_t *cable = dmodk_cable_of(repairing, 0, block, i);
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
static void repair_climbs(struct dmodk_repairing *repairing, uint32_t level, uint32_t block)
{
	const struct dmodk_masks *masks = &repairing->damage->masks;
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	const uint64_t *legal = dmodk_mask_of(repairing, repairing->reach.legal, level, block);
	const uint64_t *above = dmodk_mask_of(repairing, repairing->reach.legal, level + 1,
					      masks->parent_block[level][block]);
	uint32_t parents = tree->parents[level], words = masks->words[level];

	for (uint32_t i = 0; i < tree->parent_links[level]; i++) {
		const uint64_t *cable = dmodk_cable_of(repairing, level, block, i);
		for (uint32_t parent = 0, at = 0; parent < parents; parent++)
			for (uint32_t word = 0; word < words; word++, at++) {
				uint64_t lost = legal[word] & ~(cable[at] & above[at]);
				if (lost)
					climb_by_others(repairing, level, block,
							i * parents + parent, word, lost);
			}
	}
}

void dmodk_paths_repair(struct dmodk_repairing *repairing, uint32_t level, uint32_t block)
{
	if (dmodk_contains(&repairing->reach, level, block))
		repair_descents(repairing, level, block);
	else if (level)
		repair_climbs(repairing, level, block);
	else
		repair_leaf_climbs(repairing, block);
}
