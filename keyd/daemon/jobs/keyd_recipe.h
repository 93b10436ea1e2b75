/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the database has of a key that is in the switches, so that the daemon makes the same key after it was started
 * again: the shift, which depended on the loads of that time, and the whole key if attempts have found it. It holds
 * for one fabric, one phase, and one number of a key.
 */
#ifndef KEYD_RECIPE_H
#define KEYD_RECIPE_H

#include "keyd.h"

/* The recipe of a slot's key as text, to be freed with free(). NULL: it needs none, it was written already, or no memory.
 * *check differs from that of another recipe. */
char *keyd_recipe_write(const struct keyd_slot *slot, uint64_t *check);

/* Makes the slot's key the one of slot->recipe, if that is for its phase and its view. False: nothing has changed. */
bool keyd_recipe_apply(struct keyd_slot *slot);

#endif
