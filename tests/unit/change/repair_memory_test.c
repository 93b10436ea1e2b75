/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Repairs with each allocation failing in turn: always -ENOMEM, and nothing lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "short_memory.h"

#include <heddle/change/repair.h>
#include <heddle/change/repair_mfts.h>
#include <heddle/engines.h>
#include <heddle/engines/multicast.h>

struct trying {
	struct hd_fabric *fabric, *damaged, *got;
	struct hd_routes *in_place, *repaired;
	struct hd_fabric_change loss;
	struct hd_repair_base *base;
	struct hd_repair_plan *plan;
	uint32_t lid;
};

static int fabric_call(void *context, struct hd_error *err)
{
	struct trying *trying = context;

	trying->got = NULL;
	return hd_fabric_without(trying->fabric, &trying->loss, 1,
				 trying->fabric->port_node[trying->fabric->host_port[0]],
				 &trying->got, err);
}

static void fabric_settle(void *context, int rc)
{
	struct trying *trying = context;

	assert_int_equal(!rc, trying->got != NULL);
	hd_fabric_free(trying->got);
}

static int base_call(void *context, struct hd_error *err)
{
	struct trying *trying = context;

	trying->base = NULL;
	return hd_repair_base_new(trying->fabric, trying->in_place, 1, NULL, &trying->base, err);
}

static void base_settle(void *context, int rc)
{
	struct trying *trying = context;

	assert_int_equal(!rc, trying->base != NULL);
	hd_repair_base_free(trying->base);
	trying->base = NULL;
}

static int plan_call(void *context, struct hd_error *err)
{
	struct trying *trying = context;

	trying->plan = NULL;
	return hd_repair_plan_new(trying->base, trying->in_place, trying->damaged, trying->repaired,
				  NULL, &trying->plan, err);
}

static void plan_settle(void *context, int rc)
{
	struct trying *trying = context;

	assert_int_equal(!rc, trying->plan != NULL);
	if (trying->plan)
		assert_true(trying->plan->entries > 0);
	hd_repair_plan_free(trying->plan);
}

static int loop_call(void *context, struct hd_error *err)
{
	struct trying *trying = context;

	return hd_repair_find_loop(trying->fabric, trying->in_place, trying->damaged, trying->plan,
				   &trying->lid, err);
}

static void loop_settle(void *context, int rc)
{
	struct trying *trying = context;

	if (!rc)
		assert_int_equal(trying->lid, 0);
}

/* ---- multicast ---- */

#define MLID (HD_MLID_FIRST + 5)

struct trying_mfts {
	struct hd_repair_mfts_request request;
	struct hd_repair_mfts *plan;
	struct hd_repair_mfts_group group;
	enum hd_repair_mfts_verdict verdict;
};

static int mfts_call(void *context, struct hd_error *err)
{
	struct trying_mfts *trying = context;

	trying->plan = NULL;
	return hd_repair_mfts_plan(&trying->request, &trying->plan, err);
}

static void mfts_settle(void *context, int rc)
{
	struct trying_mfts *trying = context;

	assert_int_equal(!rc, trying->plan != NULL);
	if (!rc)
		assert_true(trying->plan->hit == 1);
	hd_repair_mfts_free(trying->plan);
}

static int follow_call(void *context, struct hd_error *err)
{
	struct trying_mfts *trying = context;

	return hd_repair_mfts_follow(&trying->request, trying->plan, &trying->group,
				     &trying->verdict, err);
}

static void follow_settle(void *context, int rc)
{
	struct trying_mfts *trying = context;

	if (!rc)
		assert_int_equal(trying->verdict, HD_REPAIR_MFTS_SOUND);
}

/* The entries of the group of all hosts. */
static struct hd_mfts *trees(const struct hd_fabric *fabric)
{
	struct hd_mfts *mfts = calloc(1, sizeof(*mfts));
	struct hd_multicast *multicast = NULL;
	struct hd_multicast_tree *tree = NULL;
	struct hd_error err;

	assert_int_equal(hd_multicast_new(fabric, NULL, &multicast, &err), 0);
	assert_int_equal(hd_multicast_plan(multicast,
					   &(struct hd_multicast_group){
					       fabric->host_port, fabric->host_count, HD_NONE},
					   &tree, &err),
			 0);
	mfts->entries = calloc(tree->branch_count, sizeof(*mfts->entries));
	for (uint32_t i = 0; i < tree->branch_count; i++)
		mfts->entries[mfts->count++] =
		    (struct hd_mft_entry){MLID, tree->branches[i].sw, tree->branches[i].ports};
	hd_mfts_sort(mfts);
	free(tree);
	hd_multicast_free(multicast);
	return mfts;
}

