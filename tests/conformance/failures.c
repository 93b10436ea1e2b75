/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Damaged fabrics of every kind, with 1, 2, 4 and 8 virtual lanes, while cables and switches fail and come back.
 *
 *	failures [COUNT [FIRST [ENGINE...]]]
 *
 * Fabric number N is a function of N: of the kind N modulo their number, and every third round of kinds with
 * aggregation nodes. The last kind are tori and meshes with long rings. Cables and switches are missing from the
 * beginning. Each engine routes it afresh; then a cable or a switch is lost twice, with tables in place; then all of
 * that comes back. After each step, by a walk of all paths that shares nothing with the engines (oracle_channels.h):
 *
 * - every switch reaches every LID to which cables lead. Entries of aggregation nodes may be missing only where the
 *   engine needs several lanes;
 * - no path goes round or ends elsewhere, and no credit loop is among the channels of all lanes, by the SL2VL tables
 *   of both ports;
 * - no more lanes are in use than there are;
 * - an engine refuses only for want of lanes, or fabrics that are no trees or grids if it needs these, and with tables
 *   in place nothing that it routes afresh.
 *
 * Whether the next sweep of the same fabric changes something is counted, and said. Prints what fails, and a summary.
 * Exit status 1 if something fails.
 */
#include "facts.h"
#include "generated.h"
#include "oracle_channels.h"
#include "sample.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 4u
#define PLAIN_KINDS 9u /* before SAMPLE_DIRECT */
#define DIRECT_KINDS 4u
#define SAMPLE_KINDS (PLAIN_KINDS + DIRECT_KINDS)
#define KINDS (SAMPLE_KINDS + 1) /* the last one: long rings */
#define ENGINES_MOST 16u

static const char *const usual[] = {"auto", "spf", "turns", "rings", "updown", "dmodk"};
static const unsigned lane_counts[] = {1, 2, 4, 8};

enum { USUAL = sizeof(usual) / sizeof(usual[0]), LANES = sizeof(lane_counts) / sizeof(unsigned) };

static const char *const when[STEPS] = {"afresh", "one loss", "two losses", "all back"};

struct tally {
	unsigned routed, refused, maps, left_out, restless, failed;
};

struct trial {
	uint64_t number;
	const char *kind, *recipe;
	const struct hd_engine *engine;
	unsigned lanes, step;
	struct hd_fabric *fabric[STEPS]; /* the last one is the first one */
	uint32_t *component[STEPS];
	struct tally *tally;
};

static bool fail(const struct trial *trial, const char *format, ...) HD_PRINTF(2, 3);

static bool fail(const struct trial *trial, const char *format, ...)
{
	va_list arguments;

	trial->tally->failed++;
	printf("FAILED number %" PRIu64 ": %s %s: %s on %u lanes, %s: ", trial->number, trial->kind,
	       trial->recipe, trial->engine->name, trial->lanes, when[trial->step]);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	return false;
}

/* ---- fabrics ---- */

/* Cables with their switches, or switches with all that is on them, at random. NULL: nothing would be left. */
static struct hd_fabric *without(const struct hd_fabric *fabric, unsigned cables, unsigned switches,
				 uint64_t *random)
{
	struct hd_fabric_change lost[16];
	struct hd_fabric *out = NULL;
	uint32_t count = 0;

	for (; cables && fabric->isl_count; cables--) {
		const uint32_t link = (uint32_t)hd_random_below(random, fabric->isl_count);
		lost[count++] = (struct hd_fabric_change){
		    true, true,
		    hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link])};
	}
	for (; switches && fabric->switch_count > 2; switches--)
		lost[count++] = (struct hd_fabric_change){
		    true, false, (uint32_t)hd_random_below(random, fabric->switch_count)};
	return hd_fabric_without(fabric, lost, count, HD_NONE, &out, NULL) ? NULL : out;
}

static bool draw_steps(struct trial *trial, const struct hd_fabric *drawn)
{
	uint64_t random = trial->number * UINT64_C(0x9E3779B97F4A7C15) + 28;
	const unsigned cables = (unsigned)hd_random_below(&random, 6);
	const unsigned switches = (unsigned)hd_random_below(&random, 3);

	trial->fabric[0] = without(drawn, cables, switches, &random);
	for (unsigned step = 1; step + 1 < STEPS && trial->fabric[step - 1]; step++) {
		const bool whole_switch = !hd_random_below(&random, 3);
		trial->fabric[step] =
		    without(trial->fabric[step - 1], !whole_switch, whole_switch, &random);
	}
	trial->fabric[STEPS - 1] = trial->fabric[0];
	for (unsigned step = 0; step < STEPS && trial->fabric[step]; step++)
		trial->component[step] = facts_components(trial->fabric[step]);
	return trial->fabric[0] && trial->component[STEPS - 1];
}

