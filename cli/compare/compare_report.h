/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle compare, as text, as JSON and as a page. */
#ifndef CLI_COMPARE_REPORT_H
#define CLI_COMPARE_REPORT_H

#include "ebb_report.h"
#include "json_value.h"

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

/* The mean number of flows of a link in a round. */
double compare_flows(const struct compare_side *side, uint32_t link);

/* Prints the report. Errors: -ENOMEM, after a part of it. */
int compare_print(const struct compare_view *view);

/* A table with a row for each of the tables, to standard output. */
void compare_csv(const struct compare_view *view);

/* NULL: no memory. */
json_t *compare_json(const struct compare_view *view);

/* A page for a browser that loads nothing else. Errors: -ENOMEM; errors of writing stay in the
 * stream. */
int compare_html(const struct compare_view *view, FILE *page);

#endif
