/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One stage of a key: the cables by which flows leave the switches of one level and group upwards,
 * and by which they come back to them. All switches of a group above are one node here: cables that
 * lead to it carry equal colours.
 */
#ifndef KEYD_KEY_FIT_H
#define KEYD_KEY_FIT_H

#include "key_fit_search.h"

/*
 * Chooses cables so that the most flows on one cable are few: by an exact colouring, which is best
 * in trees from which nothing is missing; then items that cannot have their colour take another
 * one, and push out those that are in the way (alternating paths). If that does not end, cables may
 * take one flow more. Two items of one LID that meet in a switch above come down by one cable.
 *
 * Errors: -EHOSTUNREACH item *stuck has no path, -ENOMEM, those of hd_colour_edges().
 */
int key_fit(struct key_stage *stage, uint32_t *stuck, struct hd_error *err);

#endif
