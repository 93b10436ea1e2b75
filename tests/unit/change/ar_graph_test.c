/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A graph of adaptive routing that follows losses and returns is the one that would be made from scratch. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_graph.h"
#include "cases.h"
#include "change_testing.h"
#include "oracle_ar.h"

#include <heddle/ar_manager/plan_copy.h>
#include <heddle/change/ar_graph.h>
#include <heddle/change/steps.h>
#include <heddle/fabric/changes.h>

#define MOST_LOSSES 6u

/* What switches hold, and the fabric whose links are lost and come back. */
struct site {
	const struct hd_fabric *whole;
	const char *engine;
	struct hd_fabric_change losses[MOST_LOSSES];
	uint32_t lost;
	uint64_t random;
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
	struct hd_ar_graph *graph;
	bool aggregation; /* a node on each switch */
	bool
	    hands_over; /* at times the next engine of a list routes, and several parts are lost or come back at once */
	struct hd_routes *baseline; /* of the whole fabric, then */
	unsigned quick, loops, still, strange, equal, by_lid, off; /* changes */
};

static bool loops(const struct hd_fabric *fabric, const struct hd_routes *after,
		  const struct hd_routes *before, const struct hd_ar_plan *plan,
		  const struct hd_ar_plan *next)
{
	struct oracle_dependencies graph;
	bool found = oracle_ar_cycle(fabric, after, before, plan, next, 0, &graph);

	oracle_dependencies_free(&graph);
	return found;
}

/* A cable or, with `switches`, sometimes a switch. */
static struct hd_fabric_change draw(struct site *site, bool switches)
{
	const struct hd_fabric *fabric = site->whole;
	const uint32_t link = (uint32_t)hd_random_below(&site->random, fabric->isl_count);
	const bool cable = !switches || below(&site->random, 3);

	return (struct hd_fabric_change){
	    .lost = true,
	    .cable = cable,
	    .index = cable
			 ? hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link])
			 : hd_isl_from(fabric, link)};
}

static void come_back(struct site *site, uint32_t which)
{
	site->lost--;
	site->losses[which] = site->losses[site->lost];
}

/* Something is lost, or comes back. */
static struct hd_fabric *change_fabric(struct site *site, bool switches)
{
	struct hd_fabric *fabric = NULL;

	if (site->lost && (site->lost == MOST_LOSSES || below(&site->random, 2)))
		come_back(site, below(&site->random, site->lost));
	else
		site->losses[site->lost++] = draw(site, switches);
	CHECK(hd_fabric_without(site->whole, site->losses, site->lost, HD_NONE, &fabric, &err));
	return fabric;
}

/* The static ports of a plan where it has AR, else those of tables. */
static struct hd_routes *ports_of(const struct hd_fabric *fabric, const struct hd_routes *tables,
				  const struct hd_ar_plan *plan)
{
	struct hd_routes *routes = hd_routes_copy(tables);

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (plan->switches[sw].used)
			memcpy(hd_routes_row(routes, sw), plan->switches[sw].lid_port[0],
			       plan->lid_count);
	return routes;
}

/* What switches have: forwarding tables and a plan. */
struct held {
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
};

static void release(struct held *held)
{
	hd_routes_free(held->routes);
	hd_ar_plan_free(held->plan);
}

/* Whether something loops while some switches have the one and some the other. A switch with adaptive routing sends by
 * its plan only. */
static bool mixture_loops(const struct hd_fabric *fabric, const struct held *was,
			  const struct held *is)
{
	struct hd_routes *before = ports_of(fabric, was->routes, was->plan);
	struct hd_routes *after = ports_of(fabric, is->routes, is->plan);
	const bool found = loops(fabric, after, before, was->plan, is->plan);

	hd_routes_free(before);
	hd_routes_free(after);
	return found;
}

/* Whether packets to a LID can come back to a switch on the path, by the ports of both tables. */
static bool circles(const struct hd_fabric *fabric, const struct hd_routes *tables[2], uint32_t lid,
		    uint32_t sw, uint8_t *on_path)
{
	bool found = on_path[sw];

	on_path[sw] = 1;
	for (unsigned i = 0; i < 2 && !found; i++) {
		const uint32_t link =
		    hd_fabric_find_isl(fabric, sw, hd_routes_port(tables[i], sw, lid));
		found =
		    link != HD_NONE && circles(fabric, tables, lid, fabric->isl_to[link], on_path);
	}
	on_path[sw] = 0;
	return found;
}

