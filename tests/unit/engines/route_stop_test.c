/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every engine, stopped at each of its questions whether to go on: it says that it was stopped, gives no
 * other reason, and (under the address sanitizer) leaks nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cases.h"
#include "engines_testing.h"
#include "stopping.h"

#include <heddle/engines/lanes.h>
#include <heddle/engines/multicast.h>
#include <stdlib.h>

struct trial {
	const struct hd_engine *engine;
	struct hd_route_request request;
	struct hd_routes *expected; /* NULL: the engine refuses */
	struct hd_routes *routes;
};

static int route_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct trial *trial = context;

	trial->routes = NULL;
	trial->request.go_on = go_on ? *go_on : (struct hd_go_on){0};
	return hd_engine_route(trial->engine, &trial->request, &trial->routes, err);
}

static void route_settle(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->routes != NULL);
	if (!rc)
		assert_true(hd_routes_equal(trial->routes, trial->expected));
	hd_routes_free(trial->routes);
}

/* Returns how often the engine asked. */
static unsigned try_engine(const struct hd_engine *engine, const struct hd_route_request *request)
{
	struct trial trial = {.engine = engine, .request = *request};
	int rc = route_call(&trial, NULL, NULL);

	trial.expected = trial.routes;
	const unsigned count = stopping_try(&(struct stopping_case){.what = engine->name,
								    .context = &trial,
								    .call = route_call,
								    .settle = route_settle,
								    .expected = rc});
	hd_routes_free(trial.expected);
	return count;
}

#define FEWEST_THREADS UNDER_TSAN(3u, 1u)

/* Afresh, and without a link with the tables before as those in place, on one and on three threads. */
static void try_fabric(struct hd_fabric *fabric)
{
	struct hd_fabric *damaged = NULL;
	unsigned count;
	const struct hd_engine *const *engines = hd_engines(&count);

	assert_int_equal(variants_without_link(fabric, 5, &damaged, NULL), 0);
	for (unsigned i = 0; i < count; i++)
		for (unsigned threads = FEWEST_THREADS; threads <= 3; threads += 2) {
			struct hd_routes *previous = NULL;
			struct hd_route_request request = {.fabric = fabric, .threads = threads};
			assert_true(try_engine(engines[i], &request) > 0);
			if (hd_engine_route(engines[i], &request, &previous, NULL))
				continue;
			request.fabric = damaged;
			request.previous = request.baseline = previous;
			assert_true(try_engine(engines[i], &request) > 0);
			hd_routes_free(previous);
		}
	hd_fabric_free(damaged);
	hd_fabric_free(fabric);
}

#define TREE "children=3,2,2 parents=1,2,2"

/* Property: on fabrics of all kinds. */
static void fabrics_of_all_kinds(void **state)
{
	(void)state;
	try_fabric(generate("xgft", TREE));
	try_fabric(with_lmc(generate("xgft", TREE), 1));
	try_fabric(without_link(generate("xgft", TREE), 7));
	try_fabric(with_aggregation(generate("xgft", TREE)));
	try_fabric(generate("torus", "dims=4,4 hosts=1"));
	try_fabric(generate("irregular", "switches=8 radix=8 hosts=2 seed=3 cycles=3"));
}

/* ---- how long an engine goes on without a question ---- */

/* Property: the engines that are mostly used ask for every few switches or destinations, so that a repair in
 * a large fabric ends soon: at least once for each 16 switches. */
static void questions_of_a_repair(void **state)
{
	static const char *const names[] = {"dmodk", "spf", "updown"};
	struct hd_fabric *fabric = generate("xgft", "children=4,12,12 parents=1,12,12"), *damaged;

	(void)state;
	assert_int_equal(variants_without_link(fabric, 5, &damaged, NULL), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct hd_engine *engine = hd_engine_find(names[i]);
		struct stopping stopping = {.most = UINT_MAX};
		struct hd_routes *previous = NULL, *repaired = NULL;
		struct hd_route_request request = {.fabric = fabric};
		assert_int_equal(hd_engine_route(engine, &request, &previous, NULL), 0);
		request = (struct hd_route_request){.fabric = damaged,
						    .previous = previous,
						    .baseline = previous,
						    .go_on = {stopping_ask, &stopping}};
		assert_int_equal(hd_engine_route(engine, &request, &repaired, NULL), 0);
		assert_true(atomic_load(&stopping.asked) >= damaged->switch_count / 16);
		hd_routes_free(repaired);
		hd_routes_free(previous);
	}
	hd_fabric_free(damaged);
	hd_fabric_free(fabric);
}

