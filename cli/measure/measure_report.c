/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "measure_report.h"
#include "fabric_source.h"
#include "measure_world.h"

#include <errno.h>
#include <heddle/analysis.h>
#include <heddle/base/arena.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of a rank's host as the fabric has it: in full, or up to the first dot. */
static void write_name(const struct hd_fabric *fabric, const char *name, FILE *text)
{
	uint32_t port;
	int length = (int)strcspn(name, ".");

	if (!hd_fabric_resolve(fabric, name, HD_RESOLVE_HOSTS, &port, NULL))
		length = (int)strlen(name);
	fprintf(text, "\"%.*s\"\n", length, name);
}

/* A host file of the names that MPI gives. */
static int find_hosts(const struct measure_prediction_request *request,
		      struct measure_prediction *prediction, struct hd_error *err)
{
	char *bytes = NULL;
	size_t length = 0;
	FILE *text = open_memstream(&bytes, &length);

	if (!text)
		return hd_error_no_memory(err);
	for (uint32_t rank = 0; rank < request->ranks; rank++)
		write_name(prediction->fabric, request->names + (size_t)rank * request->name_size,
			   text);
	int rc = fclose(text) ? hd_error_no_memory(err)
			      : hd_ranks_parse(prediction->fabric, bytes, length,
					       "hosts of the ranks", &prediction->ranks, err);
	free(bytes);
	return rc;
}

static int place_ranks(const struct measure_prediction_request *request,
		       struct measure_prediction *prediction, struct hd_error *err)
{
	if (!request->host_file)
		return find_hosts(request, prediction, err);
	int rc = hd_ranks_read(prediction->fabric, request->host_file, &prediction->ranks, err);
	if (rc || prediction->ranks->count == request->ranks)
		return rc;
	return hd_error_set(err, -EINVAL, "%s: %" PRIu32 " hosts, but there are %" PRIu32 " ranks",
			    request->host_file, prediction->ranks->count, request->ranks);
}

static int count_flows(const struct measure_prediction_request *request,
		       struct measure_prediction *prediction, struct hd_error *err)
{
	struct hd_pattern *pattern = NULL;
	int rc = hd_pattern_new(hd_pattern_find("bisect"), NULL, prediction->ranks, &pattern, err);

	if (rc)
		return rc;
	prediction->means = calloc(request->patterns, sizeof(*prediction->means));
	const struct hd_congestion_request congestion = {.fabric = prediction->ranks->fabric,
							 .routes = prediction->routes,
							 .ranks = prediction->ranks,
							 .pattern = pattern,
							 .mapping = HD_MAP_IDENTITY,
							 .seed = request->seed,
							 .patterns = request->patterns,
							 .means = prediction->means};
	rc = prediction->means ? hd_congestion_run(&congestion, &prediction->report, err)
			       : hd_error_no_memory(err);
	hd_pattern_free(pattern);
	return rc;
}

int measure_prediction_make(const struct measure_prediction_request *request,
			    struct measure_prediction *prediction, struct hd_error *err)
{
	const struct fabric_source source = {request->path, request->name_map, request->lmc, NULL};
	int rc = fabric_source_load(&source, request->log, &prediction->fabric, err);

	if (rc)
		return rc;
	const struct table_request tables = {
	    .fabric = prediction->fabric, .threads = 1, .log = request->log};
	rc = place_ranks(request, prediction, err);
	if (!rc)
		rc = table_source_make(request->tables, &tables, &prediction->routes, err);
	return rc ? rc : count_flows(request, prediction, err);
}

void measure_prediction_free(struct measure_prediction *prediction)
{
	free(prediction->means);
	hd_congestion_report_free(prediction->report);
	hd_ranks_free(prediction->ranks);
	hd_routes_free(prediction->routes);
	hd_fabric_free(prediction->fabric);
}

