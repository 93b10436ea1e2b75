/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * multipath:mode=layers on random fabrics, intact and damaged, that lose cables three times while tables are in place,
 * and get them back:
 *
 *	layers [COUNT [FIRST]]
 *
 * By a slow checker that shares no code with the engines: every LID is reached, nothing loops, and no lane has a credit
 * loop, with the service level of each source switch and LID. Paths to further LIDs are one hop longer than the shortest
 * at most, by distances found link by link. Base LIDs have the entries that spf gives them with LMC 0, with the same
 * losses behind it. Tables come out unchanged if they are given as those in place, and on any number of threads. A LID
 * whose paths are whole keeps them, and when all cables are back, all entries are those of the beginning, unless the log
 * says that base LIDs need the room on the lanes. Prints each demand that is not met, and a summary. Exit status 1 if there is one.
 */
#include "facts.h"
#include "oracle_check.h"
#include "sample.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOSSES 3u
#define PORTS_MOST 1300u /* the checker takes their square */
#define LIDS_MOST 1500u

static const unsigned lane_counts[] = {8, 8, 1, 4, 2, 3, 8, 6};

struct tally {
	unsigned fabrics, damaged, states, refused, evicted, longer, faults;
};

/* One engine on one fabric: what it has in place. */
struct in_place {
	const struct hd_engine *engine;
	struct hd_options *options;
	struct hd_fabric *whole, *now; /* before and after losses */
	struct hd_routes *fresh, *routes; /* of these */
	char remarks[4096];
};

struct trial {
	uint64_t number, random;
	const struct sample *sample;
	unsigned lmc, lanes;
	struct in_place layers, spf; /* spf with one LID a host */
	struct tally *tally;
};

static bool fail(const struct trial *trial, const char *format, ...) HD_PRINTF(2, 3);

static bool fail(const struct trial *trial, const char *format, ...)
{
	va_list arguments;

	trial->tally->faults++;
	printf("FAILED number %" PRIu64 ": %s %s lmc=%u on %u lanes: ", trial->number,
	       trial->sample->kind, trial->sample->recipe, trial->lmc, trial->lanes);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	return false;
}

/* ---- routing ---- */

static void note(void *context, enum hd_log_level level, const char *line)
{
	struct in_place *in_place = context;
	const size_t length = strlen(in_place->remarks);

	(void)level;
	snprintf(in_place->remarks + length, sizeof(in_place->remarks) - length, "%s\n", line);
}

static int route(const struct trial *trial, struct in_place *in_place,
		 const struct hd_fabric *fabric, const struct hd_routes *previous,
		 const struct hd_routes *baseline, struct hd_routes **out)
{
	const struct hd_log log = {note, in_place};
	const struct hd_route_request request = {.fabric = fabric,
						 .options = in_place->options,
						 .previous = previous,
						 .baseline = baseline,
						 .lanes = trial->lanes,
						 .threads = 1 + (unsigned)(trial->number & 3),
						 .log = &log};
	struct hd_error err = {""};

	in_place->remarks[0] = '\0';
	*out = NULL;
	return hd_engine_route(in_place->engine, &request, out, &err);
}

/* The tables in place, carried over to another fabric, and those of the beginning. Takes the fabric. */
static int follow(const struct trial *trial, struct in_place *in_place, struct hd_fabric *fabric)
{
	struct hd_routes *previous = NULL, *baseline = NULL, *routes = NULL;

	if (hd_routes_rebase(in_place->now, in_place->routes, fabric, &previous, NULL) ||
	    hd_routes_rebase(in_place->whole, in_place->fresh, fabric, &baseline, NULL))
		abort();
	const int rc = route(trial, in_place, fabric, previous, baseline, &routes);
	hd_routes_free(previous);
	hd_routes_free(baseline);
	hd_routes_free(in_place->routes);
	hd_fabric_free(in_place->now);
	in_place->routes = routes;
	in_place->now = fabric;
	return rc;
}

/* ---- demands ---- */

static uint32_t lid_of(const struct hd_fabric *fabric, uint32_t host, uint32_t offset)
{
	return fabric->lid[fabric->host_port[host]] + offset;
}

