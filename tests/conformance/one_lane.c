/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables in place on fabrics with aggregation nodes, with one and two virtual lanes.
 *
 *	one_lane [COUNT [FIRST]]
 *
 * Cables of random fabrics fail and come back one after the other. Each time:
 *
 * - the tables are clean, but for pairs without an entry on two lanes;
 * - at switches with hosts, entries for hosts and switches are those of a twin, the same fabric
 *   without aggregation nodes (engines for trees; updown repairs or routes afresh by the number of all
 *   entries);
 * - whole paths stay: no entry of an aggregation node changes though its path is not cut, does not go
 *   back to the first tables, does not become shorter, and could have stayed: with the old path in the
 *   new tables these are clean. Sweeps in which auto takes another engine do not count, but are few;
 * - engines for one lane give up no tables;
 * - the next sweep changes nothing, and says nothing of aggregation nodes.
 *
 * Paths are walked from cable to cable here; nothing is shared with the engines. Prints what fails,
 * and a summary. Exit status 1 if something fails.
 */
#include "facts.h"
#include "generated.h"
#include "oracle_walk.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS 5u
#define DOWN_MOST 3u
#define LANES_MOST 2u

struct kind {
	const char *generator, *settings;
	unsigned damage; /* at most so many links in a hundred are missing from the beginning */
};

