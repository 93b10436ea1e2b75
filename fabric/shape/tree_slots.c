/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_labelling.h"

#include <string.h>

bool tree_mostly_present(uint64_t present, uint64_t completed)
{
	return present <= completed && 4 * present >= 3 * completed;
}

static bool fill_level(struct tree_labelling *labelling, uint32_t level)
{
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t present = 0, slots = hd_regular_tree_blocks(tree, level) * tree->above[level];

	for (uint32_t i = labelling->level_base[level]; i < labelling->level_base[level + 1]; i++) {
		uint32_t sw = labelling->by_level[i];
		if (tree->group[sw] == HD_NONE)
			continue;
		uint32_t *slot = &tree->at[level][tree->first_leaf[sw] / tree->leaves[level] *
						      tree->above[level] +
						  tree->group[sw]];
		if (*slot != HD_NONE)
			return false;
		*slot = sw;
		present++;
	}
	tree->intact &= present == slots &&
			slots == labelling->level_base[level + 1] - labelling->level_base[level];
	return labelling->earlier || tree_mostly_present(present, slots);
}

int tree_slots_fill(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;

	for (uint32_t level = 0; level < tree->level_count; level++) {
		uint64_t slots = (uint64_t)hd_regular_tree_blocks(tree, level) * tree->above[level];
		if (!labelling->earlier && slots > 2 * (uint64_t)tree->fabric->switch_count)
			return HD_TREE_IRREGULAR;
		tree->at[level] = hd_arena_alloc(labelling->arena, slots, sizeof(*tree->at[level]));
		if (hd_arena_check(labelling->arena))
			return -ENOMEM;
		memset(tree->at[level], 0xFF, slots * sizeof(*tree->at[level]));
		if (!fill_level(labelling, level))
			return HD_TREE_IRREGULAR;
	}
	return 0;
}