/* LIDs of switches, which adapters do not send to, have no circles either. */
static void assert_no_circles(const struct hd_fabric *fabric, const struct held *was,
			      const struct held *is)
{
	const struct hd_routes *tables[2] = {was->routes, is->routes};
	uint8_t *on_path = calloc(fabric->switch_count, 1);

	for (uint32_t to = 0; to < fabric->switch_count; to++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			assert_false(circles(fabric, tables,
					     fabric->lid[hd_port_index(fabric, to, 0)], sw,
					     on_path));
	free(on_path);
}

static struct held held_at(struct hd_ar_steps *steps, uint32_t step)
{
	struct held held = {NULL, NULL};

	assert_int_equal(hd_ar_steps_plan(steps, step, &held.plan), 0);
	assert_int_equal(hd_ar_steps_routes(steps, step, &held.routes), 0);
	return held;
}

/* Goes from step to step. While any of it is programmed, nothing loops: all packets of adapters to all LIDs count. */
static struct hd_ar_plan *walk(const struct hd_ar_steps_request *request, struct hd_ar_steps *steps)
{
	struct held was = held_at(steps, 0);

	for (uint32_t step = 1; step <= hd_ar_steps_count(steps); step++) {
		struct held is = held_at(steps, step);
		assert_false(mixture_loops(request->fabric, &was, &is));
		assert_no_circles(request->fabric, &was, &is);
		release(&was);
		was = is;
	}
	hd_routes_free(was.routes);
	return was.plan;
}

static void make_graph(struct site *site)
{
	struct hd_error reason = {""};
	int rc =
	    hd_ar_graph_new(site->fabric, site->routes, site->plan, NULL, &site->graph, &reason);

	assert_true(!rc || rc == -ELOOP);
	if (rc)
		site->graph = NULL;
}

/* The graph is that of the plan and the tables in force. */
static void assert_up_to_date(struct site *site)
{
	struct hd_ar_graph *fresh = NULL;

	CHECK(hd_ar_graph_new(site->fabric, site->routes, site->plan, NULL, &fresh, &err));
	if (hd_ar_graph_by_lid(site->graph) || hd_ar_graph_by_lid(fresh)) {
		site->by_lid++; /* they may take others together */
	} else {
		site->equal++;
		assert_true(hd_ar_graph_equal(site->graph, fresh));
	}
	hd_ar_graph_free(fresh);
}

/* One part of a change by the graph. NULL: that is not possible, and there is no graph now. */
static struct hd_ar_plan *move(struct site *site, const struct hd_ar_steps_request *request)
{
	struct hd_ar_steps *steps = NULL;
	struct hd_error reason = {""};
	int rc = hd_ar_steps_new(request, &steps, &reason);

	if (!rc)
		rc = hd_ar_steps_prove(steps, &reason);
	assert_int_equal(!site->graph, rc == -ESTALE);
	assert_true(!rc || rc == -ELOOP || rc == -ESTALE);
	site->loops += rc == -ELOOP;
	site->strange += rc == -ESTALE;
	struct hd_ar_plan *plan = rc ? NULL : walk(request, steps);
	hd_ar_steps_free(steps);
	return plan;
}

static void drop_graph(struct site *site)
{
	hd_ar_graph_free(site->graph);
	site->graph = NULL;
}

/* One part of a change, to the next plan or, if that has no steps, to one in which what changes is static. Returns what
 * switches hold then; NULL: neither is possible. *next is the plan to which the steps lead. */
static struct hd_ar_plan *move_any(struct site *site, struct hd_ar_steps_request *request,
				   struct hd_ar_plan **next)
{
	struct hd_ar_plan *plan = move(site, request), *still = NULL;
	struct hd_ar_plan_copy held;

	if (plan || !site->graph)
		return plan;
	assert_int_equal(hd_ar_plan_copy_new(request->held, request->fabric, NULL, &held), 0);
	assert_int_equal(hd_ar_steps_still(request->fabric, held.plan, *next, &still), 0);
	hd_ar_plan_free(held.plan);
	hd_ar_plan_free(*next);
	request->next = *next = still;
	site->still++;
	plan = move(site, request);
	if (!plan)
		drop_graph(site);
	return plan;
}

/* Without steps adaptive routing goes off at one switch after the other, and comes back when the tables have changed.
 * Nothing loops meanwhile. */
static void assert_off(struct site *site, const struct hd_ar_steps_request *request)
{
	struct hd_ar_plan_copy held, off;
	struct hd_ar_steps_request change = *request;
	struct hd_error reason = {""};
	struct hd_ar_proof_request proof = {
	    .fabric = request->fabric, .routes = request->after, .plan = request->next};

	assert_int_equal(hd_ar_plan_copy_new(request->held, request->fabric, NULL, &held), 0);
	assert_int_equal(hd_ar_plan_copy_new(request->held, request->fabric, NULL, &off), 0);
	for (uint32_t sw = 0; sw < request->fabric->switch_count; sw++)
		if (off.switches[sw].used) {
			assert_int_equal(hd_ar_plan_copy_own(&off, sw), 0);
			hd_ar_plan_copy_switch_off(&off, sw);
		}
	const struct held tables[4] = {
	    {(struct hd_routes *)change.before, held.plan},
	    {(struct hd_routes *)change.before, off.plan},
	    {(struct hd_routes *)change.after, off.plan},
	    {(struct hd_routes *)change.after, (struct hd_ar_plan *)change.next}};
	assert_false(mixture_loops(request->fabric, &tables[0], &tables[1]));
	if (!hd_ar_prove(&proof, NULL, NULL, &reason))
		assert_false(mixture_loops(request->fabric, &tables[2], &tables[3]));
	site->off++;
	hd_ar_plan_free(held.plan);
	hd_ar_plan_free(off.plan);
}

/* All in steps, as repairs and sweeps do it. */
static void settle(struct site *site, struct hd_ar_steps_request *request, struct hd_ar_plan **next)
{
	struct hd_ar_plan *plan = move_any(site, request, next);

	if (!plan)
		assert_off(site, request);
	hd_ar_plan_free(plan);
	if (!site->graph)
		return;
	site->quick++;
	CHECK(
	    hd_ar_graph_settle(site->graph, request->fabric, request->after, request->next, &err));
}

/* What switches had on the whole fabric or have now, on another one. NULL: nothing. */
static struct hd_routes *rebase(const struct hd_fabric *was, const struct hd_routes *routes,
				const struct hd_fabric *fabric)
{
	struct hd_routes *rebased = NULL;

	if (routes)
		CHECK(hd_routes_rebase(was, routes, fabric, &rebased, &err));
	return rebased;
}

/* Tables of the engine, or of updown where the fabric is no tree for it; NULL: of neither. With aggregation nodes as the
 * plugin routes: paths that are whole stay or come back. */
static struct hd_routes *any_routes(const struct site *site, const struct hd_fabric *fabric)
{
	const bool stay = site->aggregation && site->routes;
	struct hd_routes *previous = rebase(site->fabric, stay ? site->routes : NULL, fabric);
	struct hd_routes *baseline = rebase(site->whole, stay ? site->baseline : NULL, fabric);
	const struct hd_route_request request = {.fabric = fabric,
						 .previous = previous,
						 .baseline = baseline,
						 .lanes = site->aggregation ? 1 : 0};
	const char *engine = site->hands_over && site->random % 3 == 0 ? "updown" : site->engine;
	struct hd_routes *routes = NULL;

	if (hd_engine_route(hd_engine_find(engine), &request, &routes, NULL) &&
	    hd_engine_route(hd_engine_find("updown"), &request, &routes, NULL))
		routes = NULL;
	hd_routes_free(previous);
	hd_routes_free(baseline);
	return routes;
}

/* Another state of the fabric that can be routed. */
static struct hd_fabric *next_fabric(struct site *site, bool switches, struct hd_routes **routes)
{
	const struct site before = *site;

	for (;;) {
		struct hd_fabric *fabric = change_fabric(site, switches);
		for (unsigned i = site->hands_over ? below(&site->random, 4) : 0; i; i--) {
			hd_fabric_free(fabric);
			fabric = change_fabric(site, switches);
		}
		*routes = any_routes(site, fabric);
		if (*routes)
			return fabric;
		hd_fabric_free(fabric);
		memcpy(site->losses, before.losses, sizeof(site->losses));
		site->lost = before.lost;
	}
}

static struct hd_ar_plan *any_plan(const struct hd_fabric *fabric, const struct hd_routes *routes,
				   const struct hd_ar_plan *previous)
{
	struct hd_ar_plan *plan = NULL;
	const struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .previous = previous, .mode = HD_AR_FREE};

	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	return plan;
}