static void free_steps(struct trial *trial)
{
	for (unsigned step = 0; step < STEPS; step++)
		free(trial->component[step]);
	for (unsigned step = 0; step + 1 < STEPS; step++)
		hd_fabric_free(trial->fabric[step]);
}

/* ---- tables ---- */

static int route(const struct trial *trial, const struct hd_routes *previous,
		 const struct hd_routes *baseline, struct hd_routes **out, struct hd_error *err)
{
	const struct hd_route_request request = {.fabric = trial->fabric[trial->step],
						 .previous = previous,
						 .baseline = baseline,
						 .lanes = trial->lanes};

	*out = NULL;
	return hd_engine_route(trial->engine, &request, out, err);
}

static bool may_refuse(const struct trial *trial, int rc)
{
	const struct hd_engine *engine = trial->engine;

	if (rc == -ENOTSUP)
		return engine->needs_tree || engine->needs_grid;
	return rc == -ENOSPC && !engine->one_lane && !engine->own_lanes && !engine->delegates;
}

static void judge(const struct trial *trial, const struct hd_routes *routes)
{
	const struct oracle_channels found = oracle_channels_check(
	    trial->fabric[trial->step], routes, trial->component[trial->step]);
	const bool may_lack = !trial->engine->one_lane && trial->fabric[0]->aside_count;

	trial->tally->maps += routes->maps != NULL;
	trial->tally->left_out += found.missing > 0;
	if (found.missing_hosts || (found.missing && !may_lack))
		fail(trial, "%" PRIu64 " entries are missing, %" PRIu64 " of them for hosts",
		     found.missing, found.missing_hosts);
	if (found.astray)
		fail(trial, "%" PRIu64 " paths go astray", found.astray);
	if (found.loop)
		fail(trial, "a credit loop; %u lanes", (unsigned)__builtin_popcount(found.lanes));
	if (found.lanes >> trial->lanes)
		fail(trial, "lanes 0x%x are in use", found.lanes);
}

/* The tables of one fabric as tables of another one. */
static struct hd_routes *carried(const struct trial *trial, unsigned from, unsigned to,
				 const struct hd_routes *routes)
{
	struct hd_routes *out = NULL;

	if (hd_routes_rebase(trial->fabric[from], routes, trial->fabric[to], &out, NULL))
		abort();
	return out;
}

/* It is worth a look, but does no harm. */
static void restless(const struct trial *trial, uint64_t changes)
{
	trial->tally->restless++;
	printf("number %" PRIu64 ": %s on %u lanes, %s: the next sweep changes %" PRIu64
	       " entries\n",
	       trial->number, trial->engine->name, trial->lanes, when[trial->step], changes);
}

/* The next sweep finds the same fabric. */
static void sweep_again(const struct trial *trial, const struct hd_routes *routes,
			const struct hd_routes *baseline)
{
	struct hd_routes *again;
	struct hd_error err = {""};
	int rc = route(trial, routes, baseline, &again, &err);

	if (rc)
		fail(trial, "refuses with its own tables in place: error %d: %s", rc, err.text);
	else if (!hd_routes_equal(routes, again))
		restless(trial, hd_routes_count_changes(routes, again));
	hd_routes_free(again);
}

/* A step with tables in place. */
static bool sweep(const struct trial *trial, const struct hd_routes *first,
		  struct hd_routes **routes)
{
	struct hd_routes *previous = carried(trial, trial->step - 1, trial->step, *routes);
	struct hd_routes *baseline = carried(trial, 0, trial->step, first), *after, *fresh = NULL;
	struct hd_error err = {""};
	int rc = route(trial, previous, baseline, &after, &err);

	if (!rc) {
		trial->tally->routed++;
		judge(trial, after);
		sweep_again(trial, after, baseline);
	} else if (!may_refuse(trial, rc)) {
		fail(trial, "error %d: %s", rc, err.text);
	} else if (!route(trial, NULL, NULL, &fresh, &err)) {
		fail(trial, "refused with tables in place, routed afresh");
	}
	trial->tally->refused += rc != 0;
	hd_routes_free(fresh);
	hd_routes_free(previous);
	hd_routes_free(baseline);
	hd_routes_free(*routes);
	*routes = after;
	return !rc;
}

static void run(struct trial *trial)
{
	struct hd_routes *first, *routes;
	struct hd_error err = {""};

	trial->step = 0;
	int rc = route(trial, NULL, NULL, &first, &err);
	if (rc && !may_refuse(trial, rc))
		fail(trial, "error %d: %s", rc, err.text);
	trial->tally->refused += rc != 0;
	if (rc)
		return;
	trial->tally->routed++;
	judge(trial, first);
	routes = hd_routes_copy(first);
	for (trial->step = 1; trial->step < STEPS && trial->fabric[trial->step]; trial->step++)
		if (!sweep(trial, first, &routes))
			break;
	hd_routes_free(routes);
	hd_routes_free(first);
}

