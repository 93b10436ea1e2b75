/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-ar-change CHILDREN PARENTS [COUNT] [aggregation]
 *
 *	heddle-bench-ar-change 18,18,36 1,18,18
 *
 * Times what a change of an XGFT costs adaptive routing, without OpenSM and without sending anything: a cable or a
 * switch is lost and comes back, COUNT times each, under dmodk. `aggregation` adds an aggregation node to each switch.
 * One thread. Prints medians in ms of processor time:
 *
 *	plan      the next plan, from the one in force
 *	steps     the order of the entries that change
 *	proof     of the steps
 *	blocks    what switches hold after each step, and the blocks that change by it
 *	settle    the graph becomes that of the next plan
 *	tables    the forwarding tables before, in the shape of the fabric
 *	rest      after a change to a plan in which what changes is static: the whole plan, found later with its proof
 */
#include "program_state.h"
#include "stopwatch.h"
#include "tree_fabric.h"

#include <heddle/ar_manager.h>
#include <heddle/ar_manager/plan_copy.h>
#include <heddle/base/random.h>
#include <heddle/change/ar_graph.h>
#include <heddle/change/steps.h>
#include <heddle/engines.h>
#include <heddle/fabric/changes.h>
#include <heddle/fabric/generate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 200u

/* A turn cable is a spine cable of a switch above the leaf at which paths between aggregation nodes of spine switches
 * turn: all these paths get another leaf. */
enum kind { SPINE_CABLE, LEAF_CABLE, SPINE_SWITCH, LEAF_SWITCH, TURN_CABLE, KINDS };

static const char *const names[] = {"spine cable", "leaf cable", "spine switch", "leaf switch",
				    "turn cable"};

enum phase { PLAN, STEPS, PROOF, BLOCKS, SETTLE, ALL, TABLES, REST, PHASES };

/* What switches hold. */
struct state {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
};

struct bench {
	const struct hd_engine *engine;
	struct state whole, now;
	struct hd_ar_graph *graph;
	uint32_t *level;
	uint32_t turn; /* the leaf of turn cables; HD_NONE: not known */
	double times[PHASES];
	uint64_t blocks; /* of AR tables */
	uint64_t adaptive; /* entries of the next plan, before any has become static */
	uint32_t steps;
	bool settled; /* the last change went by the graph */
	unsigned without_graph;
	unsigned still; /* changes to a plan in which what changes is static */
};

/* ms of the processor: other programs that run at the same time hardly count. */
static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1000 + (double)now.tv_nsec / 1e6;
}

static void check(int rc, const struct hd_error *err)
{
	if (rc)
		tree_fabric_stop(err);
}

/* As the plugin routes: from the tables in force, with those of the whole fabric as the baseline. */
static struct hd_routes *route(const struct bench *bench, const struct hd_fabric *fabric,
			       const struct hd_routes *previous)
{
	struct hd_routes *routes, *baseline = NULL;
	struct hd_error err = {""};

	if (previous)
		check(hd_routes_rebase(bench->whole.fabric, bench->whole.routes, fabric, &baseline,
				       &err),
		      &err);
	const struct hd_route_request request = {.fabric = fabric,
						 .previous = previous,
						 .baseline = baseline,
						 .lanes = 1}; /* qos is FALSE by default */
	check(hd_engine_route(bench->engine, &request, &routes, &err), &err);
	hd_routes_free(baseline);
	return routes;
}

static struct hd_ar_plan *plan(const struct hd_fabric *fabric, const struct hd_routes *routes,
			       const struct hd_ar_plan *previous, bool unproved)
{
	const struct hd_ar_request request = {.fabric = fabric,
					      .routes = routes,
					      .previous = previous,
					      .algorithm = HD_AR_TREE,
					      .mode = HD_AR_FREE,
					      .unproved = unproved};
	struct hd_ar_plan *made;
	struct hd_error err = {""};

	check(hd_ar_plan_new(&request, &made, NULL, &err), &err);
	return made;
}

static void release(struct state *state)
{
	hd_ar_plan_free(state->plan);
	hd_routes_free(state->routes);
	hd_fabric_free(state->fabric);
}

/* ---- blocks ---- */

