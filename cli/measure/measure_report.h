/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle-measure, as text and as JSON. */
#ifndef CLI_MEASURE_REPORT_H
#define CLI_MEASURE_REPORT_H

#include "json_value.h"
#include "measure_world.h"
#include "table_source.h"

#include <heddle/analysis.h>
#include <heddle/base/error.h>
#include <stdint.h>

/* ---- the prediction ---- */

/* What heddle ebb says of the bisections that were measured. */

struct measure_prediction_request {
	const char *path; /* of the fabric */
	const char *name_map; /* NULL: none */
	int lmc; /* as in struct fabric_source */
	struct table_source *tables;
	const char *host_file; /* the host of each rank; NULL: by `names` */
	const char *names; /* [ranks * name_size] names of the ranks' hosts */
	uint32_t ranks, name_size;
	uint64_t seed, patterns;
	const struct hd_log *log;
};

struct measure_prediction {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ranks *ranks;
	struct hd_congestion_report *report;
	uint64_t *means; /* [patterns], in units of 1 / HD_SHARE_ONE */
};

/*
 * Reads fabric and tables, finds the host of each rank, and counts the flows of the bisections with
 * these numbers. A host's name is looked up as it is, then up to its first dot. The prediction is
 * freed with measure_prediction_free(), after an error too. Errors: -EINVAL a name that the fabric
 * does not have, two ranks on one host, or a host file with another number of hosts than ranks;
 * those of the readers, of the engine and of hd_congestion_run().
 */
int measure_prediction_make(const struct measure_prediction_request *request,
			    struct measure_prediction *prediction, struct hd_error *err);

void measure_prediction_free(struct measure_prediction *prediction);

/* ---- the report ---- */

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
