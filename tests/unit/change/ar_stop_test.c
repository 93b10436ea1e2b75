/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans, proofs and steps that are stopped at each of their questions: always -ECANCELED, and nothing lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "change_testing.h"
#include "stopping.h"

#include <heddle/ar_manager/plan.h>
#include <heddle/change/steps.h>

struct making {
	struct tree_change change;
	struct hd_ar_request request;
	struct hd_ar_plan *plan, *expected; /* expected NULL: refused */
	struct hd_ar_steps_request wanted;
	struct hd_ar_steps *steps;
};

/* ---- a plan with its proof ---- */

static int plan_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct making *making = context;

	making->plan = NULL;
	making->request.go_on = *go_on;
	return hd_ar_plan_new(&making->request, &making->plan, NULL, err);
}

static void plan_settle(void *context, int rc)
{
	struct making *making = context;

	assert_int_equal(!rc, making->plan != NULL);
	if (!rc)
		assert_true(hd_ar_plan_equal(making->plan, making->expected));
	hd_ar_plan_free(making->plan);
}

static unsigned attempt(const char *what, struct making *making,
			int (*call)(void *, const struct hd_go_on *, struct hd_error *),
			void (*settle)(void *, int))
{
	return stopping_try(&(struct stopping_case){
	    .what = what, .context = making, .call = call, .settle = settle});
}

/* Makes the plan that is expected, then tries. */
static unsigned attempt_plan(struct making *making)
{
	const struct hd_go_on always = {0};

	assert_int_equal(plan_call(making, &always, NULL), 0);
	making->expected = making->plan;
	const unsigned count = attempt("a plan", making, plan_call, plan_settle);
	hd_ar_plan_free(making->expected);
	return count;
}

/* Property: plans of all algorithms, on tables with one lane and with several. They ask for each 8 switches
 * and destinations: in planning, in the preparation of the proof, and in the proof. */
static void plans(void **state)
{
	static const struct {
		const char *kind, *settings, *engine;
		enum hd_ar_algorithm algorithm;
	} cases[] = {{"xgft", "children=4,4,4 parents=1,4,4", "dmodk", HD_AR_TREE},
		     {"xgft", "children=4,4,4 parents=1,4,4", "dmodk", HD_AR_AUTO},
		     {"torus", "dims=4,4 hosts=1", "spf", HD_AR_LAG}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (unsigned threads = 1; threads <= 3; threads += 2) {
			struct hd_fabric *fabric = generate(cases[i].kind, cases[i].settings);
			struct hd_routes *routes = route(cases[i].engine, fabric);
			struct making making = {.request = {.fabric = fabric,
							    .routes = routes,
							    .algorithm = cases[i].algorithm,
							    .mode = HD_AR_FREE,
							    .threads = threads}};
			assert_true(attempt_plan(&making) > 2 * fabric->switch_count / 8);
			hd_routes_free(routes);
			hd_fabric_free(fabric);
		}
}

/* Property: where groups lose links, so that other senders than hosts close no loop. */
static void plans_with_cuts(void **state)
{
	struct hd_fabric *bare = damaged(generate("xgft", "children=2,3,3 parents=1,2,3"), 15, 1);
	struct hd_fabric *fabric = NULL;

	(void)state;
	CHECK(hd_fabric_add_aggregation(bare, &fabric, &err));
	struct hd_routes *routes = route("spf", fabric);
	struct making making = {
	    .request = {
		.fabric = fabric, .routes = routes, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE}};
	assert_true(attempt_plan(&making) > 2 * fabric->lid_count / 2);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	hd_fabric_free(bare);
}

/* Property: with private tables. */
static void private_tables(void **state)
{
	struct hd_fabric *fabric =
	    generate("dragonfly-plus", "islands=3 leaves=2 spines=2 hosts=1 global-links=1");
	struct hd_routes *routes = route("dfp", fabric);
	struct making making = {
	    .request = {
		.fabric = fabric, .routes = routes, .algorithm = HD_AR_DFP, .mode = HD_AR_FREE}};

	(void)state;
	assert_true(attempt_plan(&making) > 4);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* ---- steps ---- */

static int check_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	const struct making *making = context;
	uint64_t wrong;

	return hd_ar_plan_check(making->change.next, making->change.is, making->change.after, go_on,
				&wrong, err);
}

static void settle_nothing(void *context, int rc)
{
	(void)context;
	(void)rc;
}

static int steps_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct making *making = context;

	making->steps = NULL;
	making->wanted.go_on = *go_on;
	return hd_ar_steps_new(&making->wanted, &making->steps, err);
}

static void steps_settle(void *context, int rc)
{
	struct making *making = context;

	assert_int_equal(!rc, making->steps != NULL);
	hd_ar_steps_free(making->steps);
}

/* Steps that are made as a whole, and stopped in what comes then: a relay, since they keep the request. */
static struct hd_go_on relay;

static bool pass_on(void *context)
{
	(void)context;
	return hd_go_on_ask(&relay);
}

static int prove_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	const struct hd_go_on passing = {pass_on, NULL};

	relay = (struct hd_go_on){0};
	assert_int_equal(steps_call(context, &passing, err), 0);
	relay = *go_on;
	return hd_ar_steps_prove(((struct making *)context)->steps, err);
}

static void prove_settle(void *context, int rc)
{
	struct making *making = context;

	(void)rc;
	hd_ar_steps_free(making->steps);
}

/* What switches hold after the first step. */
static int state_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct making *making = context;
	const struct hd_go_on passing = {pass_on, NULL};
	struct hd_ar_plan *plan = NULL;
	struct hd_routes *routes = NULL;

	relay = (struct hd_go_on){0};
	assert_int_equal(steps_call(context, &passing, err), 0);
	relay = *go_on;
	int rc = hd_ar_steps_plan(making->steps, 0, &plan);
	assert_int_equal(!rc, plan != NULL);
	if (!rc)
		rc = hd_ar_steps_routes(making->steps, 0, &routes);
	assert_int_equal(!rc, routes != NULL);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	return rc == -ECANCELED ? hd_go_on_stopped(err) : rc;
}

/* Property: steps, their proof, and the plan of a step. There is a question for each LID and each switch. */
static void steps(void **state)
{
	struct making making = {.change = make_change("children=3,3,3 parents=1,3,3", 0, 5)};
	const struct tree_change *change = &making.change;

	(void)state;
	for (unsigned threads = 1; threads <= 3; threads += 2) {
		making.wanted = (struct hd_ar_steps_request){.fabric = change->is,
							     .before = change->before,
							     .after = change->after,
							     .held = change->plan,
							     .next = change->next,
							     .threads = threads};
		assert_true(attempt("check", &making, check_call, settle_nothing) ==
			    3 * change->is->switch_count);
		assert_true(attempt("steps", &making, steps_call, steps_settle) >=
			    change->is->host_count + change->is->switch_count);
		assert_true(attempt("proof", &making, prove_call, prove_settle) >
			    change->is->switch_count);
		assert_true(attempt("a step", &making, state_call, prove_settle) >
			    change->is->switch_count);
	}
	free_change(&making.change);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plans), cmocka_unit_test(plans_with_cuts),
	    cmocka_unit_test(private_tables), cmocka_unit_test(steps)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
