/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans and proofs with each of their allocations failing in turn: always -ENOMEM, never another
 * plan. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ar_testing.h"

#include "short_memory.h"

struct planning {
	struct hd_ar_request request;
	const struct hd_ar_plan *expected; /* NULL: the plan is refused */
	struct hd_ar_plan *plan;
	struct hd_ar_loop *loop;
};

static int plan_call(void *context, struct hd_error *err)
{
	struct planning *planning = context;

	planning->plan = NULL;
	planning->loop = NULL;
	return hd_ar_plan_new(&planning->request, &planning->plan, &planning->loop, err);
}

static void plan_settle(void *context, int rc)
{
	struct planning *planning = context;

	assert_int_equal(!rc, planning->plan != NULL);
	assert_int_equal(rc == -ELOOP, planning->loop != NULL);
	if (!rc)
		assert_same_plan(planning->plan, planning->expected, true);
	hd_ar_plan_free(planning->plan);
	hd_ar_loop_free(planning->loop);
}

static void try_plan(const char *what, const struct hd_ar_request *request, int expected)
{
	struct planning planning = {.request = *request};
	struct hd_ar_plan *plan = NULL;

	assert_int_equal(hd_ar_plan_new(request, &plan, NULL, NULL), expected);
	planning.expected = plan;
	struct short_memory_case tried = {what, &planning, plan_call, plan_settle, expected};
	assert_true(short_memory_try(&tried) > 5);
	hd_ar_plan_free(plan);
}

/* Property: plans of every algorithm, refused and not, with and without a plan in force. */
static void plans(void **state)
{
	struct hd_fabric *tree = generate("xgft", "children=2,3,2 parents=1,2,2");
	struct hd_fabric *torus = generate("torus", "dims=4,4 hosts=1 parallel=2");
	struct hd_routes *tree_routes = route("dmodk", tree), *torus_routes = route("spf", torus);
	struct hd_ar_request request = {
	    .fabric = tree, .routes = tree_routes, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	struct hd_ar_plan *before = NULL;

	(void)state;
	try_plan("tree", &request, 0);
	CHECK(hd_ar_plan_new(&request, &before, NULL, &err));
	request.previous = before;
	request.algorithm = HD_AR_LAG;
	try_plan("lag after tree", &request, 0);
	request.algorithm = HD_AR_AUTO;
	try_plan("auto", &request, 0);
	request = (struct hd_ar_request){
	    .fabric = torus, .routes = torus_routes, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	try_plan("tree on a torus", &request, -ELOOP);
	struct hd_fabric *islands =
	    generate("dragonfly-plus", "islands=3 leaves=2 spines=2 hosts=1 global-links=1");
	struct hd_routes *island_routes = route("dfp", islands);
	request = (struct hd_ar_request){
	    .fabric = islands, .routes = island_routes, .algorithm = HD_AR_DFP, .mode = HD_AR_FREE};
	try_plan("dfp", &request, 0);
	hd_routes_free(island_routes);
	hd_fabric_free(islands);
	hd_ar_plan_free(before);
	hd_routes_free(torus_routes);
	hd_routes_free(tree_routes);
	hd_fabric_free(torus);
	hd_fabric_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