static const struct kind kinds[] = {
    {"xgft", "children=4,4,4 parents=1,4,4", 30},
    {"xgft", "children=3,6 parents=1,4", 30},
    {"xgft", "children=2,3,2,2 parents=1,2,2,2", 20},
    {"directors", "leaves=12 hosts=3 uplinks=2 directors=2 outside=6 line-chips=4 spine-chips=3",
     25},
    {"torus", "dims=4,4 hosts=2", 15},
    {"torus", "dims=3,3,3 hosts=1", 15},
    {"dragonfly-plus", "islands=4 leaves=3 spines=3 hosts=2 global-links=3", 15},
    {"irregular", "switches=16 radix=8 hosts=2 seed=5", 15},
    {"irregular", "switches=24 radix=7 hosts=1 seed=9", 15},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *const engines[] = {"dmodk", "updown", "spf", "auto"};

#define ENGINES (sizeof(engines) / sizeof(engines[0]))

struct tally {
	unsigned sequences, left_out; /* left_out: sequences that begin with missing entries */
	unsigned refused, sweeps, afresh, restless, faults;
	unsigned switched; /* sweeps in which auto took another engine */
	uint64_t changed; /* entries */
	uint64_t swayed; /* entries for hosts that are not those of the twin */
	/* though their path was whole: for hosts and switches, for aggregation nodes */
	uint64_t whole, aside;
	uint64_t free; /* of those for aggregation nodes, paths that could have stayed */
	uint64_t missing; /* after the sweeps */
};

struct trial {
	uint64_t number, random;
	const struct kind *kind;
	const struct hd_fabric *whole, *whole_twin;
	unsigned percent; /* links that are missing from the beginning */
	const struct hd_engine *engine;
	unsigned lanes;
	struct tally *tally;
	struct hd_fabric *fabric, *twin_fabric;
	struct hd_routes *first, *routes, *first_twin, *twin;
	uint32_t down[DOWN_MOST], down_count;
	unsigned warnings, afresh; /* lines of the last routing */
	bool *is_aside; /* [lid_count] */
};

static void fail(const struct trial *trial, const char *format, ...) HD_PRINTF(2, 3);

static void fail(const struct trial *trial, const char *format, ...)
{
	va_list arguments;

	trial->tally->faults++;
	printf("FAILED number %" PRIu64 ": %s %s --remove-links %u%% --seed %" PRIu64
	       " --aggregation-nodes: %s on %u lanes: ",
	       trial->number, trial->kind->generator, trial->kind->settings, trial->percent,
	       trial->number, trial->engine->name, trial->lanes);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
}

static void listen(void *context, enum hd_log_level level, const char *line)
{
	struct trial *trial = context;

	(void)level;
	trial->warnings += strstr(line, "aggregation nodes") != NULL;
	trial->afresh += strstr(line, "routing afresh") != NULL;
}

/* NULL: refused. */
static struct hd_routes *route(struct trial *trial, const struct hd_fabric *fabric,
			       const struct hd_routes *previous, const struct hd_routes *baseline)
{
	const struct hd_log log = {listen, trial};
	const struct hd_route_request request = {.fabric = fabric,
						 .previous = previous,
						 .baseline = baseline,
						 .lanes = trial->lanes,
						 .log = &log};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	trial->warnings = trial->afresh = 0;
	int rc = hd_engine_route(trial->engine, &request, &routes, &err);
	if (rc && rc != -ENOSPC && rc != -ENOTSUP)
		fail(trial, "error %d: %s", rc, err.text);
	return routes;
}

/* ---- entries that changed ---- */

/* Whether the entry's path is whole, and the new one is neither shorter nor that of the first tables. */
static bool is_moved(const struct trial *trial, const struct hd_routes *after, uint32_t sw,
		     uint32_t lid)
{
	uint32_t hops = oracle_walk_hops(trial->fabric, trial->routes, sw, lid);

	return hops && oracle_walk_hops(trial->fabric, after, sw, lid) >= hops &&
	       hd_routes_port(after, sw, lid) != hd_routes_port(trial->first, sw, lid);
}

/* Gives `tables` the path from a switch to a LID that was in place, with its lane. */
static void put_back(const struct trial *trial, struct hd_routes *tables, uint32_t sw, uint32_t lid)
{
	const struct hd_fabric *fabric = trial->fabric;
	uint32_t owner = fabric->lid_owner[lid];

	if (tables->sl)
		tables->sl[(size_t)sw * tables->stride + lid] =
		    trial->routes->sl ? trial->routes->sl[(size_t)sw * tables->stride + lid] : 0;
	for (uint32_t at = HD_NONE; at != owner && (at == HD_NONE || fabric->peer[at] != owner);) {
		if (at != HD_NONE)
			sw = fabric->port_node[fabric->peer[at]];
		uint8_t port = hd_routes_port(trial->routes, sw, lid);
		hd_routes_row(tables, sw)[lid] = port;
		at = hd_port_index(fabric, sw, port);
	}
}

static bool is_clean(const struct trial *trial, const struct hd_routes *routes, uint64_t *missing)
{
	struct hd_check_report *report = NULL;

	if (hd_check(trial->fabric, routes, NULL, &report, NULL))
		abort();
	bool clean = !report->credit_loops && !report->loop && !report->dead_end &&
		     report->lanes <= trial->lanes;
	*missing = report->no_route;
	hd_check_report_free(report);
	return clean;
}

/* Whether the path could have stayed: the new tables stay clean, and lack nothing more, with it. */
static bool is_needless(const struct trial *trial, const struct hd_routes *after, uint32_t sw,
			uint32_t lid)
{
	struct hd_routes *tried = hd_routes_copy(after);
	uint64_t before, missing;

	is_clean(trial, after, &before);
	put_back(trial, tried, sw, lid);
	bool clean = is_clean(trial, tried, &missing) && missing <= before;
	hd_routes_free(tried);
	return clean;
}

static void count_changes(struct trial *trial, const struct hd_routes *after)
{
	struct tally *tally = trial->tally;
	bool switched = strcmp(after->chosen, trial->routes->chosen) != 0;

	tally->switched += switched;
	for (uint32_t sw = 0; sw < after->switch_count; sw++)
		for (uint32_t lid = 1; lid < after->lid_count; lid++) {
			if (hd_routes_port(after, sw, lid) ==
			    hd_routes_port(trial->routes, sw, lid))
				continue;
			tally->changed++;
			if (switched || !is_moved(trial, after, sw, lid))
				continue;
			tally->whole += !trial->is_aside[lid];
			tally->aside += trial->is_aside[lid];
			tally->free += trial->is_aside[lid] && is_needless(trial, after, sw, lid);
		}
}

static void compare_twin(struct trial *trial)
{
	const struct hd_fabric *fabric = trial->twin_fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			trial->tally->swayed += fabric->host_base[sw] < fabric->host_base[sw + 1] &&
						hd_routes_port(trial->routes, sw, lid) !=
						    hd_routes_port(trial->twin, sw, lid);
}

/* Pairs of a switch and a LID in another component. */
static uint64_t count_apart(const struct hd_fabric *fabric)
{
	uint32_t *component = facts_components(fabric), to;
	uint64_t apart = 0;
	uint8_t port;

	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		if (!hd_fabric_lid_destination(fabric, lid, &to, &port))
			continue;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			apart += component[sw] != component[to];
	}
	free(component);
	return apart;
}

/* Pairs of a switch and an aggregation node or host that are connected and have no entry. */
static uint64_t check(struct trial *trial, const struct hd_routes *routes)
{
	struct hd_check_report *report = NULL;
	struct hd_error err;
	uint64_t missing = 0;

	if (hd_check(trial->fabric, routes, NULL, &report, &err)) {
		fail(trial, "checker: %s", err.text);
		return 0;
	}
	if (report->credit_loops || report->loop || report->dead_end ||
	    report->lanes > trial->lanes)
		fail(trial, "loops, dead ends, credit loops or %u lanes", report->lanes);
	missing = report->no_route;
	hd_check_report_free(report);
	return missing - count_apart(trial->fabric);
}