/* One loss or return. */
static void step(struct site *site, bool switches)
{
	struct hd_routes *after = NULL, *before = NULL;
	struct hd_fabric *fabric = next_fabric(site, switches, &after);
	struct hd_ar_plan *next = any_plan(fabric, after, site->plan);

	CHECK(hd_routes_rebase(site->fabric, site->routes, fabric, &before, &err));
	struct hd_ar_steps_request change = {.fabric = fabric,
					     .before = before,
					     .after = after,
					     .held = site->plan,
					     .next = next,
					     .graph = &site->graph};
	if (site->graph)
		settle(site, &change, &next);
	hd_routes_free(before);
	hd_fabric_free(site->fabric);
	hd_routes_free(site->routes);
	hd_ar_plan_free(site->plan);
	site->fabric = fabric;
	site->routes = after;
	site->plan = next;
	if (site->graph)
		assert_up_to_date(site);
	else
		make_graph(site);
}

static void run(struct site *site, const char *shape, const char *engine, uint64_t seed,
		bool switches)
{
	struct hd_fabric *whole = generate("xgft", shape);

	if (site->aggregation) {
		struct hd_fabric *bare = whole;
		CHECK(hd_fabric_add_aggregation(bare, &whole, &err));
		hd_fabric_free(bare);
	}
	site->whole = whole;
	site->engine = engine;
	site->random = seed;
	site->lost = 0;
	site->routes = NULL; /* nothing is in force */
	CHECK(hd_fabric_without(whole, NULL, 0, HD_NONE, &site->fabric, &err));
	site->baseline = any_routes(site, whole);
	site->routes = any_routes(site, site->fabric);
	site->plan = any_plan(site->fabric, site->routes, NULL);
	make_graph(site);
	for (unsigned i = 0; i < 12; i++)
		step(site, switches);
	hd_ar_graph_free(site->graph);
	hd_ar_plan_free(site->plan);
	hd_routes_free(site->routes);
	hd_routes_free(site->baseline);
	hd_fabric_free(site->fabric);
	hd_fabric_free(whole);
}

