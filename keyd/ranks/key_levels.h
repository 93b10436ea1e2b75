/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The levels of a tree that is not regular. */
#ifndef KEYD_KEY_LEVELS_H
#define KEYD_KEY_LEVELS_H

#include "key_ranks.h"

/*
 * Finds the levels: the first tree of hd_tree_find() in which all leaves have paths to each other, as dmodk does; else
 * the one of these, of the tree without stray cables, and of those in which routers make no leaf, in which the fewest
 * pairs of leaves have none. Memory is the arena's. Errors: -ENOTSUP the fabric is no tree, or has too many levels,
 * with the reason; -ENOMEM. Cost: O(links * switches / 64) for each tree.
 */
int key_levels_find(const struct hd_fabric *fabric, struct hd_arena *arena, struct key_ranks **out,
		    struct hd_error *err);

#endif
