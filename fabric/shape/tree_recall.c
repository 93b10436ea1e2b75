/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_labelling.h"

#include <string.h>

struct recall {
	struct tree_labelling *labelling;
	uint32_t top, level;
	uint32_t *block; /* [subtrees] number among the subtrees of the level, HD_NONE */
	uint32_t *group; /* [components of groups] */
	bool *taken; /* of one level: blocks, or slots [block * above + group] */
	size_t most_taken;
};

static void take_shape(struct recall *recall)
{
	struct tree_labelling *labelling = recall->labelling;
	struct hd_regular_tree *tree = labelling->tree;
	const struct hd_tree_labels *earlier = labelling->earlier;
	size_t bytes = tree->level_count * sizeof(uint32_t);

	memcpy(tree->children, earlier->children, bytes);
	memcpy(tree->parents, earlier->parents, bytes);
	tree->leaves[0] = tree->above[0] = 1;
	for (uint32_t level = 1; level < tree->level_count; level++) {
		tree->leaves[level] = tree->leaves[level - 1] * tree->children[level];
		tree->above[level] = tree->above[level - 1] * tree->parents[level - 1];
	}
}

/* ---- blocks ---- */

static void recall_blocks(struct recall *recall)
{
	const struct tree_labelling *labelling = recall->labelling;
	const struct hd_regular_tree *tree = labelling->tree;

	for (uint32_t i = labelling->level_base[recall->level];
	     i < labelling->level_base[recall->level + 1]; i++) {
		uint32_t sw = labelling->by_level[i], own = labelling->subtrees.of[sw];
		if (!labelling->known[sw] || recall->block[own] != HD_NONE)
			continue;
		recall->block[own] = labelling->known[sw]->first_leaf / tree->leaves[recall->level];
		recall->taken[recall->block[own]] = true;
	}
}

/* A new subtree takes the place of one that is missing. Beyond the last one there is room below
 * the top only. */
static void place_block(struct recall *recall, uint32_t own)
{
	struct hd_regular_tree *tree = recall->labelling->tree;
	uint32_t container = recall->labelling->subtrees.container[own];
	uint32_t above = container == HD_NONE ? HD_NONE : recall->block[container];
	uint32_t children = tree->children[recall->level + 1];

	if (above == HD_NONE)
		return;
	for (uint32_t child = 0; child < children; child++)
		if (!recall->taken[above * children + child]) {
			recall->block[own] = above * children + child;
			recall->taken[recall->block[own]] = true;
			return;
		}
	if (recall->level + 1 < recall->top || children + 1 >= HD_TREE_FANOUT)
		return;
	tree->children[recall->top]++;
	tree->leaves[recall->top] += tree->leaves[recall->level];
	recall->block[own] = children;
	recall->taken[children] = true;
}

static void number_blocks(struct recall *recall)
{
	const struct tree_components *subtrees = &recall->labelling->subtrees;

	for (uint32_t i = subtrees->begin[recall->top]; i < subtrees->end[recall->top]; i++)
		recall->block[i] = 0;
	for (uint32_t level = recall->top; level-- > 0;) {
		recall->level = level;
		memset(recall->taken, 0, recall->most_taken * sizeof(*recall->taken));
		recall_blocks(recall);
		for (uint32_t i = subtrees->begin[level]; i < subtrees->end[level]; i++)
			if (recall->block[i] == HD_NONE)
				place_block(recall, i);
	}
}

/* ---- groups ---- */

/* The place of a switch if its group were that one; NULL where its block is not known. */
static bool *place_of(const struct recall *recall, uint32_t sw, uint32_t group)
{
	const struct tree_labelling *labelling = recall->labelling;
	const struct hd_regular_tree *tree = labelling->tree;
	uint32_t block = labelling->known[sw]
			     ? labelling->known[sw]->first_leaf / tree->leaves[recall->level]
			     : recall->block[labelling->subtrees.of[sw]];

	return block == HD_NONE
		   ? NULL
		   : &recall->taken[(size_t)block * tree->above[recall->level] + group];
}

static void recall_groups(struct recall *recall)
{
	const struct tree_labelling *labelling = recall->labelling;

	for (uint32_t i = labelling->level_base[recall->level];
	     i < labelling->level_base[recall->level + 1]; i++) {
		uint32_t sw = labelling->by_level[i];
		if (!labelling->known[sw])
			continue;
		recall->group[labelling->groups.of[sw]] = labelling->known[sw]->group;
		*place_of(recall, sw, labelling->known[sw]->group) = true;
	}
}

