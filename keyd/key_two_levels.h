/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees of two levels that are not regular: leaves with different numbers of cables, spines that do
 * not reach all leaves. Keys take them for regular trees from which cables are missing.
 */
#ifndef KEYD_KEY_TWO_LEVELS_H
#define KEYD_KEY_TWO_LEVELS_H

#include "key_tree.h"

#include <heddle/fabric/tree.h>

/*
 * Fills in a tree, whose fabric is set, from levels that hd_tree_find() has found in it, or in what
 * is left of it: `fabric`. Errors: -ENOTSUP there are not two levels, or leaves have more cables
 * than KEY_CABLES_MAX; -ENOMEM. Cost: O(links + leaves * spines).
 */
int key_two_levels_take(struct hd_key_tree *tree, const struct hd_fabric *fabric,
			const struct hd_tree *levels);

#endif
