/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is compared, and what it comes to: which tables are better, by how much, and what to do. */
#ifndef CLI_COMPARE_VERDICT_H
#define CLI_COMPARE_VERDICT_H

#include "ebb_report.h"

struct compare_side {
	const char *name;
	const struct compare_side *same_as; /* earlier ones with the same tables; NULL: none */
	const struct hd_congestion_report *report;
	const uint64_t *means; /* of each pattern, as in hd_congestion_request */
	struct ebb_broken broken;
	struct hd_difference difference; /* to the first tables; all 0 for these */
	uint32_t *worse; /* links that gained most flows, in descending order */
	uint32_t worse_count;
};

struct compare_view {
	const char *fabric_path;
	const struct workload *workload;
	const struct workload_on *on;
	const struct compare_side *sides;
	unsigned count;
};

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