/* A cable that the group uses. */
static struct hd_fabric_change used_cable(const struct hd_fabric *fabric,
					  const struct hd_mfts *mfts)
{
	struct hd_fabric_change loss = {.lost = true, .cable = true};

	HD_PORT_SET_FOREACH(port, &mfts->entries[0].ports)
		if (hd_fabric_find_isl(fabric, mfts->entries[0].sw, port) != HD_NONE)
			loss.index = hd_port_index(fabric, mfts->entries[0].sw, port);
	assert_true(loss.index != 0);
	return loss;
}

/* Property: a plan for multicast tables, and the walk through it. */
static void multicast_repairs(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=3,3,3 parents=1,3,3"), *damaged;
	struct hd_mfts *in_place = trees(fabric), *repaired;
	const struct hd_fabric_change loss = used_cable(fabric, in_place);
	const uint32_t mlid = MLID;
	struct hd_error err;

	(void)state;
	assert_int_equal(hd_fabric_without(fabric, &loss, 1, HD_NONE, &damaged, &err), 0);
	repaired = trees(damaged);
	struct trying_mfts trying = {
	    .request = {fabric, damaged, in_place, repaired, &mlid, 1},
	    .group = {MLID, fabric->host_port, fabric->host_count},
	};
	struct short_memory_case tried = {.what = "a plan for multicast tables",
					  .context = &trying,
					  .call = mfts_call,
					  .settle = mfts_settle};
	assert_true(short_memory_try(&tried) > 3);
	assert_int_equal(mfts_call(&trying, &err), 0);
	tried.what = "the walk through it";
	tried.call = follow_call;
	tried.settle = follow_settle;
	assert_true(short_memory_try(&tried) > 3);
	hd_repair_mfts_free(trying.plan);
	hd_mfts_free(repaired);
	hd_mfts_free(in_place);
	hd_fabric_free(damaged);
	hd_fabric_free(fabric);
}

/* ---- forwarding tables ---- */

static struct hd_routes *route(const struct hd_fabric *fabric, const struct hd_routes *previous)
{
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	if (hd_engine_route(hd_engine_find("dmodk"),
			    &(struct hd_route_request){.fabric = fabric, .previous = previous},
			    &routes, &err))
		fail_msg("%s", err.text);
	return routes;
}

static void attempt(const char *what, struct trying *trying, int (*call)(void *, struct hd_error *),
		    void (*settle)(void *, int))
{
	assert_true(short_memory_try(&(struct short_memory_case){
			.what = what, .context = trying, .call = call, .settle = settle}) > 0);
}

/* Property: the fabric that is left, the base, a plan and the search for loops. */
static void repairs(void **state)
{
	struct trying trying = {.fabric = generate("xgft", "children=3,3,3 parents=1,3,3")};
	const struct hd_fabric *fabric = trying.fabric;
	const uint32_t link = fabric->isl_count / 2;
	struct hd_error err;

	(void)state;
	trying.loss = (struct hd_fabric_change){
	    .lost = true,
	    .cable = true,
	    .index = hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link])};
	trying.in_place = route(fabric, NULL);
	attempt("the fabric that is left", &trying, fabric_call, fabric_settle);
	assert_int_equal(fabric_call(&trying, &err), 0);
	trying.damaged = trying.got;
	trying.repaired = route(trying.damaged, trying.in_place);
	attempt("the base", &trying, base_call, base_settle);
	assert_int_equal(base_call(&trying, &err), 0);
	attempt("a plan", &trying, plan_call, plan_settle);
	assert_int_equal(plan_call(&trying, &err), 0);
	attempt("the search for loops", &trying, loop_call, loop_settle);
	hd_repair_plan_free(trying.plan);
	hd_repair_base_free(trying.base);
	hd_routes_free(trying.in_place);
	hd_routes_free(trying.repaired);
	hd_fabric_free(trying.damaged);
	hd_fabric_free(trying.fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(repairs),
					   cmocka_unit_test(multicast_repairs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
