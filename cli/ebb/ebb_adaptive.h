/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A plan of adaptive routing beside the tables of heddle ebb: read from a file, or made. */
#ifndef CLI_EBB_ADAPTIVE_H
#define CLI_EBB_ADAPTIVE_H

#include "shared_arguments.h"

#include <heddle/analysis.h>
#include <heddle/ar_manager.h>

struct ebb_adaptive {
	const char *plan_path; /* NULL: none is read */
	bool make;
	enum hd_ar_algorithm algorithm; /* with which it is made */
	struct hd_ar_plan *plan;
	struct hd_spread spread; /* of the plan */
	struct hd_arena arena;
	struct hd_congestion_report *report;
};

/* The place is a struct ebb_adaptive. */
arguments_take_fn ebb_adaptive_take_algorithm;

#define EBB_ADAPTIVE_ARGUMENTS(type, member)                                                       \
	{0, "plan", "FILE",                                                                        \
	 "measure this plan of adaptive routing too (.far file, see heddle ar plan)",              \
	 ARGUMENT_TEXT(type, member.plan_path)},                                                   \
	{                                                                                          \
		0, "ar", "auto|lag|tree|dfp", "the same with a plan that is made now",             \
		    ARGUMENT_BY(ebb_adaptive_take_algorithm, type, member)                         \
	}

static inline bool ebb_adaptive_wanted(const struct ebb_adaptive *adaptive)
{
	return adaptive->plan_path || adaptive->make;
}

/* Reads or makes the plan, and what of it counts: `spread`. Errors: those of the reader or of the
 * planner. */
int ebb_adaptive_load(struct ebb_adaptive *adaptive, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, unsigned threads, const struct hd_log *log,
		      struct hd_error *err);

void ebb_adaptive_release(struct ebb_adaptive *adaptive);

#endif
