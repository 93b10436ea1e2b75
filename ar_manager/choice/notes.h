/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The notes of a request: why not more entries are adaptive. Nothing is done if nobody asks for them. */
#ifndef AR_MANAGER_NOTES_H
#define AR_MANAGER_NOTES_H

#include <heddle/ar_manager/plan.h>

void notes_begin(const struct hd_ar_request *request);

/* An algorithm that makes no plan, and its reason. Errors: -ENOMEM, without a reason. */
int notes_refused(const struct hd_ar_request *request, enum hd_ar_algorithm algorithm,
		  const struct hd_error *reason);

/* A plan that leaves entries static which the definition of its algorithm makes adaptive. `loop`: what the groups of
 * the definition alone close, or "". Errors: -ENOMEM, without a reason. */
int notes_in_part(const struct hd_ar_request *request, const struct hd_ar_plan *plan,
		  uint64_t entries, const struct hd_error *loop);

/* A plan that was left for one with more adaptive entries. */
void notes_replaced(const struct hd_ar_request *request, const struct hd_ar_plan *left,
		    const struct hd_ar_plan *taken);

/* A plan without adaptive entries. */
void notes_none(const struct hd_ar_request *request, const struct hd_ar_plan *plan);

#endif