/* ---- events ---- */

/* The fabric without the cables that are down. Both fabrics have the same switches and ports. */
static struct hd_fabric *damaged(const struct trial *trial, const struct hd_fabric *from)
{
	const struct hd_fabric *whole = trial->whole;
	struct hd_builder *builder = hd_builder_from(from);
	struct hd_fabric *fabric = NULL;

	for (uint32_t i = 0; i < trial->down_count; i++) {
		uint32_t link = trial->down[i];
		hd_builder_unlink(builder, hd_isl_from(whole, link), whole->isl_port[link]);
	}
	if (hd_builder_build(builder, &fabric, NULL))
		abort();
	hd_builder_free(builder);
	return fabric;
}

static void damage(struct trial *trial)
{
	hd_fabric_free(trial->fabric);
	hd_fabric_free(trial->twin_fabric);
	trial->fabric = damaged(trial, trial->whole);
	trial->twin_fabric = damaged(trial, trial->whole_twin);
}

static void next_event(struct trial *trial)
{
	uint32_t *count = &trial->down_count;

	if (*count == DOWN_MOST || (*count && !hd_random_below(&trial->random, 3))) {
		uint32_t back = (uint32_t)hd_random_below(&trial->random, *count);
		trial->down[back] = trial->down[--*count];
	} else {
		trial->down[(*count)++] =
		    (uint32_t)hd_random_below(&trial->random, trial->whole->isl_count);
	}
	damage(trial);
}

static void put_in_place(struct hd_routes **in_place, struct hd_routes *routes)
{
	hd_routes_free(*in_place);
	*in_place = routes;
}

static bool sweep_twin(struct trial *trial)
{
	struct hd_routes *after = route(trial, trial->twin_fabric, trial->twin, trial->first_twin);

	if (after)
		put_in_place(&trial->twin, after);
	return after != NULL;
}

/* The fabric is as it was in the last sweep. */
static bool sweep_again(struct trial *trial)
{
	struct hd_routes *after = route(trial, trial->fabric, trial->routes, trial->first);

	if (!after) {
		fail(trial, "refuses with its own tables in place");
		return false;
	}
	trial->tally->restless += hd_routes_count_changes(trial->routes, after) || trial->warnings;
	put_in_place(&trial->routes, after);
	return !trial->engine->needs_tree || sweep_twin(trial);
}

/* False: the engine refuses the fabric. */
static bool sweep(struct trial *trial)
{
	struct tally *tally = trial->tally;
	bool paired = trial->engine->needs_tree && sweep_twin(trial);
	struct hd_routes *after = route(trial, trial->fabric, trial->routes, trial->first);

	if (!after)
		return false;
	tally->sweeps++;
	tally->afresh += trial->afresh;
	tally->missing += check(trial, after);
	count_changes(trial, after);
	put_in_place(&trial->routes, after);
	if (paired)
		compare_twin(trial);
	return sweep_again(trial);
}

static void run(struct trial *trial)
{
	damage(trial);
	trial->first = route(trial, trial->fabric, NULL, NULL);
	trial->first_twin = route(trial, trial->twin_fabric, NULL, NULL);
	trial->tally->refused += !trial->first || !trial->first_twin;
	if (!trial->first || !trial->first_twin)
		return;
	trial->tally->sequences++;
	trial->tally->left_out += check(trial, trial->first) > 0;
	trial->routes = hd_routes_copy(trial->first);
	trial->twin = hd_routes_copy(trial->first_twin);
	for (unsigned event = 0; event < EVENTS; event++) {
		next_event(trial);
		if (!sweep(trial))
			break;
	}
}

static void release(struct trial *trial)
{
	hd_fabric_free(trial->fabric);
	hd_fabric_free(trial->twin_fabric);
	hd_routes_free(trial->first);
	hd_routes_free(trial->routes);
	hd_routes_free(trial->first_twin);
	hd_routes_free(trial->twin);
	free(trial->is_aside);
}

static void try_engine(const struct trial *made, unsigned index, unsigned lanes,
		       struct tally *tally)
{
	const struct hd_fabric *fabric = made->whole;
	struct trial trial = *made;

