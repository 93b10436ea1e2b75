/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries in place stay, and go back to the baseline, where their paths are whole. */
#ifndef ENGINES_ASIDE_KEEP_H
#define ENGINES_ASIDE_KEEP_H

#include "aside_columns.h"

/*
 * Looks at a block that has been routed as if nothing were in place. A switch whose path in the
 * previous tables is whole keeps its entry. With ASIDE_STAY_BASELINE, a switch whose path in the
 * baseline is whole gets the entry of the baseline. In columns of hosts that is only for entries
 * that no host uses. Returns the columns that it has changed, a bit for each; their turns are in
 * block->pairs. Cost: O(switches * count).
 */
uint64_t aside_keep(const struct aside_columns *columns, struct aside_block *block);

#endif
