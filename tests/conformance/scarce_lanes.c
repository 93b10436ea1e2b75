/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What engines must do with few virtual lanes, on random fabrics that lose one cable after another
 * while tables are in place:
 *
 * - tables are clean on no more lanes than are available;
 * - they come out unchanged, service levels too, when they are given as previous ones;
 * - with tables in place an engine refuses nothing that it would route afresh.
 */
#include "sample.h"
#include "variants.h"

#include <errno.h>
#include <heddle/engines.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CUTS 3

static const char *const spreads[] = {"auto", "needed", "all"};

struct tally {
	unsigned routed, refused, shared, failed;
};

struct trial {
	uint64_t number, random;
	const struct sample *sample;
	const struct hd_engine *engine;
	struct hd_options *options;
	unsigned lanes;
	struct tally *tally;
	bool shared; /* the last routing logged that LIDs share paths */
};

static bool fail(const struct trial *trial, const char *format, ...) HD_PRINTF(2, 3);

static bool fail(const struct trial *trial, const char *format, ...)
{
	va_list arguments;

	trial->tally->failed++;
	printf("FAILED number %" PRIu64 ": %s %s: %s on %u lanes, spread=%s: ", trial->number,
	       trial->sample->kind, trial->sample->recipe, trial->engine->name, trial->lanes,
	       hd_options_get(trial->options, "spread")->text);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	return false;
}

static void look_for_sharing(void *context, enum hd_log_level level, const char *line)
{
	struct trial *trial = context;

	(void)level;
	trial->shared |= strstr(line, "share paths") != NULL;
}

/* Returns NULL if the engine refuses for lack of lanes, or after printing another failure. */
static struct hd_routes *route(struct trial *trial, const struct hd_fabric *fabric,
			       const struct hd_routes *previous, const char *when)
{
	struct hd_log log = {look_for_sharing, trial};
	struct hd_route_request request = {.fabric = fabric,
					   .options = trial->options,
					   .previous = previous,
					   .baseline = previous,
					   .lanes = trial->lanes,
					   .log = &log};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	int rc;

	trial->shared = false;
	rc = hd_engine_route(trial->engine, &request, &routes, &err);
	if (rc && rc != -ENOSPC)
		fail(trial, "%s: error %d: %s", when, rc, err.text);
	return routes;
}

static bool is_clean(const struct trial *trial, const struct hd_fabric *fabric,
		     const struct hd_routes *routes, const char *when)
{
	struct hd_check_report *report = NULL;
	struct hd_error err;

	if (hd_check(fabric, routes, NULL, &report, &err))
		return fail(trial, "%s: checker: %s", when, err.text);
	bool good = !report->credit_loops && !report->loop && !report->dead_end;
	unsigned lanes = report->lanes;
	hd_check_report_free(report);
	if (!good)
		return fail(trial, "%s: loops, dead ends or credit loops", when);
	return lanes <= trial->lanes || fail(trial, "%s: %u lanes", when, lanes);
}

static bool stays(struct trial *trial, const struct hd_fabric *fabric,
		  const struct hd_routes *routes)
{
	struct hd_routes *again = route(trial, fabric, routes, "its own tables as previous tables");
	bool same = again && hd_routes_equal(routes, again);

	hd_routes_free(again);
	return same || fail(trial, "its own tables as previous tables come out changed");
}

/* Removes cables. False at the end of this trial. */
static bool cut(struct trial *trial, struct hd_fabric **fabric, struct hd_routes **routes)
{
	struct hd_fabric *after = NULL;
	struct hd_routes *previous = NULL, *kept, *fresh;
	struct hd_error err;
	double percent = 1 + (double)hd_random_below(&trial->random, 8);

	if (hd_fabric_remove_links(*fabric, percent, trial->random, &after, &err) ||
	    hd_routes_rebase(*fabric, *routes, after, &previous, &err))
		abort();
	kept = route(trial, after, previous, "cables lost");
	fresh = kept ? NULL : route(trial, after, NULL, "afresh");
	if (fresh)
		fail(trial, "refused with tables in place, routed afresh");
	hd_routes_free(fresh);
	hd_routes_free(previous);
	hd_routes_free(*routes);
	hd_fabric_free(*fabric);
	*fabric = after;
	*routes = kept;
	return kept && is_clean(trial, after, kept, "cables lost");
}

static void run(struct trial *trial)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err;

	if (variants_copy(trial->sample->fabric, &fabric, &err))
		abort();
	struct hd_routes *routes = route(trial, fabric, NULL, "afresh");
	trial->tally->routed += routes != NULL;
	trial->tally->refused += routes == NULL;
	trial->tally->shared += routes && trial->shared;
	if (routes && is_clean(trial, fabric, routes, "afresh") && stays(trial, fabric, routes))
		for (unsigned i = 0; i < CUTS && cut(trial, &fabric, &routes); i++)
			;
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void run_engine(const struct sample *sample, uint64_t number, const struct hd_engine *engine,
		       unsigned index, struct tally *tally)
{
	struct trial trial = {.number = number,
			      .random = number * UINT64_C(0x9E3779B97F4A7C15) + index,
			      .sample = sample,
			      .engine = engine,
			      .tally = tally};
	struct hd_error err;

	trial.options = hd_engine_options(trial.engine);
	trial.lanes = 1 + (unsigned)hd_random_below(&trial.random, 4);
	if (!trial.options || hd_options_set(trial.options, "spread",
					     spreads[hd_random_below(&trial.random, 3)], &err))
		abort();
	run(&trial);
	hd_options_free(trial.options);
}

#define MANY 200 /* fabrics, of which some leave too few lanes for any engine */

/* Of many fabrics, an engine that needs several lanes must have shared paths for lack of lanes at
 * least once. If it never does, the trials are too easy to show anything. */
static unsigned summarize(const struct hd_engine *engine, const struct tally *tally, uint64_t count)
{
	bool too_easy = count >= MANY && !engine->one_lane && !tally->shared;

	printf("%-9s routed %u (%u with shared paths), refused for lack of lanes %u, "
	       "demands not met %u%s\n",
	       engine->name, tally->routed, tally->shared, tally->refused, tally->failed,
	       too_easy ? "; no LIDs shared paths" : "");
	return tally->failed + too_easy;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 600;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	unsigned engine_count, failed = 0;
	const struct hd_engine *const *engines = hd_engines(&engine_count);
	struct tally *tallies = calloc(engine_count, sizeof(*tallies));

	for (uint64_t number = first; tallies && number < first + count; number++) {
		struct sample sample;
		struct hd_error err;

		if (sample_draw(number, &sample, &err)) {
			printf("FAILED number %" PRIu64 ": %s\n", number, err.text);
			return 1;
		}
		for (unsigned i = 0; i < engine_count; i++)
			if (!engines[i]->needs_tree && !engines[i]->needs_grid)
				run_engine(&sample, number, engines[i], i, &tallies[i]);
		sample_release(&sample);
	}
	for (unsigned i = 0; tallies && i < engine_count; i++)
		if (!engines[i]->needs_tree && !engines[i]->needs_grid)
			failed += summarize(engines[i], &tallies[i], count);
	free(tallies);
	return failed || !tallies;
}
