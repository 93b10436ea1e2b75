/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In which step each entry changes. */
#ifndef AR_MANAGER_STEPS_ORDER_H
#define AR_MANAGER_STEPS_ORDER_H

#include <heddle/ar_manager/steps.h>
#include <heddle/base/arena.h>

#define STEPS_LATE 0x80u

struct steps_order {
	uint32_t count; /* steps, 1 or more */
	/* [switch_count * lid_count] 0: the entry does not change. With STEPS_LATE: it is static from
	 * then on, and gets its group in the last step. */
	uint8_t *step;
	bool late; /* any is */
	struct hd_port_set *live; /* [switch_count] ports with a cable */
	struct hd_arena arena;
};

/* `held` is that of the request, in the shape of the fabric. To be released in any case. Errors and
 * cost: as hd_ar_steps_new(). */
int steps_order_find(const struct hd_ar_steps_request *request, const struct hd_ar_plan *held,
		     struct steps_order *order, struct hd_error *err);

void steps_order_release(struct steps_order *order);

#endif
