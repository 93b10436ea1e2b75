/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a plan has in memory: what it was made from, its owner, and a row for each switch. */
#ifndef AR_MANAGER_PLAN_DATA_H
#define AR_MANAGER_PLAN_DATA_H

#include <heddle/ar_manager/plan.h>
#include <heddle/base/arena.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What a plan was made from, so that the next plan need not look at what is as it was. */

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

/* NULL is allowed. */
void plan_memory_free(struct plan_memory *memory);

/* Fills the memory of the planner's plan when the plan is made; or frees it if the plan is not one by which others are
 * made. Errors: -ENOMEM. Cost: O(links + LIDs). */
int plan_memory_fill(struct planner *planner);

/* What owns a plan. */

struct plan_holder {
	struct hd_ar_plan plan; /* first: a plan's address is its holder's */
	struct hd_arena arena; /* the switches, and what has no row */
	/* What the plan was made from, for the next one; NULL: not known. */
	struct plan_memory *memory;
	atomic_uint others; /* holders beside the first one */
	struct hd_ar_plan *unpinned; /* held: pins.h; NULL: it has no pins */
};

/*
 * What a plan has of one switch: its groups and its entries. Plans share rows, also those of several
 * threads. A row never changes while anybody else has it.
 */
struct hd_ar_row {
	atomic_uint holders;
	uint32_t table_count, lid_count, group_count; /* as it was made */
	/* The numbers below are those of the groups and entries; false: these have changed since. */
	bool counted;
	uint64_t entries; /* of all tables that have a port */
	uint64_t adaptive; /* of them */
	uint64_t possible; /* that would be adaptive if the switch had room for all groups */
	uint32_t *lids; /* [group_count] entries that have the group, in all tables */
	struct hd_ar_group *groups; /* [group_count], or `more` */
	struct hd_ar_group *more; /* to be freed; NULL: the groups are part of the row's memory */
	uint16_t *lid_group; /* [table_count * lid_count] */
	uint8_t *lid_port; /* the same */
};

/* A row with one holder, empty groups and undefined entries. NULL: no memory. */
struct hd_ar_row *plan_row_new(uint32_t table_count, uint32_t lid_count, uint32_t group_count);

/* Returns the row. NULL is allowed. */
const struct hd_ar_row *plan_row_hold(const struct hd_ar_row *row);

/* NULL is allowed. */
void plan_row_release(const struct hd_ar_row *row);

/* Puts the row into a switch. It stays the caller's. */
void plan_row_use(const struct hd_ar_row *row, struct hd_ar_switch *sw);

/* Counts the entries of a switch; O(1) if it has a row that is counted, else O(tables * LIDs). */
void plan_row_count(const struct hd_ar_switch *sw, uint32_t table_count, uint32_t lid_count,
		    uint64_t *entries, uint64_t *adaptive);

/* Whether two switches of plans with so many tables and LIDs have the same groups and entries. O(1) if they
 * share a row, else O(tables * LIDs). */
bool plan_row_equal(const struct hd_ar_switch *a, const struct hd_ar_switch *b,
		    uint32_t table_count, uint32_t lid_count);

#endif
