/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_repairing.h"

#include <string.h>

/* ---- masks of the tree ---- */

static void size_levels(struct dmodk_masks *masks)
{
	const struct hd_regular_tree *tree = masks->tree;

	masks->words[0] = 1;
	for (uint32_t level = 1; level < tree->level_count; level++)
		masks->words[level] = level == 1
					  ? (tree->above[1] + 63) / 64
					  : tree->parents[level - 1] * masks->words[level - 1];
}

static void list_groups(struct dmodk_masks *masks)
{
	const struct hd_regular_tree *tree = masks->tree;

	for (uint32_t level = 0; level < tree->level_count; level++)
		memset(masks->group_of[level], 0xFF,
		       masks->words[level] * 64 * sizeof(**masks->group_of));
	masks->group_of[0][0] = 0;
	for (uint32_t level = 0; level + 1 < tree->level_count; level++)
		for (uint32_t bit = 0; bit < masks->words[level] * 64; bit++)
			for (uint32_t parent = 0; parent < tree->parents[level]; parent++)
				if (masks->group_of[level][bit] != HD_NONE)
					masks->group_of[level + 1][dmodk_parent_bit(masks, level,
										    bit, parent)] =
					    masks->group_of[level][bit] +
					    tree->above[level] * parent;
}

static int allocate(struct dmodk_masks *masks, struct hd_arena *arena)
{
	const struct hd_regular_tree *tree = masks->tree;
	uint32_t levels = tree->level_count;

	masks->words = hd_arena_alloc(arena, levels, sizeof(*masks->words));
	masks->group_of = hd_arena_alloc(arena, levels, sizeof(*masks->group_of));
	masks->present = hd_arena_alloc(arena, levels, sizeof(*masks->present));
	masks->valid = hd_arena_alloc(arena, levels, sizeof(*masks->valid));
	masks->whole = hd_arena_alloc(arena, levels, sizeof(*masks->whole));
	masks->torn = hd_arena_alloc(arena, levels, sizeof(*masks->torn));
	masks->torn_count = hd_arena_alloc(arena, levels, sizeof(*masks->torn_count));
	masks->parent_block = hd_arena_alloc(arena, levels, sizeof(*masks->parent_block));
	masks->cable = hd_arena_alloc(arena, levels, sizeof(*masks->cable));
	masks->any = hd_arena_alloc(arena, levels, sizeof(*masks->any));
	if (hd_arena_check(arena))
		return -ENOMEM;
	size_levels(masks);
	for (uint32_t level = 0; level < levels; level++) {
		size_t blocks = hd_regular_tree_blocks(tree, level), words = masks->words[level];
		masks->group_of[level] = hd_arena_alloc(arena, words * 64, sizeof(uint32_t));
		masks->valid[level] = hd_arena_alloc(arena, words, sizeof(uint64_t));
		masks->whole[level] = hd_arena_alloc(arena, blocks, sizeof(bool));
		masks->torn[level] =
		    hd_arena_alloc(arena, blocks * (tree->children[level] + 1), sizeof(uint32_t));
		masks->torn_count[level] = hd_arena_alloc(arena, blocks, sizeof(uint32_t));
		masks->parent_block[level] = hd_arena_alloc(arena, blocks, sizeof(uint32_t));
		masks->present[level] = hd_arena_alloc(arena, blocks * words, sizeof(uint64_t));
		if (level + 1 == levels)
			break;
		words = masks->words[level + 1];
		masks->any[level] = hd_arena_alloc(arena, blocks * words, sizeof(uint64_t));
		masks->cable[level] = hd_arena_alloc(
		    arena, blocks * words * tree->parent_links[level], sizeof(uint64_t));
	}
	return hd_arena_check(arena);
}

