/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The group table of one switch: which of the groups that its entries want it gets, and under which
 * numbers.
 */
#ifndef AR_MANAGER_GROUPS_H
#define AR_MANAGER_GROUPS_H

#include <heddle/ar_manager/plan.h>
#include <heddle/base/arena.h>

/* A group that entries of a switch want; all wishes of a switch differ. */
struct groups_wish {
	struct hd_ar_group group;
	uint64_t lids; /* entries that want it */
	uint32_t heir_of; /* group of the previous plan that the first of them has, or NO_GROUP */
	uint32_t number; /* result: HD_AR_NO_GROUP where there is no room */
	/* scratch */
	uint64_t benefit;
	uint32_t index; /* among the wishes */
	uint32_t before; /* its number in the previous plan, HD_AR_NO_GROUP: none */
};

/* Memory of one thread. */
struct groups_chooser {
	struct groups_wish *order; /* [room] */
	uint32_t room; /* most wishes of a switch */
	uint16_t *slots; /* numbers of the previous plan + 1, by hash */
	uint8_t *taken; /* [HD_AR_GROUPS_MAX] by number: in use in the new plan */
};

/* Room for so many wishes. Errors: -ENOMEM. */
int groups_init(struct groups_chooser *chooser, uint32_t room, struct hd_arena *arena);

/*
 * Gives numbers below `cap` to the wishes. If they are too many, those that serve most entries,
 * times ports, get one; of equal ones those that had a number before, then the first. A group that
 * had a number keeps it. A group that has only lost ports, or got some, takes over the number of
 * the one before, so that entries need no change. `previous` is the same switch in the plan in
 * force, or NULL. Adds to sw->group_count, used and wanted. Cost: O(wishes log wishes + previous groups).
 */
void groups_choose(struct groups_chooser *chooser, struct groups_wish *wishes, uint32_t count,
		   uint32_t cap, const struct hd_ar_switch *previous, struct hd_ar_switch *sw);

#endif