/* Blocks that a switch gets, as hd_ar_program_apply() makes them. */
static uint64_t count_switch(const struct hd_ar_plan *was, uint32_t old,
			     const struct hd_ar_plan *is, uint32_t sw)
{
	const struct hd_ar_settings *settings = &hd_ar_settings_default;
	const struct hd_ar_quirks *quirks = &hd_ar_quirks_default;
	const struct hd_ar_info info = {.group_cap = HD_AR_GROUPS_MAX, .enabled = 1};
	struct hd_ar_changes *changes = NULL;
	struct program_row_images images;
	struct program_row row = {.lid_count = 0};
	struct hd_error err = {"a plan without rows, or no memory"};

	if (!program_row_take(&row, was, old, settings, &info) ||
	    !program_row_compares(&row, is, sw) ||
	    program_row_images_new(&row, is, sw, settings, quirks, &info, &images) ||
	    hd_ar_diff(images.want, images.held, HD_AR_GROUPS_FIRST, &changes))
		tree_fabric_stop(&err);
	const uint64_t count = changes->count;
	hd_ar_changes_free(changes);
	hd_ar_image_free(images.want);
	hd_ar_image_free(images.held);
	free(images.filled);
	program_row_forget(&row);
	return count;
}

/* Counts the blocks that change from one plan to another. Switches without groups have none. */
static uint64_t count_blocks(const struct hd_ar_plan *was, const struct hd_ar_plan *is)
{
	uint64_t count = 0;

	for (uint32_t sw = 0; sw < is->switch_count; sw++) {
		const uint32_t old = hd_ar_plan_find(was, is->switches[sw].guid);
		if (old != HD_NONE && is->switches[sw].used && was->switches[old].used &&
		    !hd_ar_switch_same(&was->switches[old], &is->switches[sw]))
			count += count_switch(was, old, is, sw);
	}
	return count;
}

/* ---- a change ---- */

/* Goes through the steps. Returns what switches hold then. */
static struct hd_ar_plan *walk(struct bench *bench, struct hd_ar_steps *steps,
			       const struct hd_ar_plan *held)
{
	const uint32_t end = hd_ar_steps_count(steps) + 1;
	struct hd_error err = {"out of memory"};
	struct hd_ar_plan *was = NULL;
	const double begin = now_ms();

	for (uint32_t step = 0; step < end; step++) {
		struct hd_ar_plan *is;
		check(hd_ar_steps_plan(steps, step, &is), &err);
		bench->blocks += count_blocks(was ? was : held, is);
		hd_ar_plan_free(was);
		was = is;
	}
	bench->steps += end - 1;
	bench->times[BLOCKS] += now_ms() - begin;
	return was;
}

/* One part of a change. NULL: not by the graph. */
static struct hd_ar_plan *move(struct bench *bench, const struct hd_ar_steps_request *request)
{
	struct hd_ar_steps *steps;
	struct hd_error err = {""};
	double begin = now_ms();
	int rc = hd_ar_steps_new(request, &steps, &err);

	bench->times[STEPS] += now_ms() - begin;
	if (rc)
		return NULL;
	begin = now_ms();
	rc = hd_ar_steps_prove(steps, &err);
	bench->times[PROOF] += now_ms() - begin;
	struct hd_ar_plan *held = rc ? NULL : walk(bench, steps, request->held);
	hd_ar_steps_free(steps);
	return held;
}

/* move(), or if the next plan has a loop, to one in which what changes is static. */
static struct hd_ar_plan *move_any(struct bench *bench, struct hd_ar_steps_request *request,
				   struct state *next)
{
	struct hd_ar_plan *plan = move(bench, request), *still;
	struct hd_ar_plan_copy held;
	struct hd_error err = {"out of memory"};

	if (plan || !bench->graph)
		return plan;
	const double begin = now_ms();
	check(hd_ar_plan_copy_new(request->held, request->fabric, NULL, &held), &err);
	check(hd_ar_steps_still(request->fabric, held.plan, next->plan, &still), &err);
	hd_ar_plan_free(held.plan);
	hd_ar_plan_free(next->plan);
	request->next = next->plan = still;
	bench->times[STEPS] += now_ms() - begin;
	bench->still++;
	return move(bench, request);
}

/* The way of a sweep: AR tables and forwarding tables, step by step. */
static void sweep(struct bench *bench, struct hd_ar_steps_request *request, struct state *next)
{
	struct hd_error err = {""};
	struct hd_ar_plan *held = move_any(bench, request, next);
	const double begin = now_ms();

	bench->settled = held != NULL;
	if (held)
		check(hd_ar_graph_settle(bench->graph, request->fabric, request->after,
					 request->next, &err),
		      &err);
	bench->times[SETTLE] = now_ms() - begin;
	hd_ar_plan_free(held);
}

