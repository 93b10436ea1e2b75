/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_renew.h"

static bool has_cables(const struct hd_fabric *fabric, uint32_t sw)
{
	return sw != HD_NONE && fabric->isl_base[sw] < fabric->isl_base[sw + 1];
}

/* Whether a switch has cables but no place in the tree. */
static bool has_strays(const struct hd_regular_tree *tree)
{
	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++)
		if (tree->group[sw] == HD_NONE && has_cables(tree->fabric, sw))
			return true;
	return false;
}

/* Whether no switch that had a label is missing now. *others: whether there are others. */
static bool all_are_back(const struct hd_fabric *fabric, const struct hd_tree_labels *labels,
			 bool *others)
{
	uint32_t cabled = 0;

	for (uint32_t i = 0; i < labels->count; i++)
		if (!has_cables(fabric, hd_fabric_find_node(fabric, labels->items[i].guid)))
			return false;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		cabled += has_cables(fabric, sw);
	*others = cabled > labels->count;
	return true;
}

/* Whether each place of the tree has a switch, and each switch has a place. */
static bool is_full(const struct hd_regular_tree *tree)
{
	uint64_t places = 0;

	for (uint32_t level = 0; level < tree->level_count; level++)
		places += (uint64_t)hd_regular_tree_blocks(tree, level) * tree->above[level];
	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++)
		if (tree->group[sw] == HD_NONE)
			return false;
	return places == tree->fabric->switch_count;
}

int dmodk_renew_labels(const struct hd_fabric *fabric, const struct hd_tree *levels,
		       const struct hd_tree_labels *earlier, struct hd_arena *arena,
		       struct hd_regular_tree *tree)
{
	bool strays = has_strays(tree), others = false;
	struct hd_regular_tree renewed;

	if (!all_are_back(fabric, earlier, &others) || (earlier->whole && !others))
		return HD_TREE_IRREGULAR;
	int rc = hd_regular_tree_label(fabric, levels, arena, &renewed);
	if (!rc && (!is_full(&renewed) || (!strays && !renewed.intact)))
		rc = HD_TREE_IRREGULAR;
	if (!rc)
		*tree = renewed;
	return rc;
}