static void set_bit(uint64_t *mask, uint32_t bit)
{
	mask[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void add_switch(struct dmodk_masks *masks, uint32_t level, uint32_t block, uint32_t bit)
{
	const struct hd_regular_tree *tree = masks->tree;
	uint32_t sw = tree->at[level][block * tree->above[level] + masks->group_of[level][bit]];

	if (sw == HD_NONE)
		return;
	set_bit(masks->present[level] + (size_t)block * masks->words[level], bit);
	if (level + 1 == tree->level_count)
		return;
	uint32_t words = masks->words[level + 1], links = tree->parent_links[level];
	uint32_t parents = tree->parents[level];
	const uint8_t *ports = tree->up_port + (size_t)sw * HD_TREE_FANOUT;
	for (uint32_t n = 0; n < parents * links; n++) {
		uint32_t upper = dmodk_parent_bit(masks, level, bit, n % parents);
		if (ports[n] == HD_NO_PORT)
			continue;
		set_bit(masks->any[level] + (size_t)block * words, upper);
		set_bit(masks->cable[level] + ((size_t)block * links + n / parents) * words, upper);
	}
}

/* Whether a block has all its switches, and each of them all its cables up. */
static bool block_is_whole(const struct dmodk_masks *masks, uint32_t level, uint32_t block)
{
	const struct hd_regular_tree *tree = masks->tree;
	size_t words = masks->words[level];

	if (memcmp(masks->present[level] + block * words, masks->valid[level],
		   words * sizeof(uint64_t)) != 0)
		return false;
	if (level + 1 == tree->level_count)
		return true;
	words = masks->words[level + 1];
	for (uint32_t i = 0; i < tree->parent_links[level]; i++)
		if (memcmp(masks->cable[level] +
			       ((size_t)block * tree->parent_links[level] + i) * words,
			   masks->valid[level + 1], words * sizeof(uint64_t)) != 0)
			return false;
	return true;
}

static void find_whole(struct dmodk_masks *masks)
{
	const struct hd_regular_tree *tree = masks->tree;

	for (uint32_t level = 0; level < tree->level_count; level++)
		for (uint32_t block = 0; block < hd_regular_tree_blocks(tree, level); block++) {
			uint32_t children = tree->children[level];
			bool whole = block_is_whole(masks, level, block);
			uint32_t *torn = masks->torn[level] + (size_t)block * children;
			uint32_t *count = &masks->torn_count[level][block];
			for (uint32_t child = block * children;
			     level && child < (block + 1) * children; child++) {
				masks->parent_block[level - 1][child] = block;
				if (!masks->whole[level - 1][child])
					torn[(*count)++] = child;
			}
			masks->whole[level][block] = whole && !*count;
		}
}

int dmodk_masks_make(const struct hd_regular_tree *tree, struct hd_arena *arena,
		     struct dmodk_masks *out)
{
	struct dmodk_masks masks = {.tree = tree};

	if (allocate(&masks, arena))
		return -ENOMEM;
	list_groups(&masks);
	for (uint32_t level = 0; level < tree->level_count; level++)
		for (uint32_t bit = 0; bit < masks.words[level] * 64; bit++)
			if (masks.group_of[level][bit] != HD_NONE)
				set_bit(masks.valid[level], bit);
	for (uint32_t level = 0; level < tree->level_count; level++)
		for (uint32_t block = 0; block < hd_regular_tree_blocks(tree, level); block++)
			for (uint32_t bit = 0; bit < masks.words[level] * 64; bit++)
				if (masks.group_of[level][bit] != HD_NONE)
					add_switch(&masks, level, block, bit);
	find_whole(&masks);
	*out = masks;
	return 0;
}

/* ---- reach of a destination ---- */

int dmodk_reach_allocate(const struct dmodk_masks *masks, struct hd_arena *arena,
			 struct dmodk_reach *out)
{
	const struct hd_regular_tree *tree = masks->tree;
	uint32_t levels = tree->level_count;
	uint64_t ***per_level[] = {&out->legal, &out->descend, &out->climb, &out->intact};

	out->open = hd_arena_alloc(arena, levels, sizeof(*out->open));
	out->chain = hd_arena_alloc(arena, levels, sizeof(*out->chain));
	out->opened = hd_arena_alloc(arena, levels, sizeof(*out->opened));
	out->opened_count = hd_arena_alloc(arena, levels, sizeof(*out->opened_count));
	for (uint32_t level = 0; out->open && out->opened && level < levels; level++) {
		uint32_t blocks = hd_regular_tree_blocks(tree, level);
		out->open[level] = hd_arena_alloc(arena, blocks, sizeof(bool));
		out->opened[level] = hd_arena_alloc(arena, blocks, sizeof(uint32_t));
	}
	for (unsigned i = 0; i < sizeof(per_level) / sizeof(per_level[0]); i++) {
		uint64_t **list = hd_arena_alloc(arena, levels, sizeof(*list));
		*per_level[i] = list;
		for (uint32_t level = 0; list && level < levels; level++)
			list[level] = hd_arena_alloc(arena,
						     (size_t)masks->words[level] *
							 hd_regular_tree_blocks(tree, level),
						     sizeof(uint64_t));
	}
	return hd_arena_check(arena);
}

static uint64_t *of_block(const struct dmodk_masks *masks, uint64_t **list, uint32_t level,
			  uint32_t block)
{
	return list[level] + (size_t)block * masks->words[level];
}

static const uint64_t *cables(const struct dmodk_masks *masks, uint32_t level, uint32_t block)
{
	return masks->any[level] + (size_t)block * masks->words[level + 1];
}

/* The bit of a group in the layout of its level. */
static uint32_t bit_of(const struct dmodk_masks *masks, uint32_t level, uint32_t group)
{
	const struct hd_regular_tree *tree = masks->tree;
	uint32_t bit = 0;

	for (uint32_t lower = 0; lower < level; lower++)
		bit = dmodk_parent_bit(masks, lower, bit,
				       group / tree->above[lower] % tree->parents[lower]);
	return bit;
}

/* Whether switches above a block, among those of a mask, lack one of several cables to it. */
static bool lacks_parallel(const struct dmodk_masks *masks, uint32_t level, uint32_t block,
			   const uint64_t *above)
{
	uint32_t links = masks->tree->parent_links[level], words = masks->words[level + 1];
	const uint64_t *cable = masks->cable[level] + (size_t)block * links * words;
	uint64_t lacking = 0;

	for (uint32_t i = 0; links > 1 && i < links; i++, cable += words)
		for (uint32_t word = 0; word < words; word++)
			lacking |= above[word] & ~cable[word];
	return lacking != 0;
}

/* From the destination up: which switches can descend to it, and which could if nothing were
 * missing. */
static void find_descents(const struct dmodk_masks *masks, struct dmodk_reach *reach)
{
	const struct hd_regular_tree *tree = masks->tree;
	const struct dmodk_place *to = &reach->to;
	uint32_t block = to->block;

	for (uint32_t level = 0; level < to->level; level++)
		reach->chain[level] = HD_NONE;
	reach->chain[to->level] = block;
	for (uint32_t level = 0; level <= to->level; level++) {
		memset(reach->intact[level], 0, masks->words[level] * sizeof(uint64_t));
		set_bit(reach->intact[level], bit_of(masks, level, to->group % tree->above[level]));
	}
	uint64_t *legal = of_block(masks, reach->legal, to->level, to->block);
	memset(legal, 0, masks->words[to->level] * sizeof(*legal));
	set_bit(legal, bit_of(masks, to->level, to->group));
	reach->lost_level = tree->level_count;
	for (uint32_t level = to->level; level + 1 < tree->level_count; level++) {
		const uint64_t *any = cables(masks, level, block);
		const uint64_t *below = of_block(masks, reach->legal, level, block);
		uint32_t child = block;
		block /= tree->children[level + 1];
		reach->chain[level + 1] = block;
		uint64_t *above = of_block(masks, reach->legal, level + 1, block);
		for (uint32_t word = 0; word < masks->words[level + 1]; word++) {
			above[word] = any[word] & dmodk_repeated(masks, level, below, word);
			reach->intact[level + 1][word] =
			    masks->valid[level + 1][word] &
			    dmodk_repeated(masks, level, reach->intact[level], word);
		}
		if (reach->lost_level == tree->level_count &&
		    lacks_parallel(masks, level, child, reach->intact[level + 1]))
			reach->lost_level = level + 1;
	}
}

/* Whether a leaf has a cable to one of the switches above. any: its cables. */
static inline bool leaf_climbs(const uint64_t *any, const uint64_t *above, uint32_t words)
{
	uint64_t found = 0;

	for (uint32_t word = 0; word < words; word++)
		found |= any[word] & above[word];
	return found != 0;
}

/* The switches of a block above the leaves that have a cable to one of those above. */
static void find_climbs(const struct dmodk_masks *masks, uint32_t level, uint32_t block,
			const uint64_t *above, uint64_t *out)
{
	const uint64_t *any = cables(masks, level, block);
	uint32_t words = masks->words[level], parents = masks->tree->parents[level];

	for (uint32_t word = 0; word < words; word++) {
		uint64_t found = 0;
		for (uint32_t at = word; at < parents * words; at += words)
			found |= any[at] & above[at];
		out[word] = found;
	}
}

/* Masks have few words, often one. */
static inline bool same_words(const uint64_t *a, const uint64_t *b, uint32_t words)
{
	uint64_t difference = 0;

	for (uint32_t word = 0; word < words; word++)
		difference |= a[word] ^ b[word];
	return !difference;
}

static inline bool is_all(const struct dmodk_masks *masks, uint32_t level, uint32_t block,
			  const uint64_t *mask)
{
	return same_words(mask, of_block(masks, masks->present, level, block), masks->words[level]);
}

static void open_block(struct dmodk_reach *reach, uint32_t level, uint32_t block)
{
	reach->open[level][block] = true;
	reach->opened[level][reach->opened_count[level]++] = block;
}

/* above: the parents that lead to the destination. */
static inline void find_legal_child(const struct dmodk_masks *masks, struct dmodk_reach *reach,
				    uint32_t level, uint32_t child, const uint64_t *above)
{
	uint64_t *legal = of_block(masks, reach->legal, level, child);

	open_block(reach, level, child);
	if (!level && !dmodk_contains(reach, 0, child))
		*legal = leaf_climbs(cables(masks, 0, child), above, masks->words[1]);
	else if (!dmodk_contains(reach, level, child))
		find_climbs(masks, level, child, above, legal);
	reach->all &= is_all(masks, level, child, legal);
}

/* All leaves below a block that is open. */
static void find_legal_leaves(const struct dmodk_masks *masks, struct dmodk_reach *reach,
			      uint32_t block, const uint64_t *above)
{
	uint32_t children = masks->tree->children[1], words = masks->words[1];
	uint32_t first = block * children, own = reach->chain[0];
	uint32_t *opened = reach->opened[0] + reach->opened_count[0];
	uint64_t *legal = reach->legal[0] + first, missed = 0;
	const uint64_t *present = masks->present[0] + first;
	const uint64_t *any = masks->any[0] + (size_t)first * words;

	memset(reach->open[0] + first, true, children);
	reach->opened_count[0] += children;
	for (uint32_t i = 0; i < children; i++, any += words) {
		opened[i] = first + i;
		if (first + i != own)
			legal[i] = leaf_climbs(any, above, words);
		missed |= legal[i] ^ present[i];
	}
	reach->all &= !missed;
}

/* The blocks in one that is open. A whole subtree below intact reach is as in the intact tree. */
static void find_legal_below(const struct dmodk_masks *masks, struct dmodk_reach *reach,
			     uint32_t level, uint32_t block)
{
	const struct hd_regular_tree *tree = masks->tree;
	const uint64_t *above = of_block(masks, reach->legal, level, block);
	uint32_t children = tree->children[level], first = block * children;
	const uint32_t *torn = masks->torn[level] + first;
	bool intact = level < reach->lost_level &&
		      same_words(above, reach->intact[level], masks->words[level]);

	if (!intact && level == 1) {
		find_legal_leaves(masks, reach, block, above);
		return;
	}
	if (!intact) {
		for (uint32_t child = first; child < first + children; child++)
			find_legal_child(masks, reach, level - 1, child, above);
		return;
	}
	for (uint32_t i = 0; i < masks->torn_count[level][block]; i++)
		find_legal_child(masks, reach, level - 1, torn[i], above);
	if (level > reach->to.level && dmodk_contains(reach, level, block)) {
		uint32_t child = reach->chain[level - 1];
		if (!reach->open[level - 1][child])
			find_legal_child(masks, reach, level - 1, child, above);
	}
}

static void close_all(const struct dmodk_masks *masks, struct dmodk_reach *reach)
{
	for (uint32_t level = 0; level < masks->tree->level_count; level++) {
		const uint32_t *opened = reach->opened[level];
		bool *open = reach->open[level];
		for (uint32_t i = 0, count = reach->opened_count[level]; i < count; i++)
			open[opened[i]] = false;
		reach->opened_count[level] = 0;
	}
}

static void find_legal(const struct dmodk_masks *masks, struct dmodk_reach *reach)
{
	uint32_t top = masks->tree->level_count - 1;

	close_all(masks, reach);
	open_block(reach, top, 0);
	reach->all = is_all(masks, top, 0, of_block(masks, reach->legal, top, 0));
	for (uint32_t level = top; level > 0; level--)
		for (uint32_t i = 0; i < reach->opened_count[level]; i++)
			find_legal_below(masks, reach, level, reach->opened[level][i]);
}

static inline void copy_words(uint64_t *to, const uint64_t *from, uint32_t words)
{
	for (uint32_t word = 0; word < words; word++)
		to[word] = from[word];
}

/* Adds the switches of a block that have a cable down to a switch that leads to the destination. */
static void find_block_descend(const struct dmodk_masks *masks, struct dmodk_reach *reach,
			       uint32_t level, uint32_t block)
{
	const struct hd_regular_tree *tree = masks->tree;
	uint64_t *descend = of_block(masks, reach->descend, level, block);
	uint32_t words = masks->words[level];

	copy_words(descend, of_block(masks, reach->legal, level, block), words);
	for (uint32_t child = 0; level && child < tree->children[level]; child++) {
		uint32_t lower = block * tree->children[level] + child;
		const uint64_t *any = cables(masks, level - 1, lower);
		const uint64_t *below =
		    dmodk_reach_mask(masks, reach, reach->descend, level - 1, lower);
		if (is_all(masks, level, block, descend))
			return;
		for (uint32_t word = 0; word < words; word++)
			descend[word] |= any[word] & dmodk_repeated(masks, level - 1, below, word);
	}
}

/* Adds the switches of a block that have a cable up to a switch that leads to the destination. */
static void find_block_climb(const struct dmodk_masks *masks, struct dmodk_reach *reach,
			     uint32_t level, uint32_t block)
{
	const struct hd_regular_tree *tree = masks->tree;
	uint64_t *climb = of_block(masks, reach->climb, level, block);
	const uint64_t *descend = of_block(masks, reach->descend, level, block);
	uint32_t words = masks->words[level];

	copy_words(climb, descend, words);
	if (is_all(masks, level, block, descend))
		return;
	if (level + 1 < tree->level_count) {
		find_climbs(
		    masks, level, block,
		    of_block(masks, reach->climb, level + 1, masks->parent_block[level][block]),
		    climb);
		for (uint32_t word = 0; word < words; word++)
			climb[word] |= descend[word];
	}
	reach->all_climb &= is_all(masks, level, block, climb);
}

/* The same for the leaves. None of them descends. */
static void find_leaves_climb(const struct dmodk_masks *masks, struct dmodk_reach *reach)
{
	uint32_t words = masks->tree->level_count > 1 ? masks->words[1] : 0;
	const uint64_t *legal = reach->legal[0], *present = masks->present[0];
	uint64_t *climb = reach->climb[0];

	for (uint32_t i = 0; i < reach->opened_count[0]; i++) {
		uint32_t leaf = reach->opened[0][i];
		climb[leaf] = legal[leaf];
		if (legal[leaf] == present[leaf])
			continue;
		if (words)
			climb[leaf] = leaf_climbs(
			    cables(masks, 0, leaf),
			    of_block(masks, reach->climb, 1, masks->parent_block[0][leaf]), words);
		reach->all_climb &= climb[leaf] == present[leaf];
	}
}

static void find_detours(const struct dmodk_masks *masks, struct dmodk_reach *reach)
{
	uint32_t levels = masks->tree->level_count;

	for (uint32_t i = 0; i < reach->opened_count[0]; i++)
		reach->descend[0][reach->opened[0][i]] = reach->legal[0][reach->opened[0][i]];
	for (uint32_t level = 1; level < levels; level++)
		for (uint32_t i = 0; i < reach->opened_count[level]; i++)
			find_block_descend(masks, reach, level, reach->opened[level][i]);
	for (uint32_t level = levels; --level > 0;)
		for (uint32_t i = 0; i < reach->opened_count[level]; i++)
			find_block_climb(masks, reach, level, reach->opened[level][i]);
	find_leaves_climb(masks, reach);
}

void dmodk_reach_find(const struct dmodk_masks *masks, struct dmodk_place to,
		      struct dmodk_reach *reach)
{
	reach->to = to;
	reach->all_climb = true;
	find_descents(masks, reach);
	find_legal(masks, reach);
	if (!reach->all)
		find_detours(masks, reach);
}