/* ---- multicast ---- */

struct planning {
	struct hd_multicast *planner;
	struct hd_multicast_group group;
	struct hd_multicast_tree *tree;
	uint32_t branches;
};

static int plan_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct planning *planning = context;

	planning->tree = NULL;
	hd_multicast_set_go_on(planning->planner, go_on);
	return hd_multicast_plan(planning->planner, &planning->group, &planning->tree, err);
}

static void plan_settle(void *context, int rc)
{
	struct planning *planning = context;

	assert_int_equal(!rc, planning->tree != NULL);
	if (!rc)
		assert_int_equal(planning->tree->branch_count, planning->branches);
	free(planning->tree);
}

/* Property: the planner can be used again after a tree that was stopped. */
static void trees(void **state)
{
	struct hd_fabric *fabric = generate("xgft", TREE);
	struct planning planning = {.group = {fabric->host_port, fabric->host_count, HD_NONE}};
	const struct hd_go_on always = {0};

	(void)state;
	assert_int_equal(hd_multicast_new(fabric, NULL, &planning.planner, NULL), 0);
	assert_int_equal(plan_call(&planning, &always, NULL), 0);
	planning.branches = planning.tree->branch_count;
	plan_settle(&planning, 0);
	assert_true(
	    stopping_try(&(struct stopping_case){
		.what = "a tree", .context = &planning, .call = plan_call, .settle = plan_settle}) >
	    4);
	hd_multicast_free(planning.planner);
	hd_fabric_free(fabric);
}

/* ---- lanes ---- */

struct assigning {
	struct hd_lanes_request request;
	struct hd_routes *given, *routes, *expected;
};

static int assign_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct assigning *assigning = context;
	struct hd_lanes lanes;

	assigning->routes = hd_routes_copy(assigning->given);
	assert_non_null(assigning->routes);
	assigning->request.go_on = *go_on;
	return hd_lanes_assign(&assigning->request, assigning->routes, &lanes, err);
}

static void assign_settle(void *context, int rc)
{
	struct assigning *assigning = context;

	assert_true(
	    hd_routes_equal(assigning->routes, rc ? assigning->given : assigning->expected));
	hd_routes_free(assigning->routes);
}

/* Property: the tables are as before where lanes were not assigned to the end. */
static void lanes(void **state)
{
	struct hd_fabric *fabric = generate("torus", "dims=4,4 hosts=1");
	struct hd_options *options = hd_engine_options(hd_engine_find("spf"));
	const struct hd_route_request request = {.fabric = fabric, .options = options};
	struct assigning assigning = {.request = {.fabric = fabric, .available = 8}};

	(void)state;
	assert_int_equal(hd_options_set(options, "deadlock", "off", NULL), 0);
	assert_int_equal(hd_engine_route(hd_engine_find("spf"), &request, &assigning.given, NULL),
			 0);
	assert_int_equal(assign_call(&assigning, &request.go_on, NULL), 0);
	assigning.expected = assigning.routes;
	assert_true(stopping_try(&(struct stopping_case){.what = "lanes",
							 .context = &assigning,
							 .call = assign_call,
							 .settle = assign_settle}) >=
		    fabric->host_count);
	hd_routes_free(assigning.given);
	hd_routes_free(assigning.expected);
	hd_options_free(options);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(fabrics_of_all_kinds),
					   cmocka_unit_test(questions_of_a_repair),
					   cmocka_unit_test(trees), cmocka_unit_test(lanes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
