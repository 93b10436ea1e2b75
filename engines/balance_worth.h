/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How good the loads of the trees are that were chosen so far. */
#ifndef ENGINES_BALANCE_WORTH_H
#define ENGINES_BALANCE_WORTH_H

#include "balance_tree.h"
#include "destinations.h"

/* Source hosts over the most loaded link. Cost: O(links). */
uint32_t balance_largest_load(const struct balance_trees *trees);

/*
 * True when the trees of the first `count` destinations cannot get better by much: no other trees
 * have a lower largest load, and the loads of all links are nearly even. Overwrites trees->weight.
 * Cost: O(links + count).
 */
bool balance_is_ideal(struct balance_trees *trees, const struct destinations *list, uint32_t count);

#endif