static unsigned without_steps(const struct site *site)
{
	const unsigned none = site->loops - site->still;

	print_message(
	    "%u changes by the graph; %u parts without steps to the next plan, %u of them "
	    "without any, %u with new switches; %u times it had to be off\n",
	    site->quick, site->still, none, site->strange, site->off);
	print_message("%u graphs were those from scratch, %u followed LIDs by themselves\n",
		      site->equal, site->by_lid);
	return none;
}

static const char *const shapes[] = {"children=2,3,2 parents=1,3,2", "children=2,2,3 parents=1,2,2",
				     "children=3,4 parents=1,3", "children=2,3,3 parents=1,3,3"};

/* Property: see the top. While anything is programmed, nothing loops, by the oracle. Most changes go the quick
 * way. */
static void follows_changes(void **state)
{
	static const char *const engines[] = {"dmodk", "updown", "dmodk"};
	struct site site = {.quick = 0};

	(void)state;
	for (uint64_t seed = 0; seed < UNDER_SANITIZERS(4, CASES(24, 8)); seed++)
		run(&site, shapes[seed % 4], engines[seed % 3], seed, seed % 2);
	const unsigned none = without_steps(&site);
	assert_true(site.quick > UNDER_SANITIZERS(25, CASES(200, 60)));
	assert_true(site.equal > UNDER_SANITIZERS(20, CASES(150, 50)));
	assert_true(site.by_lid > CASES(10, 0));
	assert_true(site.still > CASES(5, 0));
	assert_true(site.quick > 5 * none);
}

/* Property: the same with an aggregation node on each switch. A switch above the leaves that has lost a cable sends by a
 * leaf then, and most changes go the quick way all the same. */
static void aggregation_nodes(void **state)
{
	struct site site = {.aggregation = true};

	(void)state;
	for (uint64_t seed = 0; seed < UNDER_SANITIZERS(2, CASES(24, 4)); seed++)
		run(&site, shapes[seed % 4], "dmodk", seed, seed % 2);
	const unsigned none = without_steps(&site);
	assert_true(site.quick > 3 * none);
}

/* Property: the same if several parts are lost or come back at once, and another engine routes at times, with aggregation
 * nodes and without. */
static void hands_over(void **state)
{
	(void)state;
	for (unsigned aggregation = 0; aggregation < 2; aggregation++) {
		struct site site = {.aggregation = aggregation, .hands_over = true};
		for (uint64_t seed = 0; seed < UNDER_SANITIZERS(2, CASES(24, 4)); seed++)
			run(&site, shapes[seed % 4], "dmodk", seed, seed % 2);
		const unsigned none = without_steps(&site);
		assert_true(site.quick > none);
		assert_true(site.off || !aggregation || CASES(false, true));
	}
}

/* Property: the same on trees of few switches, where most of what is lost and comes back moves paths of aggregation nodes. */
static void few_switches(void **state)
{
	static const char *const small[] = {
	    "children=1,2,2,2 parents=1,2,2,2", "children=1,3 parents=1,2 parallel=1,2",
	    "children=1,2,3 parents=1,2,2", "children=1,3,2 parents=1,2,3"};
	static const char *const engines[] = {"dmodk", "spf", "updown"};
	struct site site = {.aggregation = true};

	(void)state;
	for (uint64_t seed = 0; seed < CASES(36, 12); seed++)
		run(&site, small[seed / 3 % 4], engines[seed % 3], seed / 12, seed % 2);
	for (uint64_t seed = 4; seed < UNDER_SANITIZERS(5, CASES(12, 8)); seed++)
		run(&site, small[0], "dmodk", seed, seed % 2);
	const unsigned none = without_steps(&site);
	assert_true(site.quick > 3 * none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(follows_changes),
	    cmocka_unit_test(aggregation_nodes),
	    cmocka_unit_test(hands_over),
	    cmocka_unit_test(few_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
