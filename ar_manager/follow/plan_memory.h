/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a plan was made from, so that the next plan need not look at what is as it was. */
#ifndef AR_MANAGER_PLAN_MEMORY_H
#define AR_MANAGER_PLAN_MEMORY_H

#include <heddle/base/arena.h>
#include <stdbool.h>
#include <stdint.h>

struct planner;
struct planner_algorithm;

struct plan_memory {
	struct hd_arena arena;
	const struct planner_algorithm *algorithm; /* NULL: the next plan is made afresh */
	uint32_t switch_count;
	uint32_t *link_base; /* [switch_count + 1] */
	uint32_t *link_to; /* [link_base[switch_count]] */
	uint8_t *link_port; /* the same */
	bool *stray; /* the same */
	uint32_t *room; /* [switch_count] groups that the switch had room for */
	bool *cut; /* [switch_count] groups of the switch leave out links that could close a loop */
	uint32_t lid_count;
	uint32_t *destination; /* [lid_count] the switch to which the LID is cabled, or HD_NONE */
	bool *may_adapt; /* [lid_count] */
	const uint8_t *hops; /* [switch_count * hop_stride], in the arena; NULL: none */
	size_t hop_stride;
	const uint8_t *level; /* [hop_stride], in the arena; NULL: none */
};

/* An empty memory; NULL: no memory. */
struct plan_memory *plan_memory_new(void);

/* NULL is allowed. */
void plan_memory_free(struct plan_memory *memory);

/* Fills the memory of the planner's plan when the plan is made; or frees it if the plan is not one by which others are
 * made. Errors: -ENOMEM. Cost: O(links + LIDs). */
int plan_memory_fill(struct planner *planner);

#endif
