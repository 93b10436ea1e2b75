/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle-measure, as text and as JSON. */
#ifndef CLI_MEASURE_REPORT_H
#define CLI_MEASURE_REPORT_H

#include "json_value.h"
#include "measure_prediction.h"
#include "measure_traffic.h"

struct measure_view {
	uint32_t ranks, hosts; /* `hosts` have different names */
	const struct measure_plan *plan;
	const struct measure_result *result;
	const struct measure_prediction *prediction; /* NULL: none */
	const char *fabric_path, *tables_name; /* of the prediction */
};

/* Pairs of the prediction by their share of bandwidth, in the plan's bins: counts[bins]. */
void measure_report_bins(const struct hd_congestion_report *report, uint32_t bins,
			 uint64_t *counts);

/* How well the means of patterns go together, from -1 to 1; 0 where one of them does not vary. */
double measure_report_correlation(const double *means, const uint64_t *predicted, uint64_t count);

/* Prints the report. -ENOMEM, and nothing is printed. */
int measure_report_print(const struct measure_view *view);

/* NULL: no memory. */
json_t *measure_report_json(const struct measure_view *view);

#endif
