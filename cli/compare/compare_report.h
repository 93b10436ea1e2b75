/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle compare, as text, as JSON and as a page. */
#ifndef CLI_COMPARE_REPORT_H
#define CLI_COMPARE_REPORT_H

#include "ebb_report.h"
#include "json_value.h"

/* ---- the verdict ---- */

/* What is compared, and what it comes to: which tables are better, by how much, and what to do. */

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
	unsigned left_out; /* tables that were not measured, because the work was ended early */
};

enum compare_outcome { COMPARE_KEEP, COMPARE_CHANGE, COMPARE_REPAIR };

struct compare_verdict {
	enum compare_outcome outcome;
	char *finding; /* a sentence or two: which tables are better, by how much */
	char *advice; /* what to do */
};

/*
 * Tables that lose routes are never better than tables that lose none. A difference counts only
 * beyond its 99% confidence interval, and is worth a change from 1% on. *out is
 * released with compare_verdict_release().
 */
void compare_verdict_make(const struct compare_view *view, struct compare_verdict *out);
void compare_verdict_release(struct compare_verdict *verdict);

/* ---- the report ---- */

/* The mean number of flows of a link in a round. */
double compare_flows(const struct compare_side *side, uint32_t link);

void compare_print(const struct compare_view *view);

/* A table with a row for each of the tables, to standard output. */
void compare_csv(const struct compare_view *view);

/* NULL: no memory. */
json_t *compare_json(const struct compare_view *view);

/* A page for a browser that loads nothing else. Errors of writing stay in the stream. */
void compare_html(const struct compare_view *view, FILE *page);

/* ---- charts of the page ---- */

/* The distributions of the page of heddle compare: the lines of all tables over one pair of axes. */

/* Draw one chart for the `count` sides, whose letters are in this order. */

/* Patterns by their bandwidth, with the means marked. */
void compare_charts_patterns(FILE *page, const struct compare_side *const *sides, unsigned count);

/* Routes by their congestion, up to that which few exceed. */
void compare_charts_congestion(FILE *page, const struct compare_side *const *sides, unsigned count);

/* Loads of the `links` links between switches, the largest first. */
void compare_charts_loads(FILE *page, const struct compare_side *const *sides, unsigned count,
			  uint32_t links);

#endif
