/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_labelling.h"

#include <assert.h>
#include <string.h>

bool tree_mostly_present(uint64_t present, uint64_t completed)
{
	return present <= completed && 4 * present >= 3 * completed;
}

/* Switches of the level that have a place. */
static uint32_t count_placed(const struct tree_labelling *labelling, uint32_t level)
{
	uint32_t count = 0;

	for (uint32_t i = labelling->level_base[level]; i < labelling->level_base[level + 1]; i++)
		count += labelling->tree->group[labelling->by_level[i]] != HD_NONE;
	return count;
}

static void fill_level(struct tree_labelling *labelling, uint32_t level)
{
	struct hd_regular_tree *tree = labelling->tree;

	for (uint32_t i = labelling->level_base[level]; i < labelling->level_base[level + 1]; i++) {
		uint32_t sw = labelling->by_level[i];
		if (tree->group[sw] == HD_NONE)
			continue;
		size_t block = tree->first_leaf[sw] / tree->leaves[level];
		uint32_t *slot = &tree->at[level][block * tree->above[level] + tree->group[sw]];
		assert(*slot == HD_NONE);
		*slot = sw;
	}
}

int tree_slots_fill(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;

	for (uint32_t level = 0; level < tree->level_count; level++) {
		uint64_t slots = (uint64_t)hd_regular_tree_blocks(tree, level) * tree->above[level];
		uint32_t placed = count_placed(labelling, level);
		/* cables would show it as well; here it bounds the memory */
		if (!labelling->earlier && !tree_mostly_present(placed, slots))
			return HD_TREE_IRREGULAR;
		tree->intact &= placed == slots && placed == labelling->level_base[level + 1] -
								 labelling->level_base[level];
		tree->at[level] = hd_arena_alloc(labelling->arena, slots, sizeof(*tree->at[level]));
		if (hd_arena_check(labelling->arena))
			return -ENOMEM;
		memset(tree->at[level], 0xFF, slots * sizeof(*tree->at[level]));
		fill_level(labelling, level);
	}
	return 0;
}