/* Gives a new switch the number of its component, or else the first one that is free. */
static void place_switch(struct recall *recall, uint32_t sw)
{
	const struct tree_labelling *labelling = recall->labelling;
	const struct hd_regular_tree *tree = labelling->tree;
	uint32_t own = labelling->groups.of[sw], container = labelling->groups.container[own];
	uint32_t below = container == HD_NONE ? HD_NONE : recall->group[container];

	if (recall->group[own] == HD_NONE && below != HD_NONE)
		for (uint32_t digit = 0; digit < tree->parents[recall->level - 1]; digit++) {
			uint32_t group = below + tree->above[recall->level - 1] * digit;
			bool *place = place_of(recall, sw, group);
			if (place && !*place) {
				recall->group[own] = group;
				break;
			}
		}
	bool *place =
	    recall->group[own] == HD_NONE ? NULL : place_of(recall, sw, recall->group[own]);
	if (!place || *place)
		return;
	*place = true;
	labelling->tree->group[sw] = recall->group[own];
}

static void number_groups(struct recall *recall)
{
	const struct tree_labelling *labelling = recall->labelling;

	for (uint32_t level = 0; level <= recall->top; level++) {
		recall->level = level;
		memset(recall->taken, 0, recall->most_taken * sizeof(*recall->taken));
		for (uint32_t i = labelling->groups.begin[0];
		     !level && i < labelling->groups.end[0]; i++)
			recall->group[i] = 0;
		recall_groups(recall);
		for (uint32_t i = labelling->level_base[level];
		     i < labelling->level_base[level + 1]; i++)
			if (!labelling->known[labelling->by_level[i]])
				place_switch(recall, labelling->by_level[i]);
	}
}

/* ---- switches ---- */

static void label_switches(struct recall *recall)
{
	struct tree_labelling *labelling = recall->labelling;
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t next = labelling->earlier->next_ordinal;

	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++) {
		const struct hd_tree_label *known = labelling->known[sw];
		uint32_t block = recall->block[labelling->subtrees.of[sw]];
		tree->ordinal[sw] = known ? known->ordinal : next++;
		tree->first_leaf[sw] = HD_NONE;
		if (known) {
			tree->group[sw] = known->group;
			tree->first_leaf[sw] = known->first_leaf;
		} else if (tree->group[sw] != HD_NONE) {
			tree->first_leaf[sw] = block * tree->leaves[tree->level[sw]];
		}
	}
}

/* Places of a level at most: each new switch may be a new subtree below the top. */
static size_t most_places(const struct recall *recall)
{
	const struct tree_labelling *labelling = recall->labelling;
	const struct hd_regular_tree *tree = labelling->tree;
	size_t leaves = tree->leaves[recall->top], most = 0;

	for (uint32_t sw = 0; recall->top && sw < tree->fabric->switch_count; sw++)
		if (!labelling->known[sw])
			leaves += tree->leaves[recall->top - 1];
	for (uint32_t level = 0; level < tree->level_count; level++) {
		size_t places = leaves / tree->leaves[level] * tree->above[level];
		most = places > most ? places : most;
	}
	return most;
}

int tree_recall(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t switches = tree->fabric->switch_count;
	struct recall recall = {.labelling = labelling, .top = tree->level_count - 1};

	take_shape(&recall);
	recall.most_taken = most_places(&recall);
	recall.block = hd_arena_alloc(labelling->arena, switches, sizeof(*recall.block));
	recall.group = hd_arena_alloc(labelling->arena, switches, sizeof(*recall.group));
	recall.taken = hd_arena_alloc(labelling->arena, recall.most_taken, sizeof(*recall.taken));
	if (hd_arena_check(labelling->arena))
		return -ENOMEM;
	memset(recall.block, 0xFF, switches * sizeof(*recall.block));
	memset(recall.group, 0xFF, switches * sizeof(*recall.group));
	memset(tree->group, 0xFF, switches * sizeof(*tree->group));
	number_blocks(&recall);
	number_groups(&recall);
	label_switches(&recall);
	return 0;
}
