/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The blocks of a SET in the order in which they are sent, and the way back. */
#ifndef OPENSM_KEYS_STEPS_H
#define OPENSM_KEYS_STEPS_H

#include <heddle/change/repair.h>
#include <heddle/fabric/routes.h>

struct keys_blocks;

/* Zero-initialise before use; released with keys_steps_release(). */
struct keys_steps {
	uint32_t count, room;
	struct hd_repair_write *writes; /* [count] by step */
	uint32_t steps;
};

/* Appends all blocks as one step; no step if there are none. Errors: -ENOMEM. */
int keys_steps_add_blocks(struct keys_steps *order, const struct keys_blocks *blocks);

/* Appends the steps of a plan. Errors: -ENOMEM. */
int keys_steps_add_plan(struct keys_steps *order, const struct hd_repair_plan *plan);

/*
 * Appends two steps: first the entries that change are taken away, then they get their new ports. In each step a switch
 * has a part of the entries before, or a part of those after. Errors: -ENOMEM.
 */
int keys_steps_add_holes(struct keys_steps *order, const struct keys_blocks *blocks);

void keys_steps_release(struct keys_steps *order);

/* The first write that is of another step than writes[begin]. */
uint32_t keys_steps_end(const struct keys_steps *order, uint32_t begin);

/*
 * The writes that undo the first `count` ones, from the last step to the first, when `before` was in the switches before
 * all of them. *out is released with keys_steps_release(). Errors: -ENOMEM. Cost: O(count^2) if there are several steps.
 */
int keys_steps_reverse(const struct keys_steps *order, uint32_t count,
		       const struct hd_routes *before, struct keys_steps *out);

#endif
