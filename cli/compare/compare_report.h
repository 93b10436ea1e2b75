/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several tables on the same patterns, the first of them the one to compare with. */
#ifndef CLI_COMPARE_REPORT_H
#define CLI_COMPARE_REPORT_H

#include "ebb_report.h"
#include "json_value.h"

struct compare_side {
	const char *name;
	const struct hd_congestion_report *report;
	struct ebb_broken broken;
	struct hd_difference difference; /* to the first tables; theirs: all 0 */
	uint32_t *worse; /* links that gained most flows, the most first */
	uint32_t worse_count;
};

struct compare_view {
	const char *fabric_path;
	const struct workload *workload;
	const struct workload_on *on;
	const struct compare_side *sides;
	unsigned count;
};

/* Mean flows a round of a link. */
double compare_flows(const struct compare_side *side, uint32_t link);

void compare_print(const struct compare_view *view);

/* NULL: no memory. */
json_t *compare_json(const struct compare_view *view);

/* One page without anything from outside, for a browser. */
void compare_html(const struct compare_view *view, FILE *page);

#endif
