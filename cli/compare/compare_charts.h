/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The distributions of the page of heddle compare: the lines of all tables over one pair of axes. */
#ifndef CLI_COMPARE_CHARTS_H
#define CLI_COMPARE_CHARTS_H

#include "chart.h"
#include "compare_report.h"

/* Draw one chart for the `count` sides, whose letters are in this order. Errors: -ENOMEM; then
 * nothing is written. */

/* Patterns by their bandwidth, with the means marked. */
int compare_charts_patterns(FILE *page, const struct compare_side *const *sides, unsigned count);

/* Routes by their congestion, up to that which few exceed. */
int compare_charts_congestion(FILE *page, const struct compare_side *const *sides, unsigned count);

/* Loads of the `links` links between switches, the largest first. */
int compare_charts_loads(FILE *page, const struct compare_side *const *sides, unsigned count,
			 uint32_t links);

#endif
