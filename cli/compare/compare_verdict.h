/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a comparison comes to: which tables are better, by how much, and what to do. */
#ifndef CLI_COMPARE_VERDICT_H
#define CLI_COMPARE_VERDICT_H

#include "compare_report.h"

enum compare_outcome { COMPARE_KEEP, COMPARE_CHANGE, COMPARE_REPAIR };

struct compare_verdict {
	enum compare_outcome outcome;
	char *finding; /* a sentence or two: which tables are better, by how much */
	char *advice; /* what to do */
};

/*
 * Tables that lose routes are never better than tables that lose none. A difference counts only
 * beyond its 99% confidence interval, and is worth a change from 1% on. Errors: -ENOMEM; then *out
 * is empty. It is released with compare_verdict_release().
 */
int compare_verdict_make(const struct compare_view *view, struct compare_verdict *out);
void compare_verdict_release(struct compare_verdict *verdict);

#endif
