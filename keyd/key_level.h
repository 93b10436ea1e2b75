/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The switches and cables of one level of a tree, as they are filled in. */
#ifndef KEYD_KEY_LEVEL_H
#define KEYD_KEY_LEVEL_H

#include "key_tree.h"

/* Allocates the arrays of a level whose numbers are set: no switch and no cable is there. Errors:
 * -ENOMEM. */
int key_level_allocate(struct key_level *level, struct hd_arena *arena);

/* The cable of a switch is that link. */
void key_level_add_cable(struct key_level *level, uint32_t place, uint32_t cable, uint32_t link);

/* Whether no cable of the level is missing. */
bool key_level_is_whole(const struct key_level *level);

#endif
