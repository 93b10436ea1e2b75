/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "measure_report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB 1048576.0
#define ROUNDING 1e-9 /* 1/pi is a little below the limit of its bin at times */

void measure_report_bins(const struct hd_congestion_report *report, uint32_t bins, uint64_t *counts)
{
	for (uint32_t pi = 1; pi < report->histogram_size; pi++) {
		uint32_t bin = (uint32_t)((double)bins / pi + ROUNDING);
		counts[bin < bins ? bin : bins - 1] += report->histogram[pi];
	}
}

double measure_report_correlation(const double *means, const uint64_t *predicted, uint64_t count)
{
	double x = 0, y = 0, xx = 0, yy = 0, xy = 0;

	for (uint64_t i = 0; i < count; i++) {
		x += means[i] / (double)count;
		y += (double)predicted[i] / HD_SHARE_ONE / (double)count;
	}
	for (uint64_t i = 0; i < count; i++) {
		double a = means[i] - x, b = (double)predicted[i] / HD_SHARE_ONE - y;
		xx += a * a;
		yy += b * b;
		xy += a * b;
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static uint64_t *predicted_counts(const struct measure_view *view)
{
	uint64_t *counts = calloc(view->plan->bins, sizeof(*counts));

	if (counts && view->prediction)
		measure_report_bins(view->prediction->report, view->plan->bins, counts);
	return counts;
}

static double correlation(const struct measure_view *view)
{
	return measure_report_correlation(view->result->means, view->prediction->means,
					  view->plan->patterns);
}

/* ---- text ---- */

/* The part of the time of the fastest pair that an error of the clocks may be. */
#define CLOCKS_TOO_BAD 0.02

static void print_clocks(const struct measure_view *view)
{
	const struct measure_result *result = view->result;
	double bytes = (double)view->plan->packets * view->plan->bytes;

	printf("clocks      within %.1f us", result->clock_error * 1e6);
	if (result->clock_error * result->most > CLOCKS_TOO_BAD * bytes)
		printf(": the packets are too few or too small, the fastest took %.1f us",
		       bytes / result->most * 1e6);
	printf("\n");
}

static void print_setting(const struct measure_view *view)
{
	const struct measure_plan *plan = view->plan;
	const struct measure_result *result = view->result;

	printf("ranks       %" PRIu32 " on %" PRIu32 " host%s, seed %" PRIu64 "\n", view->ranks,
	       view->hosts, view->hosts == 1 ? "" : "s", plan->seed);
	printf("pattern     %" PRIu64 " random bisections; each pair sends %" PRIu32
	       " packets of %" PRIu32 " bytes\n",
	       plan->patterns, plan->packets, plan->bytes);
	printf("full        %.1f MiB/s", result->full / MIB);
	if (result->alone)
		printf("  median of runs of %u pair%s alone (%.1f to %.1f)", result->alone,
		       result->alone == 1 ? "" : "s", result->alone_least / MIB,
		       result->alone_most / MIB);
	printf("\n");
	print_clocks(view);
}

static void print_bandwidth(const struct measure_view *view)
{
	const struct measure_result *result = view->result;

	printf("\nmeasured    %.4f +- %.4f (99%%)  mean share of full bandwidth of %" PRIu64
	       " pairs\n",
	       result->mean, result->half_width, result->pairs);
	printf("            a pair had %.1f to %.1f MiB/s\n", result->least / MIB,
	       result->most / MIB);
	if (result->late)
		printf("            late starts of ranks: %" PRIu64 "; other work disturbs them\n",
		       result->late);
	if (!view->prediction)
		return;
	const struct hd_congestion_report *report = view->prediction->report;
	printf("predicted   %.4f +- %.4f (99%%)  mean of 1/pi of the same pairs: %s, %s\n",
	       report->mean, report->half_width, view->fabric_path, view->tables_name);
	if (report->broken)
		printf("            without %" PRIu64 " flows that do not arrive by these tables\n",
		       report->broken);
	printf("difference  %+.4f  measured - predicted; correlation of bisections %.3f\n",
	       result->mean - report->mean, correlation(view));
}

static void print_bins(const struct measure_view *view, const uint64_t *predicted)
{
	uint32_t bins = view->plan->bins;
	double pairs = (double)view->result->pairs;
	double routes = view->prediction ? (double)view->prediction->report->routes : 1;

	printf("\n      share     measured%s\n", view->prediction ? "  predicted" : "");
	for (uint32_t bin = 0; bin < bins; bin++) {
		uint64_t count = view->result->counts[bin];
		if (!count && !predicted[bin])
			continue;
		printf("%.3f - %.3f  %9.2f%%", (double)bin / bins, (double)(bin + 1) / bins,
		       100 * (double)count / pairs);
		if (view->prediction)
			printf(" %9.2f%%", 100 * (double)predicted[bin] / routes);
		printf("\n");
	}
}

int measure_report_print(const struct measure_view *view)
{
	uint64_t *predicted = predicted_counts(view);

	if (!predicted)
		return -ENOMEM;
	print_setting(view);
	print_bandwidth(view);
	print_bins(view, predicted);
	free(predicted);
	return 0;
}

/* ---- JSON ---- */

static json_t *full_json(const struct measure_result *result)
{
	json_t *value = json_pack("{s:f, s:I}", "mib_per_s", result->full / MIB, "pairs_alone",
				  (json_int_t)result->alone);

	if (!result->alone)
		return value;
	value = json_value_set(value, "least", json_real(result->alone_least / MIB));
	return json_value_set(value, "most", json_real(result->alone_most / MIB));
}

static json_t *measured_json(const struct measure_result *result)
{
	return json_pack("{s:f, s:f, s:I, s:f, s:f, s:f, s:I}", "mean", result->mean,
			 "half_width_99", result->half_width, "pairs", (json_int_t)result->pairs,
			 "least_mib_per_s", result->least / MIB, "most_mib_per_s",
			 result->most / MIB, "clock_error_us", result->clock_error * 1e6,
			 "late_starts", (json_int_t)result->late);
}

static json_t *predicted_json(const struct measure_view *view)
{
	const struct hd_congestion_report *report = view->prediction->report;

	return json_pack("{s:o, s:o, s:f, s:f, s:I, s:I, s:f}", "fabric",
			 json_value_text(view->fabric_path), "tables",
			 json_value_text(view->tables_name), "mean", report->mean, "half_width_99",
			 report->half_width, "pairs", (json_int_t)report->routes, "broken",
			 (json_int_t)report->broken, "correlation", correlation(view));
}

static json_t *bins_json(const struct measure_view *view, const uint64_t *predicted)
{
	uint32_t bins = view->plan->bins;
	json_t *list = json_array();

	for (uint32_t bin = 0; bin < bins; bin++) {
		uint64_t count = view->result->counts[bin];
		if (!count && !predicted[bin])
			continue;
		json_t *row = json_pack("{s:f, s:f, s:I}", "from", (double)bin / bins, "to",
					(double)(bin + 1) / bins, "measured", (json_int_t)count);
		if (view->prediction)
			row = json_value_set(row, "predicted",
					     json_integer((json_int_t)predicted[bin]));
		list = json_value_append(list, row);
	}
	return list;
}

json_t *measure_report_json(const struct measure_view *view)
{
	const struct measure_plan *plan = view->plan;
	uint64_t *predicted = predicted_counts(view);

	if (!predicted)
		return NULL;
	json_t *all =
	    json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "ranks",
		      (json_int_t)view->ranks, "hosts", (json_int_t)view->hosts, "seed",
		      (json_int_t)plan->seed, "patterns", (json_int_t)plan->patterns, "packets",
		      (json_int_t)plan->packets, "packet_bytes", (json_int_t)plan->bytes, "bins",
		      (json_int_t)plan->bins, "full", full_json(view->result), "measured",
		      measured_json(view->result), "histogram", bins_json(view, predicted));
	if (view->prediction)
		all = json_value_set(all, "predicted", predicted_json(view));
	free(predicted);
	return all;
}