/* Pairs of a switch and a LID in different components. */
static uint64_t count_apart(const struct hd_fabric *fabric)
{
	uint32_t *component = facts_components(fabric), to;
	uint64_t apart = 0;
	uint8_t port;

	for (uint32_t lid = 1; component && lid < fabric->lid_count; lid++)
		for (uint32_t sw = 0; hd_fabric_lid_destination(fabric, lid, &to, &port) &&
				      sw < fabric->switch_count;
		     sw++)
			apart += component[sw] != component[to];
	free(component);
	return apart;
}

/* Further LIDs: the hops of their paths, by the distances of the checker. */
static bool check_hops(const struct trial *trial, const struct oracle_check *oracle,
		       const char *when)
{
	const struct hd_fabric *fabric = oracle->fabric;
	struct oracle_check_walk walk = {.path =
					     calloc(fabric->switch_count + 1u, sizeof(uint32_t))};
	bool good = true;

	for (uint32_t host = 0; good && host < fabric->host_count; host++)
		for (uint32_t i = 0; good && i < fabric->switch_count << trial->lmc; i++) {
			const uint32_t sw = i >> trial->lmc, offset = i & ((1u << trial->lmc) - 1);
			const uint32_t shortest =
			    oracle->distance[(size_t)sw * fabric->switch_count +
					     fabric->host_switch[host]];
			if (shortest == HD_NONE)
				continue;
			oracle_check_follow(fabric, oracle->routes, sw,
					    lid_of(fabric, host, offset), &walk);
			good = walk.length - 1 <= shortest + (offset > 0);
			trial->tally->longer += walk.length - 1 > shortest;
			if (!good)
				fail(trial,
				     "%s: %u hops from switch %u to LID %u, the shortest path has "
				     "%u",
				     when, walk.length - 1, sw, lid_of(fabric, host, offset),
				     shortest);
		}
	free(walk.path);
	return good;
}

static bool check_clean(const struct trial *trial, const char *when)
{
	const struct in_place *layers = &trial->layers;
	struct oracle_check *oracle = oracle_check_new(layers->now, layers->routes, false);
	const uint64_t apart = count_apart(layers->now);
	bool good = true;

	if (!oracle)
		abort();
	if (oracle->no_route != apart || oracle->dead_end || oracle->loop)
		good = fail(trial,
			    "%s: %" PRIu64 " without a path (%" PRIu64 " apart), %" PRIu64
			    " dead ends, %" PRIu64 " loops",
			    when, oracle->no_route, apart, oracle->dead_end, oracle->loop);
	for (unsigned lane = 0; good && lane < 16; lane++) {
		if (oracle->lane_loop[lane])
			good = fail(trial, "%s: a credit loop on lane %u", when, lane);
		else if (oracle->lane_used[lane] && lane >= trial->lanes)
			good = fail(trial, "%s: lane %u", when, lane);
	}
	good = good && check_hops(trial, oracle, when);
	oracle_check_free(oracle);
	return good;
}

/* Base LIDs and switches have the entries of spf, host by host. */
static bool check_base(const struct trial *trial, const char *when)
{
	const struct hd_fabric *several = trial->layers.now, *one = trial->spf.now;

	for (uint32_t sw = 0; sw < several->switch_count; sw++) {
		for (uint32_t host = 0; host < several->host_count; host++)
			if (hd_routes_port(trial->layers.routes, sw, lid_of(several, host, 0)) !=
			    hd_routes_port(trial->spf.routes, sw, lid_of(one, host, 0)))
				return fail(trial,
					    "%s: switch %u has another entry than spf for host %u",
					    when, sw, host);
		for (uint32_t to = 0; to < several->switch_count; to++)
			if (hd_routes_port(trial->layers.routes, sw,
					   several->lid[several->port_base[to]]) !=
			    hd_routes_port(trial->spf.routes, sw, one->lid[one->port_base[to]]))
				return fail(
				    trial, "%s: switch %u has another entry than spf for switch %u",
				    when, sw, to);
	}
	return true;
}

/* One more sweep changes nothing. */
static bool check_again(struct trial *trial, const char *when)
{
	struct in_place *layers = &trial->layers;
	struct hd_routes *again = NULL;

	if (route(trial, layers, layers->now, layers->routes, NULL, &again))
		return fail(trial, "%s: its own tables are refused", when);
	const bool same = hd_routes_equal(layers->routes, again);
	hd_routes_free(again);
	return same || fail(trial, "%s: its own tables come out changed", when);
}

#define SWEEPS_TO_REST 6