/* NULL: the plan has a loop where LIDs are taken together. */
static void renew_graph(struct bench *bench)
{
	struct hd_error err = {""};

	hd_ar_graph_free(bench->graph);
	if (hd_ar_graph_new(bench->now.fabric, bench->now.routes, bench->now.plan, NULL,
			    &bench->graph, &err))
		bench->graph = NULL;
}

/* After a change to a plan in which entries are static, or without steps: the whole plan, as a sweep finds it
 * afterwards. */
static void find_rest(struct bench *bench)
{
	const double begin = now_ms();

	if (bench->settled && bench->now.plan->adaptive == bench->adaptive)
		return;
	struct hd_ar_plan *whole =
	    plan(bench->now.fabric, bench->now.routes, bench->now.plan, false);
	bench->times[REST] = now_ms() - begin;
	hd_ar_plan_free(bench->now.plan);
	bench->now.plan = whole;
	renew_graph(bench);
}

/* The fabric becomes another one; it is taken over. */
static void change(struct bench *bench, struct hd_fabric *fabric)
{
	struct state next = {.fabric = fabric};
	struct hd_routes *before;
	struct hd_error err = {""};
	double begin = now_ms();

	memset(bench->times, 0, sizeof(bench->times));
	check(hd_routes_rebase(bench->now.fabric, bench->now.routes, fabric, &before, &err), &err);
	bench->times[TABLES] = now_ms() - begin;
	next.routes = route(bench, fabric, before);
	begin = now_ms();
	next.plan = plan(fabric, next.routes, bench->now.plan, true);
	bench->adaptive = next.plan->adaptive;
	bench->times[PLAN] = now_ms() - begin;
	struct hd_ar_steps_request request = {.fabric = fabric,
					      .before = before,
					      .after = next.routes,
					      .held = bench->now.plan,
					      .next = next.plan,
					      .graph = &bench->graph};
	sweep(bench, &request, &next);
	for (enum phase phase = PLAN; phase < ALL; phase++)
		bench->times[ALL] += bench->times[phase];
	hd_routes_free(before);
	release(&bench->now);
	bench->now = next;
	bench->without_graph += !bench->settled;
	find_rest(bench);
}

static struct hd_fabric *without(const struct bench *bench, const struct hd_fabric_change *loss,
				 uint32_t count)
{
	struct hd_fabric *fabric;
	struct hd_error err = {""};

	check(hd_fabric_without(bench->whole.fabric, loss, count, HD_NONE, &fabric, &err), &err);
	return fabric;
}

/* Whether a switch is cabled to the leaf of turn cables. */
static bool is_above_turn(const struct bench *bench, uint32_t sw)
{
	const struct hd_fabric *fabric = bench->whole.fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (fabric->isl_to[link] == bench->turn)
			return true;
	return false;
}

static bool is_of_kind(const struct bench *bench, enum kind kind, uint32_t sw, uint32_t far)
{
	const bool cable = kind <= LEAF_CABLE || kind == TURN_CABLE;
	const bool leaf = kind == LEAF_CABLE || kind == LEAF_SWITCH;
	const bool low = bench->level[sw] == 0 || (cable && bench->level[far] == 0);

	/* a spine switch has no link upwards */
	return low == leaf && (kind != SPINE_SWITCH || bench->level[sw] > bench->level[far]) &&
	       (kind != TURN_CABLE || is_above_turn(bench, sw));
}

static struct hd_fabric_change draw(const struct bench *bench, enum kind kind, uint64_t *random)
{
	const struct hd_fabric *fabric = bench->whole.fabric;
	const bool cable = kind <= LEAF_CABLE || kind == TURN_CABLE;

	for (;;) {
		const uint32_t link = (uint32_t)hd_random_below(random, fabric->isl_count);
		const uint32_t sw = hd_isl_from(fabric, link);
		if (!is_of_kind(bench, kind, sw, fabric->isl_to[link]))
			continue;
		return (struct hd_fabric_change){
		    .lost = true,
		    .cable = cable,
		    .index = cable ? hd_port_index(fabric, sw, fabric->isl_port[link]) : sw};
	}
}

static void print(const char *what, double (*times)[MOST], unsigned count,
		  const struct bench *bench)
{
	printf("%-21s %6.1f %8.0f", what, (double)bench->steps / count,
	       (double)bench->blocks / count);
	for (unsigned phase = 0; phase < PHASES; phase++)
		printf(" %7.1f", stopwatch_median(times[phase], count));
	printf("\n");
	fflush(stdout);
}