/* ---- all of it ---- */

static uint64_t sample_number(uint64_t round, uint64_t kind)
{
	const uint64_t plain = kind < PLAIN_KINDS
				   ? round * PLAIN_KINDS + kind
				   : SAMPLE_DIRECT + round * DIRECT_KINDS + kind - PLAIN_KINDS;

	return plain + (round % 3 == 2 ? SAMPLE_AGGREGATION : 0);
}

static const char *kind_name(unsigned kind)
{
	return kind < SAMPLE_KINDS ? sample_kind(kind) : "long rings";
}

/* A torus or a mesh of two or three dimensions of 4 to 9 switches. */
static int draw_rings(uint64_t round, struct sample *sample, struct hd_error *err)
{
	uint64_t random = round * UINT64_C(0x9E3779B97F4A7C15) + 7;
	const uint32_t hosts = 1 + (uint32_t)(round % 2);
	uint32_t size[3];
	struct hd_fabric *plain;

	for (unsigned dim = 0; dim < 3; dim++)
		size[dim] = 4 + (uint32_t)hd_random_below(&random, dim ? 6 : 3);
	sample->kind = hd_random_below(&random, 4) ? "torus" : "mesh";
	if (size[1] * size[2] <= 24)
		snprintf(sample->recipe, sizeof(sample->recipe), "dims=%u,%u,%u hosts=%u", size[0],
			 size[1], size[2], hosts);
	else
		snprintf(sample->recipe, sizeof(sample->recipe), "dims=%u,%u hosts=%u", size[1],
			 size[2], hosts);
	int rc = generated_fabric(sample->kind, sample->recipe, &sample->fabric, err);
	if (rc || round % 3 != 2)
		return rc;
	plain = sample->fabric;
	rc = hd_fabric_add_aggregation(plain, &sample->fabric, err);
	hd_fabric_free(plain);
	return rc;
}

static unsigned run_number(uint64_t number, const char *const *engines, unsigned engine_count,
			   struct tally tallies[ENGINES_MOST][LANES])
{
	const uint64_t round = number / KINDS, kind = number % KINDS;
	struct trial trial = {.number = number};
	struct sample sample = {0};
	struct hd_error err = {""};

	if (kind < SAMPLE_KINDS ? sample_draw(sample_number(round, kind), &sample, &err)
				: draw_rings(round, &sample, &err)) {
		printf("FAILED number %" PRIu64 ": %s\n", number, err.text);
		return 0;
	}
	trial.kind = sample.kind;
	trial.recipe = sample.recipe;
	const bool drawn = draw_steps(&trial, sample.fabric);
	for (unsigned i = 0; drawn && i < engine_count; i++)
		for (unsigned lanes = 0; lanes < LANES; lanes++) {
			trial.engine = hd_engine_find(engines[i]);
			trial.lanes = lane_counts[lanes];
			trial.tally = &tallies[i][lanes];
			run(&trial);
		}
	free_steps(&trial);
	sample_release(&sample);
	return drawn;
}

static unsigned summarize(const char *engine, const struct tally *tallies)
{
	unsigned failed = 0;

	for (unsigned i = 0; i < LANES; i++) {
		const struct tally *tally = &tallies[i];
		if (!tally->routed && !tally->failed)
			continue;
		printf("    %-7s %u lanes: routed %5u, refused %4u, lanes by ports %4u, with "
		       "missing entries "
		       "of aggregation nodes %3u, restless %2u, failed %u\n",
		       engine, lane_counts[i], tally->routed, tally->refused, tally->maps,
		       tally->left_out, tally->restless, tally->failed);
		failed += tally->failed;
	}
	return failed;
}

int main(int argc, char **argv)
{
	static struct tally tallies[KINDS][ENGINES_MOST][LANES];
	const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000;
	const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	const char *const *engines = argc > 3 ? (const char *const *)argv + 3 : usual;
	const unsigned engine_count = argc > 3 ? (unsigned)argc - 3 : USUAL;
	unsigned drawn[KINDS] = {0}, failed = 0, all = 0;

	for (unsigned i = 0; i < engine_count; i++)
		if (engine_count > ENGINES_MOST || !hd_engine_find(engines[i]))
			return 2;
	for (uint64_t number = first; number < first + count; number++)
		drawn[number % KINDS] +=
		    run_number(number, engines, engine_count, tallies[number % KINDS]);
	for (unsigned kind = 0; kind < KINDS; kind++) {
		if (drawn[kind])
			printf("%s: %u fabrics\n", kind_name(kind), drawn[kind]);
		all += drawn[kind];
		for (unsigned i = 0; drawn[kind] && i < engine_count; i++)
			failed += summarize(engines[i], tallies[kind][i]);
	}
	printf("%u of %" PRIu64 " fabrics, %u demands not met\n", all, count, failed);
	return failed || all * 2 < count;
}
