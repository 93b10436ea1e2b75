/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stage of a key, and its items while they are placed on cables. */
#ifndef KEYD_KEY_FIT_SEARCH_H
#define KEYD_KEY_FIT_SEARCH_H

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

enum { KEY_UP, KEY_DOWN, KEY_OUT, KEY_IN, KEY_RESOURCES };

/* An item among those of each of its resources. */
struct key_slots {
	bool placed;
	uint32_t next[KEY_RESOURCES], previous[KEY_RESOURCES]; /* items; HD_NONE: none */
};

/* The cable by which a LID comes down from a parent. */
struct key_fixed {
	uint32_t items; /* that take it; 0: not fixed */
	uint32_t parallel;
};

struct key_fitting {
	struct key_stage *stage;
	const struct key_level *level;
	uint32_t ratio; /* blocks of the level in a block of the next one */
	uint32_t target; /* flows that a cable may carry */
	struct hd_arena arena;
	uint64_t (*options)[KEY_MASK_WORDS]; /* [items] parents that each can take; NULL: all */
	uint32_t base[KEY_RESOURCES]; /* first resource of each kind */
	uint32_t *load; /* [resources] flows */
	uint32_t *room; /* [resources] cables */
	uint32_t *head; /* [resources] first item */
	struct key_slots *slots; /* [items] */
	struct key_fixed *fixed; /* [LIDs * parents]; NULL: no parallel cables */
};

/* Whether an item climbs beyond the next level. */
static inline bool key_fit_further(const struct key_fitting *fitting, const struct key_item *item)
{
	return item->left / fitting->ratio != item->right / fitting->ratio;
}

/* Whether an item's path can lead through that parent. */
static inline bool key_fit_may(const struct key_fitting *fitting, uint32_t item, uint32_t parent)
{
	return !fitting->options || fitting->options[item][parent / 64] >> parent % 64 & 1;
}

/* Places an item on the cable of that number on both sides, if there is room. */
void key_fit_try(struct key_fitting *fitting, uint32_t item, uint32_t cable);

/* Places all items, with a higher target where that must be. Errors: -ENOMEM. */
int key_fit_search(struct key_fitting *fitting);

#endif