static void run(struct bench *bench, enum kind kind, unsigned count)
{
	static double times[2][PHASES][MOST];
	static const char *const ways[] = {"lost", "back"};
	uint64_t random = kind + 1;
	uint64_t blocks[2] = {0};
	uint32_t steps[2] = {0};

	for (unsigned i = 0; i < count; i++) {
		const struct hd_fabric_change loss = draw(bench, kind, &random);
		for (unsigned way = 0; way < 2; way++) {
			bench->blocks = bench->steps = 0;
			change(bench, without(bench, &loss, way ? 0 : 1));
			for (unsigned phase = 0; phase < PHASES; phase++)
				times[way][phase][i] = bench->times[phase];
			blocks[way] += bench->blocks;
			steps[way] += bench->steps;
		}
	}
	for (unsigned way = 0; way < 2; way++) {
		char what[40];
		snprintf(what, sizeof(what), "%s %s", names[kind], ways[way]);
		bench->blocks = blocks[way];
		bench->steps = steps[way];
		print(what, times[way], count, bench);
	}
}

/* The lowest switch on the path from one spine switch to the aggregation node of another one. */
static uint32_t find_turn(const struct bench *bench)
{
	const struct hd_fabric *fabric = bench->whole.fabric;
	const uint32_t last = fabric->aside_count - 1;
	uint32_t sw = 0;

	if (!fabric->aside_count)
		return HD_NONE;
	while (bench->level[sw] < bench->level[fabric->aside_switch[last]])
		sw++;
	const uint32_t lid = fabric->lid[fabric->aside_port[last]];
	while (bench->level[sw]) {
		const uint8_t port = hd_routes_port(bench->whole.routes, sw, lid);
		const uint32_t peer =
		    port == HD_NO_PORT ? HD_NONE : fabric->peer[hd_port_index(fabric, sw, port)];
		if (peer == HD_NONE || !hd_is_switch(fabric, fabric->port_node[peer]))
			return HD_NONE;
		sw = fabric->port_node[peer];
	}
	return sw;
}

static void begin(struct bench *bench)
{
	struct hd_error err = {""};
	double start = now_ms();

	bench->now.fabric = without(bench, NULL, 0);
	bench->level = calloc(bench->now.fabric->switch_count, sizeof(*bench->level));
	if (!bench->level)
		exit(1);
	check(hd_fabric_levels(bench->whole.fabric, bench->level, &err), &err);
	bench->whole.routes = route(bench, bench->whole.fabric, NULL);
	bench->turn = find_turn(bench);
	bench->now.routes = route(bench, bench->now.fabric, NULL);
	printf("%u hosts, %u switches, %u aggregation nodes; tables %.0f ms",
	       bench->now.fabric->host_count, bench->now.fabric->switch_count,
	       bench->now.fabric->aside_count, now_ms() - start);
	start = now_ms();
	bench->now.plan = plan(bench->now.fabric, bench->now.routes, NULL, false);
	printf(", first plan with proof %.0f ms", now_ms() - start);
	start = now_ms();
	renew_graph(bench);
	printf(", graph %.0f ms\n", now_ms() - start);
	printf("%-21s %6s %8s %7s %7s %7s %7s %7s %7s %7s %7s\n", "median ms", "steps", "blocks",
	       "plan", "steps", "proof", "blocks", "settle", "all", "tables", "rest");
}

int main(int argc, char **argv)
{
	struct bench bench = {.engine = hd_engine_find("dmodk")};
	unsigned count = 10;
	struct hd_fabric *bigger;
	struct hd_error err = {""};

	if (argc < 3) {
		fprintf(stderr, "usage: %s CHILDREN PARENTS [COUNT] [aggregation]\n", argv[0]);
		return 2;
	}
	bench.whole.fabric = tree_fabric(argv[1], argv[2]);
	for (int i = 3; i < argc; i++) {
		if (strtoul(argv[i], NULL, 10))
			count = (unsigned)strtoul(argv[i], NULL, 10);
		if (strcmp(argv[i], "aggregation"))
			continue;
		check(hd_fabric_add_aggregation(bench.whole.fabric, &bigger, &err), &err);
		hd_fabric_free(bench.whole.fabric);
		bench.whole.fabric = bigger;
	}
	begin(&bench);
	for (enum kind kind = 0; kind < KINDS; kind++)
		if (kind != TURN_CABLE || bench.turn != HD_NONE)
			run(&bench, kind, count > MOST ? MOST : count);
	printf("%u changes made entries static meanwhile, %u were not possible with the graph\n",
	       bench.still, bench.without_graph);
	hd_ar_graph_free(bench.graph);
	release(&bench.now);
	hd_routes_free(bench.whole.routes);
	hd_fabric_free(bench.whole.fabric);
	free(bench.level);
	return 0;
}