/*
 * Sends random bisections through the live network, and measures the bandwidth of each pair.
 * Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
 * routing in high-performance networks", 2008, section 3.2.3.
 */

#define TAG 2
#define ALONE_RUNS 16u /* of pairs alone */
#define CLOCK_EVERY 256u /* patterns after which the clocks are set again */
#define CONFIDENCE 2.5758 /* standard deviations of a 99% interval */

struct traffic {
	const struct measure_world *world;
	const struct measure_plan *plan;
	struct measure_result *result; /* of the first rank */
	struct measure_clock clock;
	struct hd_arena arena;
	struct hd_ranks ranks; /* rank r is "host" r */
	struct hd_pattern *pattern;
	struct hd_flow *flows; /* [pairs] of the pattern at hand */
	uint32_t pairs;
	char *packet; /* [bytes] */
	double *times; /* [2 * ranks] of the first rank: seconds of each receiver, and late */
};

/* The other end of this rank's pair; *sends: which end it is. HD_NONE: it has none. */
static uint32_t find_partner(const struct traffic *traffic, bool *sends)
{
	uint32_t own = (uint32_t)traffic->world->rank;

	for (uint32_t i = 0; i < traffic->pairs; i++) {
		*sends = traffic->flows[i].source == own;
		if (*sends)
			return traffic->flows[i].destination;
		if (traffic->flows[i].destination == own)
			return traffic->flows[i].source;
	}
	return HD_NONE;
}

