/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans of one algorithm, proved: its variants are tried, and ports are left out where groups could deadlock. */
#ifndef AR_MANAGER_ATTEMPTS_H
#define AR_MANAGER_ATTEMPTS_H

#include "planning.h"

/* The table of algorithms. */

#define ALGORITHMS_COUNT 3u

/* In the order in which AUTO tries them. */
extern const struct planner_algorithm *const algorithms_all[ALGORITHMS_COUNT];

/* What came of an algorithm beside its plan. */
struct attempts_result {
	/* Adaptive entries by the definition of the algorithm, before ports were left out; 0: none was made. */
	uint64_t wide;
	/* The plan is one for a fabric that is a tree only in part, or whose shortest paths are not all of a tree. */
	bool in_part;
	struct hd_error
	    loop; /* that the groups of the definition alone close; "" if there is none */
	bool refused; /* hosts alone close one, so that no ports could be left out for others */
};

/*
 * Makes a plan with the algorithm. Of the plans that can be made it is the one with the most adaptive entries, but
 * those for fabrics that are a tree only in part are tried only if the others are refused, or leave much out. *loop
 * and errors are those of hd_ar_plan_new(). *result is written also where the plan is refused.
 */
int attempts_make(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		  struct hd_ar_plan **out, struct attempts_result *result, struct hd_ar_loop **loop,
		  struct hd_error *err);

#endif