/* The same with the tables of the beginning as the baseline. Where lanes are full, more LIDs may return to it with the
 * next sweep, but soon nothing changes any more. */
static bool check_rest(struct trial *trial, const char *when)
{
	struct in_place *layers = &trial->layers;
	struct hd_routes *baseline = NULL, *now = hd_routes_copy(layers->routes);
	bool same = false;

	if (!now || hd_routes_rebase(layers->whole, layers->fresh, layers->now, &baseline, NULL))
		abort();
	for (unsigned sweep = 0; !same && sweep < SWEEPS_TO_REST; sweep++) {
		struct hd_routes *next = NULL;
		if (route(trial, layers, layers->now, now, baseline, &next))
			break;
		same = hd_routes_equal(now, next);
		hd_routes_free(now);
		now = next;
		if (!same && trial->lanes == 8)
			break; /* enough room for all at once */
	}
	hd_routes_free(baseline);
	hd_routes_free(now);
	return same || fail(trial, "%s: the tables do not come to rest", when);
}

static bool check_state(struct trial *trial, const char *when)
{
	trial->tally->states++;
	return check_clean(trial, when) && check_base(trial, when) && check_again(trial, when) &&
	       check_rest(trial, when);
}

/* ---- losses ---- */

static bool is_whole(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t lid,
		     const uint32_t *component, uint32_t to, struct oracle_check_walk *walk)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (component[sw] != component[to])
			continue;
		oracle_check_follow(fabric, routes, sw, lid, walk);
		if (!walk->arrives)
			return false;
	}
	return true;
}

static bool same_column(const struct hd_fabric *fabric, const uint32_t *component, uint32_t to,
			const struct hd_routes *a, const struct hd_routes *b, uint32_t lid)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (component[sw] == component[to] &&
		    hd_routes_port(a, sw, lid) != hd_routes_port(b, sw, lid))
			return false;
	return true;
}

/* Further LIDs whose paths are whole and that have other entries now, not those of the beginning. */
static unsigned count_moved(const struct in_place *in_place, const struct hd_routes *before,
			    unsigned lmc)
{
	const struct hd_fabric *fabric = in_place->now;
	uint32_t *component = facts_components(fabric);
	struct oracle_check_walk walk = {.path =
					     calloc(fabric->switch_count + 1u, sizeof(uint32_t))};
	struct hd_routes *first = NULL;
	unsigned moved = 0;

	if (hd_routes_rebase(in_place->whole, in_place->fresh, fabric, &first, NULL))
		abort();
	for (uint32_t i = 0; i < fabric->host_count << lmc; i++) {
		const uint32_t host = i >> lmc, lid = lid_of(fabric, host, i & ((1u << lmc) - 1)),
			       to = fabric->host_switch[host];
		moved += lid != lid_of(fabric, host, 0) &&
			 !same_column(fabric, component, to, before, in_place->routes, lid) &&
			 !same_column(fabric, component, to, first, in_place->routes, lid) &&
			 is_whole(fabric, before, lid, component, to, &walk);
	}
	hd_routes_free(first);
	free(walk.path);
	free(component);
	return moved;
}

/* Whether the engine says that lanes have no room for what was in place. */
static bool is_crowded(const struct trial *trial)
{
	return strstr(trial->layers.remarks, "have no room for them beside base LIDs");
}

/* Removes cables. False at the end of this trial. */
static bool lose(struct trial *trial)
{
	const double percent = 1 + (double)hd_random_below(&trial->random, 6);
	struct hd_fabric *several = NULL, *one = NULL;
	struct hd_routes *before = NULL;

	if (hd_fabric_remove_links(trial->layers.now, percent, trial->random, &several, NULL) ||
	    hd_fabric_remove_links(trial->spf.now, percent, trial->random, &one, NULL) ||
	    hd_routes_rebase(trial->layers.now, trial->layers.routes, several, &before, NULL))
		abort();
	const int spf = follow(trial, &trial->spf, one),
		  rc = follow(trial, &trial->layers, several);
	bool good = !rc && !spf;
	trial->tally->refused += !good;
	if (rc != spf)
		fail(trial, "cables lost: error %d, spf has %d", rc, spf);
	if (good) {
		const unsigned moved = count_moved(&trial->layers, before, trial->lmc);
		const bool afresh = strstr(trial->layers.remarks, "routing afresh") != NULL;
		if (moved && !afresh && !is_crowded(trial))
			fail(trial, "cables lost: %u LIDs moved that were whole", moved);
		trial->tally->evicted += afresh ? 0 : moved;
		good = check_state(trial, "cables lost");
	}
	hd_routes_free(before);
	return good;
}

