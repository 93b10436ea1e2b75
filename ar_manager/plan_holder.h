/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What owns a plan. */
#ifndef AR_MANAGER_PLAN_HOLDER_H
#define AR_MANAGER_PLAN_HOLDER_H

#include <heddle/ar_manager/plan.h>
#include <heddle/base/arena.h>
#include <stdatomic.h>

struct plan_memory;

struct plan_holder {
	struct hd_ar_plan plan; /* first: a plan's address is its holder's */
	struct hd_arena arena; /* the switches, and what has no row */
	/* What the plan was made from, for the next one; NULL: not known. */
	struct plan_memory *memory;
	atomic_uint others; /* holders beside the first one */
	struct hd_ar_plan *unpinned; /* held: pins.h; NULL: it has no pins */
};

#endif
