/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Repairs that are stopped at each of their questions: always -ECANCELED, and nothing lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "stopping.h"

#include <heddle/change/repair.h>
#include <heddle/change/repair_mfts.h>
#include <heddle/engines.h>
#include <stdlib.h>

struct trying {
	struct hd_fabric *fabric, *damaged;
	struct hd_routes *in_place, *repaired, *got;
	unsigned threads;
	struct hd_repair_base *base;
	struct hd_repair_plan *plan, *expected;
};

static int base_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct trying *trying = context;

	trying->base = NULL;
	return hd_repair_base_new(trying->fabric, trying->in_place, trying->threads, go_on,
				  &trying->base, err);
}

static void base_settle(void *context, int rc)
{
	struct trying *trying = context;

	assert_int_equal(!rc, trying->base != NULL);
	hd_repair_base_free(trying->base);
}

static int take_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct trying *trying = context;

	assert_int_equal(base_call(context, NULL, err), 0);
	return hd_repair_base_take(trying->base, trying->in_place, trying->repaired, go_on, err);
}

/* A base that has taken some LIDs in is whole: it can take in the rest. */
static void take_settle(void *context, int rc)
{
	struct trying *trying = context;

	if (rc)
		assert_int_equal(hd_repair_base_take(trying->base, trying->in_place,
						     trying->repaired, NULL, NULL),
				 0);
	hd_repair_base_free(trying->base);
}

static int plan_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct trying *trying = context;

	trying->plan = NULL;
	trying->got = hd_routes_copy(trying->repaired);
	assert_non_null(trying->got);
	assert_int_equal(base_call(context, NULL, err), 0);
	return hd_repair_plan_new(trying->base, trying->in_place, trying->damaged, trying->got,
				  go_on, &trying->plan, err);
}

static void assert_same_plan(const struct hd_repair_plan *got,
			     const struct hd_repair_plan *expected)
{
	assert_int_equal(got->entries, expected->entries);
	assert_int_equal(got->steps, expected->steps);
	assert_int_equal(got->write_count, expected->write_count);
	assert_memory_equal(got->writes, expected->writes, got->write_count * sizeof(*got->writes));
}

/* The base can plan again after a plan that was stopped. */
static void plan_settle(void *context, int rc)
{
	struct trying *trying = context;

	assert_int_equal(!rc, trying->plan != NULL);
	if (rc)
		assert_int_equal(hd_repair_plan_new(trying->base, trying->in_place, trying->damaged,
						    trying->got, NULL, &trying->plan, NULL),
				 0);
	if (trying->expected)
		assert_same_plan(trying->plan, trying->expected);
	hd_repair_plan_free(trying->plan);
	hd_repair_base_free(trying->base);
	hd_routes_free(trying->got);
}

static struct hd_routes *route(const struct hd_fabric *fabric, const struct hd_routes *previous)
{
	struct hd_routes *routes = NULL;

	assert_int_equal(
	    hd_engine_route(hd_engine_find("dmodk"),
			    &(struct hd_route_request){.fabric = fabric, .previous = previous},
			    &routes, NULL),
	    0);
	return routes;
}

static unsigned attempt(const char *what, struct trying *trying,
			int (*call)(void *, const struct hd_go_on *, struct hd_error *),
			void (*settle)(void *, int))
{
	return stopping_try(&(struct stopping_case){
	    .what = what, .context = trying, .call = call, .settle = settle});
}

static struct hd_fabric *lose_link(const struct hd_fabric *fabric, uint32_t link)
{
	const struct hd_fabric_change loss = {
	    .lost = true,
	    .cable = true,
	    .index = hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link])};
	struct hd_fabric *damaged = NULL;

	assert_int_equal(hd_fabric_without(fabric, &loss, 1, HD_NONE, &damaged, NULL), 0);
	return damaged;
}

/* Property: the base, other tables in it, and a plan. Each is stopped at least once for each LID that
 * changes. */
static void repairs(void **state)
{
	struct trying trying = {.fabric = generate("xgft", "children=3,3,3 parents=1,3,3")};

	(void)state;
	trying.in_place = route(trying.fabric, NULL);
	trying.damaged = lose_link(trying.fabric, trying.fabric->isl_count / 2);
	trying.repaired = route(trying.damaged, trying.in_place);
	assert_int_equal(plan_call(&trying, NULL, NULL), 0);
	struct hd_repair_plan *expected = trying.plan;
	hd_repair_base_free(trying.base);
	hd_routes_free(trying.got);
	for (trying.threads = 1; trying.threads <= 3; trying.threads += 2) {
		assert_true(attempt("the base", &trying, base_call, base_settle) > 1);
		assert_true(attempt("other tables", &trying, take_call, take_settle) >=
			    expected->lids);
		trying.expected = expected;
		assert_true(attempt("a plan", &trying, plan_call, plan_settle) > expected->lids);
		trying.expected = NULL;
	}
	hd_repair_plan_free(expected);
	hd_routes_free(trying.in_place);
	hd_routes_free(trying.repaired);
	hd_fabric_free(trying.damaged);
	hd_fabric_free(trying.fabric);
}

/* ---- multicast ---- */

#define GROUPS 40u

struct trees {
	struct hd_repair_mfts_request request;
	struct hd_repair_mfts *plan;
	uint32_t expected; /* writes */
};

static int trees_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct trees *trees = context;

	trees->plan = NULL;
	trees->request.go_on = *go_on;
	return hd_repair_mfts_plan(&trees->request, &trees->plan, err);
}

static void trees_settle(void *context, int rc)
{
	struct trees *trees = context;

	assert_int_equal(!rc, trees->plan != NULL);
	if (!rc)
		assert_int_equal(trees->plan->write_count, trees->expected);
	hd_repair_mfts_free(trees->plan);
}

/* Property: a plan for trees is stopped for each group and for each block. Here groups lose their
 * only entry, so that all of them change. */
static void multicast(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,2 parents=1,2");
	struct hd_mft_entry before[GROUPS];
	uint32_t mlids[GROUPS];

	(void)state;
	for (uint32_t i = 0; i < GROUPS; i++) {
		mlids[i] = HD_MLID_FIRST + i;
		before[i] = (struct hd_mft_entry){.mlid = mlids[i], .sw = 1};
		hd_port_set_add(&before[i].ports, 0);
	}
	const struct hd_mfts in_place = {.entries = before, .count = GROUPS};
	const struct hd_mfts repaired = {.count = 0};
	struct trees trees = {.request = {.fabric = fabric,
					  .damaged = fabric,
					  .in_place = &in_place,
					  .repaired = &repaired,
					  .mlids = mlids,
					  .group_count = GROUPS},
			      .expected = 2};
	assert_int_equal(
	    stopping_try(&(struct stopping_case){
		.what = "trees", .context = &trees, .call = trees_call, .settle = trees_settle}),
	    GROUPS + 2);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(repairs), cmocka_unit_test(multicast)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