/* All cables are back. */
static bool heal(struct trial *trial)
{
	struct hd_fabric *several = NULL, *one = NULL;

	if (hd_fabric_assign_lids(trial->layers.whole, trial->lmc, &several, NULL) ||
	    hd_fabric_assign_lids(trial->spf.whole, 0, &one, NULL))
		abort();
	if (follow(trial, &trial->spf, one) || follow(trial, &trial->layers, several))
		return fail(trial, "cables back: refused");
	if (!check_clean(trial, "cables back"))
		return false;
	const uint64_t changes = hd_routes_count_changes(trial->layers.fresh, trial->layers.routes);
	return !changes || is_crowded(trial) ||
	       fail(trial, "cables back: %" PRIu64 " entries are not those of the beginning",
		    changes);
}

/* ---- one fabric ---- */

static bool begin(const struct trial *trial, struct in_place *in_place, const char *engine,
		  const char *mode, unsigned lmc)
{
	in_place->engine = hd_engine_find(engine);
	in_place->options = hd_engine_options(in_place->engine);
	if ((mode && hd_options_set(in_place->options, "mode", mode, NULL)) ||
	    hd_fabric_assign_lids(trial->sample->fabric, lmc, &in_place->whole, NULL) ||
	    hd_fabric_assign_lids(trial->sample->fabric, lmc, &in_place->now, NULL))
		abort();
	const int rc = route(trial, in_place, in_place->whole, NULL, NULL, &in_place->fresh);
	in_place->routes = rc ? NULL : hd_routes_copy(in_place->fresh);
	return !rc;
}

static void end(struct in_place *in_place)
{
	hd_options_free(in_place->options);
	hd_fabric_free(in_place->whole);
	hd_fabric_free(in_place->now);
	hd_routes_free(in_place->fresh);
	hd_routes_free(in_place->routes);
}

static void run(struct trial *trial)
{
	const bool spf = begin(trial, &trial->spf, "spf", NULL, 0);
	const bool layers = begin(trial, &trial->layers, "multipath", "layers", trial->lmc);

	trial->tally->fabrics++;
	trial->tally->damaged += !trial->sample->intact;
	trial->tally->refused += !layers;
	if (spf != layers)
		fail(trial, "spf %s, layers %s", spf ? "routes" : "refuses",
		     layers ? "route" : "refuse");
	bool good = spf && layers && check_state(trial, "afresh");
	for (unsigned i = 0; good && i < LOSSES; i++)
		good = lose(trial);
	if (good)
		heal(trial);
	end(&trial->layers);
	end(&trial->spf);
}

static void run_number(uint64_t number, struct tally *tally)
{
	struct sample sample;

	if (sample_draw(number, &sample, NULL))
		abort();
	const struct hd_fabric *fabric = sample.fabric;
	struct trial trial = {
	    .number = number,
	    .random = number * UINT64_C(0x9E3779B97F4A7C15) + 1,
	    .sample = &sample,
	    .lanes = lane_counts[number / 4 % (sizeof(lane_counts) / sizeof(*lane_counts))],
	    .tally = tally};
	trial.lmc = 1 + (unsigned)hd_random_below(&trial.random, 3);
	while (trial.lmc > 1 && fabric->host_count << trial.lmc > LIDS_MOST)
		trial.lmc--;
	if (fabric->port_count <= PORTS_MOST && fabric->host_count && !fabric->aside_count)
		run(&trial);
	sample_release(&sample);
}

int main(int argc, char **argv)
{
	const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 100;
	const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : SAMPLE_DIRECT;
	struct tally tally = {0};

	for (uint64_t number = first; number < first + count; number++)
		run_number(number, &tally);
	printf("%u fabrics, %u damaged before, %u states of tables, %u refused for lack of lanes, "
	       "%u paths longer than the "
	       "shortest, %u LIDs moved for base LIDs; %u demands not met\n",
	       tally.fabrics, tally.damaged, tally.states, tally.refused, tally.longer,
	       tally.evicted, tally.faults);
	return tally.faults != 0;
}
