/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One stage of a key: the cables by which flows leave the switches of one level and group upwards,
 * and by which they come back to them. All switches of a group above are one node here: cables that
 * lead to it carry equal colours.
 */
#ifndef KEYD_KEY_FIT_H
#define KEYD_KEY_FIT_H

#include "key_tree.h"

/* Flows from one switch to one LID: the switch forwards them by one cable. */
struct key_item {
	uint32_t left, right; /* blocks of the switches where they leave and come back */
	uint32_t lid; /* number of the LID, 0 .. stage->lid_count - 1 */
	uint32_t weight; /* flows */
	uint8_t up, down; /* result: cables of the left and of the right switch, to one parent */
};

struct key_stage {
	const struct hd_key_tree *tree;
	uint32_t level, group;
	enum hd_colour_algorithm algorithm;
	struct key_item *items; /* [item_count] */
	uint32_t item_count, lid_count;
	uint64_t seed; /* of random choices */
	/* result: the switch with the most flows for each cable that it has */
	uint32_t tightest_switch, demand, usable;
};

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