	trial.random = made->number * 1000 + index;
	trial.engine = hd_engine_find(engines[index]);
	trial.lanes = lanes;
	trial.tally = tally;
	trial.is_aside = calloc(fabric->lid_count, sizeof(*trial.is_aside));
	for (uint32_t i = 0; i < fabric->aside_count; i++) {
		uint32_t port = fabric->aside_port[i];
		memset(trial.is_aside + fabric->lid[port], 1, hd_port_lid_count(fabric, port));
	}
	run(&trial);
	release(&trial);
}

static void draw(struct trial *trial, struct hd_fabric **twin, struct hd_fabric **fabric)
{
	struct hd_fabric *intact = NULL;

	if (generated_fabric(trial->kind->generator, trial->kind->settings, &intact, NULL) ||
	    hd_fabric_remove_links(intact, trial->percent, trial->number, twin, NULL) ||
	    hd_fabric_add_aggregation(*twin, fabric, NULL))
		abort();
	hd_fabric_free(intact);
	trial->whole = *fabric;
	trial->whole_twin = *twin;
}

static void run_number(uint64_t number, struct tally tallies[ENGINES][LANES_MOST])
{
	struct trial trial = {.number = number, .kind = &kinds[number % KINDS]};
	struct hd_fabric *fabric, *twin;

	trial.percent = (unsigned)(number / KINDS * 5 % (trial.kind->damage + 1));
	draw(&trial, &twin, &fabric);
	for (unsigned i = 0; i < ENGINES; i++)
		for (unsigned lanes = 1; lanes <= LANES_MOST; lanes++)
			try_engine(&trial, i, lanes, &tallies[i][lanes - 1]);
	hd_fabric_free(fabric);
	hd_fabric_free(twin);
}

static void add(struct tally *sum, const struct tally *tally)
{
	sum->sweeps += tally->sweeps;
	sum->restless += tally->restless;
	sum->faults += tally->faults;
	sum->switched += tally->switched;
	sum->changed += tally->changed;
	sum->aside += tally->aside;
	sum->free += tally->free;
}

static void print(const struct kind *kind, const char *engine, unsigned lanes,
		  const struct tally *tally)
{
	if (!tally->sweeps)
		return;
	printf("%-14s %-6s %u lane%s: %3u sequences (%u with missing entries), %u refused, %4u "
	       "sweeps, %u restless, %u afresh, %u with another engine; %6" PRIu64
	       " entries changed, with a whole path %" PRIu64 " and %" PRIu64
	       " for aggregation nodes (%" PRIu64 " could stay), %" PRIu64
	       " unlike the twin, %" PRIu64 " missing\n",
	       kind->generator, engine, lanes, lanes == 1 ? " " : "s", tally->sequences,
	       tally->left_out, tally->refused, tally->sweeps, tally->restless, tally->afresh,
	       tally->switched, tally->changed, tally->whole, tally->aside, tally->free,
	       tally->swayed, tally->missing);
}

/* Returns the number of demands that are not met. */
static unsigned summarize(const struct kind *kind, struct tally tallies[ENGINES][LANES_MOST],
			  struct tally *sum)
{
	unsigned failed = 0;

	for (unsigned i = 0; i < ENGINES; i++)
		for (unsigned lanes = 0; lanes < LANES_MOST; lanes++) {
			const struct tally *tally = &tallies[i][lanes];
			print(kind, engines[i], lanes + 1, tally);
			add(sum, tally);
			failed += !lanes && tally->missing > 0;
			if (hd_engine_find(engines[i])->one_lane)
				failed += tally->afresh > 0 || tally->swayed > 0;
		}
	return failed;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 90;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	static struct tally tallies[KINDS][ENGINES][LANES_MOST];
	struct tally sum = {0};
	unsigned failed = 0;

	for (uint64_t number = first; number < first + count; number++)
		run_number(number, tallies[number % KINDS]);
	for (unsigned kind = 0; kind < KINDS; kind++)
		failed += summarize(&kinds[kind], tallies[kind], &sum);
	printf("%u sweeps, %u restless, %u with another engine; %" PRIu64
	       " entries changed, %" PRIu64
	       " for aggregation nodes though their path was whole (%" PRIu64
	       " could stay); %u faults, %u demands not met\n",
	       sum.sweeps, sum.restless, sum.switched, sum.changed, sum.aside, sum.free, sum.faults,
	       failed);
	const unsigned few = 5; /* for small samples */
	/* On fabrics as small as these, three cables are enough for auto to compare its engines. */
	const unsigned switched_most = few + (unsigned)(sum.sweeps / ENGINES / 10);
	return failed || sum.faults || sum.restless > sum.sweeps / 1000 ||
	       sum.switched > switched_most || sum.free > 0;
}
