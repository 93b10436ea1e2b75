/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "measure_traffic.h"
#include "measure_clock.h"

#include <errno.h>
#include <heddle/analysis.h>
#include <heddle/base/arena.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

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

/* ---- one pattern ---- */

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

/* ---- full bandwidth ---- */

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

/* ---- figures, in the first rank ---- */

static void note_pattern(struct traffic *traffic, uint64_t index)
{
	struct measure_result *result = traffic->result;
	double sum = 0;

	for (uint32_t i = 0; i < traffic->pairs; i++) {
		double bandwidth = bandwidth_of(traffic, i), share = bandwidth / result->full;
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
	result->means[index] = sum / traffic->pairs;
}

static void sum_up(struct measure_result *result, uint64_t patterns)
{
	double sum = 0, squares = 0;

	for (uint64_t i = 0; i < patterns; i++)
		sum += result->means[i];
	result->mean = sum / (double)patterns;
	for (uint64_t i = 0; i < patterns; i++) {
		double away = result->means[i] - result->mean;
		squares += away * away;
	}
	if (patterns > 1)
		result->half_width =
		    CONFIDENCE * sqrt(squares / (double)(patterns - 1) / (double)patterns);
}

/* ---- all patterns ---- */

static int allocate(struct traffic *traffic, struct hd_error *err)
{
	const struct measure_plan *plan = traffic->plan;
	uint32_t ranks = (uint32_t)traffic->world->size;
	struct measure_result *result = traffic->result;
	struct hd_arena *arena = &traffic->arena;

	traffic->ranks.count = ranks;
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
		note_pattern(traffic, i);
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
	if (!rc && !world->rank)
		sum_up(result, plan->patterns);
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
