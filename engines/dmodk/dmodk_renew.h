/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ENGINES_DMODK_RENEW_H
#define ENGINES_DMODK_RENEW_H

#include <heddle/base/arena.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/fabric/tree.h>

/*
 * Labels of a tree of which something was missing may be others than those of the intact tree. And
 * they may have no room for a switch that has come: if a spine of a two-level tree is missing, the
 * rest is a regular tree that is narrower. So the switches get new labels when nothing is missing
 * any more, or when only cables are and a switch would have no place.
 *
 * tree: labelled by the earlier labels. 0 and new labels in *tree, in memory of the arena;
 * HD_TREE_IRREGULAR: the earlier ones stay. Errors: -ENOMEM. Cost: that of hd_regular_tree_label()
 * if no switch that had a label is missing, else O(labels log switches).
 */
int dmodk_renew_labels(const struct hd_fabric *fabric, const struct hd_tree *levels,
		       const struct hd_tree_labels *earlier, struct hd_arena *arena,
		       struct hd_regular_tree *tree);

#endif
