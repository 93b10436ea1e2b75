/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle-measure, as text and as JSON. */
#ifndef CLI_MEASURE_REPORT_H
#define CLI_MEASURE_REPORT_H

#include "json_value.h"
#include "measure_prediction.h"
#include "measure_world.h"

#include <heddle/base/error.h>
#include <stdint.h>

struct measure_plan {
	uint64_t patterns; /* 1 .. */
	uint32_t packets, bytes; /* packets of a pair, and bytes of each, 1 .. */
	uint32_t bins; /* of the histogram, 1 .. */
	uint64_t seed;
	double full; /* full bandwidth of a pair in bytes a second; 0: measured, by pairs alone */
};

/* A share is the bandwidth of a pair as a share of full bandwidth. */
struct measure_result {
	uint64_t pairs; /* of all patterns */
	uint64_t *counts; /* [bins] pairs by share; the last bin has those of 1 and more, too */
	double *means; /* [patterns] mean share of each */
	double mean, half_width; /* of all, and half of the 99% confidence interval */
	double least, most; /* bytes a second of a pair */
	double full; /* bytes a second */
	uint32_t alone; /* pairs by which `full` was measured; 0: it was given */
	double alone_least, alone_most; /* bytes a second of these */
	uint64_t late; /* starts that a rank missed */
	double clock_error; /* seconds by which a clock was wrong, at most */
};

/*
 * Runs the plan. All ranks must call it; only the first gets a result, which is freed with
 * measure_traffic_free(). It returns the same in all ranks: 0, or -ENOMEM in some rank. Calls
 * progress(context, patterns done) in the first rank after each pattern.
 */
int measure_traffic_run(const struct measure_world *world, const struct measure_plan *plan,
			void (*progress)(void *context, uint64_t done), void *context,
			struct measure_result *result, struct hd_error *err);

void measure_traffic_free(struct measure_result *result);

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