static void pass(struct traffic *traffic, uint32_t partner, bool sends, uint32_t packets, int bytes)
{
	for (uint32_t i = 0; i < packets; i++) {
		if (sends)
			MPI_Send(traffic->packet, bytes, MPI_BYTE, (int)partner, TAG,
				 MPI_COMM_WORLD);
		else
			MPI_Recv(traffic->packet, bytes, MPI_BYTE, (int)partner, TAG,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* Sends what flows[] says, all pairs at once. times[] of the first rank has the result. One byte
 * goes before, because MPI connects two ranks with their first message. */
static void send_flows(struct traffic *traffic)
{
	const struct measure_plan *plan = traffic->plan;
	double own[2] = {0, 0}, start;
	bool sends = false;
	uint32_t partner = find_partner(traffic, &sends);

	if (partner != HD_NONE)
		pass(traffic, partner, sends, 1, 1);
	own[1] = !measure_clock_start(&traffic->clock, traffic->world, &start);
	if (partner != HD_NONE)
		pass(traffic, partner, sends, plan->packets, (int)plan->bytes);
	if (partner != HD_NONE && !sends)
		own[0] = measure_clock_now(&traffic->clock) - start;
	MPI_Gather(own, 2, MPI_DOUBLE, traffic->times, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* Bytes a second of pair number `index`, in the first rank. */
static double bandwidth_of(const struct traffic *traffic, uint32_t index)
{
	double seconds = traffic->times[2 * traffic->flows[index].destination];
	double bytes = (double)traffic->plan->packets * traffic->plan->bytes;

	return bytes / (seconds > 1e-9 ? seconds : 1e-9);
}

static int draw(struct traffic *traffic, uint64_t index, struct hd_error *err)
{
	return hd_pattern_draw(traffic->pattern, &traffic->ranks, HD_MAP_IDENTITY,
			       traffic->plan->seed, index, 0, traffic->flows, &traffic->pairs, err);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/* The median of some runs, one after the other, of pairs of a pattern that is not measured later. */
static int measure_alone(struct traffic *traffic, struct hd_error *err)
{
	double alone[ALONE_RUNS] = {0};
	struct hd_flow *all = traffic->flows;
	int rc = draw(traffic, traffic->plan->patterns, err);

	if (rc)
		return rc;
	uint32_t pairs = traffic->pairs < ALONE_RUNS ? traffic->pairs : ALONE_RUNS;
	traffic->pairs = 1;
	for (uint32_t i = 0; i < ALONE_RUNS; i++) {
		traffic->flows = &all[i % pairs];
		send_flows(traffic);
		if (!traffic->world->rank)
			alone[i] = bandwidth_of(traffic, 0);
	}
	traffic->flows = all;
	if (traffic->world->rank)
		return 0;
	qsort(alone, ALONE_RUNS, sizeof(*alone), compare_doubles);
	traffic->result->full = (alone[ALONE_RUNS / 2 - 1] + alone[ALONE_RUNS / 2]) / 2;
	traffic->result->alone = pairs;
	traffic->result->alone_least = alone[0];
	traffic->result->alone_most = alone[ALONE_RUNS - 1];
	return 0;
}

static int allocate(struct traffic *traffic, struct hd_error *err)
{
	const struct measure_plan *plan = traffic->plan;
	uint32_t ranks = (uint32_t)traffic->world->size;
	struct measure_result *result = traffic->result;
	struct hd_arena *arena = &traffic->arena;

	traffic->ranks.count = ranks;
	traffic->ranks.adapters = 1;
	traffic->ranks.host = hd_arena_alloc(arena, ranks, sizeof(uint32_t));
	traffic->flows = hd_arena_alloc(arena, ranks, sizeof(*traffic->flows));
	traffic->packet = hd_arena_alloc(arena, plan->bytes, 1);
	traffic->times = hd_arena_alloc(arena, 2 * (size_t)ranks, sizeof(double));
	if (!traffic->world->rank) {
		result->counts = calloc(plan->bins, sizeof(*result->counts));
		result->means = calloc(plan->patterns, sizeof(*result->means));
		if (!result->counts || !result->means)
			return hd_error_no_memory(err);
	}
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t rank = 0; rank < ranks; rank++)
		traffic->ranks.host[rank] = rank;
	return hd_pattern_new(hd_pattern_find("bisect"), NULL, &traffic->ranks, &traffic->pattern,
			      err);
}

static void set_clocks(struct traffic *traffic)
{
	measure_clock_set(&traffic->clock, traffic->world);
	if (traffic->clock.error > traffic->result->clock_error)
		traffic->result->clock_error = traffic->clock.error;
}

/* Ranks that run out of memory go on together, so that nobody waits for them. */
static int agree(int rc, struct hd_error *err)
{
	if (!measure_world_agree(rc != 0))
		return 0;
	return rc ? rc : hd_error_set(err, -ENOMEM, "another rank has not enough memory");
}

static int run_patterns(struct traffic *traffic, void (*progress)(void *context, uint64_t done),
			void *context, struct hd_error *err)
{
	const struct measure_plan *plan = traffic->plan;
	int rc = 0;

	for (uint64_t i = 0; !rc && i < plan->patterns; i++) {
		if (i && i % CLOCK_EVERY == 0)
			set_clocks(traffic);
		rc = agree(draw(traffic, i, err), err);
		if (rc)
			return rc;
		send_flows(traffic);
		if (traffic->world->rank)
			continue;
		struct measure_result *result = traffic->result;
		double sum = 0;
		for (uint32_t k = 0; k < traffic->pairs; k++) {
			double bandwidth = bandwidth_of(traffic, k),
			       share = bandwidth / result->full;
			uint32_t bins = traffic->plan->bins;
			double bin = share * bins;
			result->counts[bin < bins ? (uint32_t)bin : bins - 1]++;
			result->least =
			    !result->pairs || bandwidth < result->least ? bandwidth : result->least;
			result->most = bandwidth > result->most ? bandwidth : result->most;
			result->pairs++;
			sum += share;
		}
		for (int rank = 0; rank < traffic->world->size; rank++)
			result->late += traffic->times[2 * rank + 1] > 0;
		result->means[i] = sum / traffic->pairs;
		progress(context, i + 1);
	}
	return rc;
}

int measure_traffic_run(const struct measure_world *world, const struct measure_plan *plan,
			void (*progress)(void *context, uint64_t done), void *context,
			struct measure_result *result, struct hd_error *err)
{
	struct traffic traffic = {.world = world, .plan = plan, .result = result};

	*result = (struct measure_result){.full = plan->full};
	int rc = agree(allocate(&traffic, err), err);
	if (!rc) {
		set_clocks(&traffic);
		if (!(plan->full > 0))
			rc = agree(measure_alone(&traffic, err), err);
	}
	if (!rc)
		rc = run_patterns(&traffic, progress, context, err);
	if (!rc && !world->rank) {
		double sum = 0, squares = 0;
		for (uint64_t i = 0; i < plan->patterns; i++)
			sum += result->means[i];
		result->mean = sum / (double)plan->patterns;
		for (uint64_t i = 0; i < plan->patterns; i++) {
			double away = result->means[i] - result->mean;
			squares += away * away;
		}
		if (plan->patterns > 1)
			result->half_width =
			    CONFIDENCE *
			    sqrt(squares / (double)(plan->patterns - 1) / (double)plan->patterns);
	}
	if (rc)
		measure_traffic_free(result);
	hd_pattern_free(traffic.pattern);
	hd_arena_release(&traffic.arena);
	return rc;
}

void measure_traffic_free(struct measure_result *result)
{
	free(result->counts);
	free(result->means);
	*result = (struct measure_result){.counts = NULL};
}

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

/* The part of the time of the fastest pair that an error of the clocks may be. */
#define CLOCKS_TOO_BAD 0.02

int measure_report_print(const struct measure_view *view)
{
	uint64_t *predicted = predicted_counts(view);

	if (!predicted)
		return -ENOMEM;
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
	double bytes = (double)view->plan->packets * view->plan->bytes;
	printf("clocks      within %.1f us", result->clock_error * 1e6);
	if (result->clock_error * result->most > CLOCKS_TOO_BAD * bytes)
		printf(": the packets are too few or too small, the fastest took %.1f us",
		       bytes / result->most * 1e6);
	printf("\n");
	printf("\nmeasured    %.4f +- %.4f (99%%)  mean share of full bandwidth of %" PRIu64
	       " pairs\n",
	       result->mean, result->half_width, result->pairs);
	printf("            a pair had %.1f to %.1f MiB/s\n", result->least / MIB,
	       result->most / MIB);
	if (result->late)
		printf("            late starts of ranks: %" PRIu64 "; other work disturbs them\n",
		       result->late);
	if (view->prediction) {
		const struct hd_congestion_report *report = view->prediction->report;
		printf("predicted   %.4f +- %.4f (99%%)  mean of 1/pi of the same pairs: %s, %s\n",
		       report->mean, report->half_width, view->fabric_path, view->tables_name);
		if (report->broken)
			printf("            without %" PRIu64
			       " flows that do not arrive by these tables\n",
			       report->broken);
		printf("difference  %+.4f  measured - predicted; correlation of bisections %.3f\n",
		       result->mean - report->mean, correlation(view));
	}
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
	free(predicted);
	return 0;
}

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

json_t *measure_report_json(const struct measure_view *view)
{
	const struct measure_plan *plan = view->plan;
	uint64_t *predicted = predicted_counts(view);

	if (!predicted)
		return NULL;
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
	json_t *all = json_pack(
	    "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "ranks", (json_int_t)view->ranks,
	    "hosts", (json_int_t)view->hosts, "seed", (json_int_t)plan->seed, "patterns",
	    (json_int_t)plan->patterns, "packets", (json_int_t)plan->packets, "packet_bytes",
	    (json_int_t)plan->bytes, "bins", (json_int_t)plan->bins, "full",
	    full_json(view->result), "measured", measured_json(view->result), "histogram", list);
	if (view->prediction)
		all = json_value_set(all, "predicted", predicted_json(view));
	free(predicted);
	return all;
}
