/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle compare, as text, as JSON and as a page. */
#ifndef CLI_COMPARE_REPORT_H
#define CLI_COMPARE_REPORT_H

#include "compare_verdict.h"
#include "json_value.h"

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
