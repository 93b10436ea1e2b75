/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-repair ENGINE THREADS CHILDREN PARENTS [FAILURES]
 *
 *	heddle-bench-repair dmodk 1 18,18,36 1,18,18
 *
 * Times the repair of an XGFT after single losses, without OpenSM and without sending anything: the
 * fabric that is left, the tables carried over to it, the engine, and the plan with its proof.
 * Prints medians over random failures of each kind, in wall-clock time.
 */
#include "stopwatch.h"
#include "tree_fabric.h"

#include <heddle/base/random.h>
#include <heddle/change/repair.h>
#include <heddle/engines.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FAILURES_MOST 1000
#define BASES 9

enum kind { LEAF_CABLE, SPINE_CABLE, SPINE_SWITCH, LEAF_SWITCH, KINDS };

static const char *const names[KINDS] = {"leaf cable", "spine cable", "spine switch",
					 "leaf switch"};

enum phase { FABRIC, CARRY, ENGINE, PLAN, ALL, PHASES };

struct bench {
	const struct hd_engine *engine;
	unsigned threads;
	struct hd_fabric *fabric;
	struct hd_routes *in_place;
	struct hd_repair_base *base;
	uint32_t *level;
};

static struct hd_fabric_change draw(const struct bench *bench, enum kind kind, uint64_t *random)
{
	const struct hd_fabric *fabric = bench->fabric;
	struct hd_fabric_change loss = {.lost = true, .cable = kind <= SPINE_CABLE};
	bool leaf = kind == LEAF_CABLE || kind == LEAF_SWITCH;

	for (;;) {
		uint32_t link = (uint32_t)hd_random_below(random, fabric->isl_count);
		uint32_t sw = hd_isl_from(fabric, link), far = fabric->isl_to[link];
		if (loss.cable && (bench->level[sw] == 0 || bench->level[far] == 0) != leaf)
			continue;
		if (!loss.cable && (bench->level[sw] == 0) != leaf)
			continue;
		loss.index = loss.cable ? hd_port_index(fabric, sw, fabric->isl_port[link]) : sw;
		return loss;
	}
}

static struct hd_repair_plan *repair(const struct bench *bench, struct hd_fabric_change loss,
				     double *times)
{
	struct hd_error err = {""};
	struct hd_fabric *damaged;
	struct hd_routes *carried = NULL, *repaired;
	struct hd_repair_plan *plan;
	double begin = stopwatch_now();

	if (hd_fabric_without(bench->fabric, &loss, 1, HD_NONE, &damaged, &err))
		tree_fabric_stop(&err);
	times[FABRIC] = stopwatch_now() - begin;
	if (damaged->node_count < bench->fabric->node_count &&
	    hd_routes_rebase(bench->fabric, bench->in_place, damaged, &carried, &err))
		tree_fabric_stop(&err);
	times[CARRY] = stopwatch_now() - begin - times[FABRIC];
	const struct hd_route_request request = {.fabric = damaged,
						 .previous = carried ? carried : bench->in_place,
						 .threads = bench->threads};
	if (hd_engine_route(bench->engine, &request, &repaired, &err))
		tree_fabric_stop(&err);
	times[ENGINE] = stopwatch_now() - begin - times[FABRIC] - times[CARRY];
	if (hd_repair_plan_new(bench->base, bench->in_place, damaged, repaired, NULL, &plan, &err))
		tree_fabric_stop(&err);
	times[ALL] = stopwatch_now() - begin;
	times[PLAN] = times[ALL] - times[FABRIC] - times[CARRY] - times[ENGINE];
	hd_routes_free(carried);
	hd_routes_free(repaired);
	hd_fabric_free(damaged);
	return plan;
}

static void run(const struct bench *bench, enum kind kind, unsigned failures)
{
	static double times[PHASES][FAILURES_MOST], entries[FAILURES_MOST], writes[FAILURES_MOST];
	static double steps[FAILURES_MOST];
	uint64_t random = kind + 1, left = 0;

	for (unsigned i = 0; i < failures; i++) {
		double one[PHASES];
		struct hd_repair_plan *plan = repair(bench, draw(bench, kind, &random), one);
		for (unsigned phase = 0; phase < PHASES; phase++)
			times[phase][i] = one[phase];
		entries[i] = plan->entries;
		writes[i] = plan->write_count;
		steps[i] = plan->steps;
		left += plan->left;
		hd_repair_plan_free(plan);
	}
	printf("%-12s %9.0f %8.0f %5.0f %5" PRIu64, names[kind],
	       stopwatch_median(entries, failures), stopwatch_median(writes, failures),
	       stopwatch_median(steps, failures), left);
	for (unsigned phase = 0; phase < PHASES; phase++)
		printf(" %7.2f", stopwatch_median(times[phase], failures));
	printf("\n");
	fflush(stdout);
}

/* Milliseconds of processor time of all threads. */
static double processor_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* What an ordered sweep begins with, and a repair has ready. */
static void make_base(struct bench *bench)
{
	double times[BASES], processor[BASES];
	struct hd_error err = {""};

	for (unsigned i = 0; i < BASES; i++) {
		hd_repair_base_free(bench->base);
		double begin = stopwatch_now(), used = processor_now();
		if (hd_repair_base_new(bench->fabric, bench->in_place, bench->threads, NULL,
				       &bench->base, &err))
			tree_fabric_stop(&err);
		times[i] = stopwatch_now() - begin;
		processor[i] = processor_now() - used;
	}
	printf("%s, %u hosts, %u switches, %u threads; the base took %.1f ms, %.1f of processor "
	       "time (medians of %d)\n",
	       bench->engine->name, bench->fabric->host_count, bench->fabric->switch_count,
	       bench->threads, stopwatch_median(times, BASES), stopwatch_median(processor, BASES),
	       BASES);
}

int main(int argc, char **argv)
{
	struct hd_error err = {""};
	struct bench bench = {0};

	if (argc < 5 || !(bench.engine = hd_engine_find(argv[1]))) {
		fprintf(stderr, "usage: %s ENGINE THREADS CHILDREN PARENTS [FAILURES]\n", argv[0]);
		return 2;
	}
	bench.threads = (unsigned)strtoul(argv[2], NULL, 10);
	unsigned failures = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 20;
	if (!failures || failures > FAILURES_MOST)
		failures = 20;
	bench.fabric = tree_fabric(argv[3], argv[4]);
	const struct hd_route_request request = {.fabric = bench.fabric, .threads = bench.threads};
	bench.level = calloc(bench.fabric->switch_count, sizeof(*bench.level));
	if (!bench.level || hd_fabric_levels(bench.fabric, bench.level, &err) ||
	    hd_engine_route(bench.engine, &request, &bench.in_place, &err))
		tree_fabric_stop(&err);
	make_base(&bench);
	printf("%-12s %9s %8s %5s %5s %7s %7s %7s %7s %7s\n", "lost", "entries", "writes", "steps",
	       "left", "fabric", "carry", "engine", "plan", "all, ms");
	for (enum kind kind = 0; kind < KINDS; kind++)
		run(&bench, kind, failures);
	hd_repair_base_free(bench.base);
	hd_routes_free(bench.in_place);
	hd_fabric_free(bench.fabric);
	free(bench.level);
	return 0;
}
