/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans and proofs with each of their allocations failing in turn: always -ENOMEM, never another
 * plan. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "directors_testing.h"
#include "program_testing.h"

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
	try_plan("tree after tree", &request, 0);
	struct hd_fabric *less = damaged(generate("xgft", "children=2,3,2 parents=1,2,2"), 5, 1);
	struct hd_routes *less_routes = route("dmodk", less);
	request.fabric = less;
	request.routes = less_routes;
	try_plan("tree after tree, without some cables", &request, 0);
	request.fabric = tree;
	request.routes = tree_routes;
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
	hd_routes_free(less_routes);
	hd_fabric_free(less);
	hd_routes_free(torus_routes);
	hd_routes_free(tree_routes);
	hd_fabric_free(torus);
	hd_fabric_free(tree);
}

/* Property: also on directors, and on a fabric that is a tree only in part, with notes. */
static void plans_in_part(void **state)
{
	static const struct directors shapes[] = {
	    {.count = 1, .lines = 4, .spines = 2, .leaves = 5, .uplinks = 2, .hosts = 1},
	    {.count = 2, .lines = 3, .spines = 2, .trunks = 3, .direct = 1}};
	struct hd_ar_notes notes;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct hd_fabric *fabric = directors_build(&shapes[i % 2]);
		struct hd_routes *routes = route(i < 2 ? "updown" : "spf", fabric);
		const struct hd_ar_request request = {.fabric = fabric,
						      .routes = routes,
						      .algorithm = HD_AR_AUTO,
						      .mode = HD_AR_FREE,
						      .notes = &notes};
		try_plan("directors", &request, 0);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Property: also where groups lose links, so that other senders than hosts close no loop. */
static void plans_with_cuts(void **state)
{
	struct hd_fabric *bare =
	    damaged(generate("xgft", "children=2,4 parents=1,3 parallel=1,2"), 25, 6);
	struct hd_fabric *tree = NULL;
	struct hd_ar_plan *plan = NULL;

	(void)state;
	CHECK(hd_fabric_add_aggregation(bare, &tree, &err));
	struct hd_routes *routes = route("spf", tree);
	struct hd_ar_request request = {
	    .fabric = tree, .routes = routes, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	try_plan("tree with cuts", &request, 0);
	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	assert_int_equal(plan->adaptive, 38); /* 40 by the definition of TREE */
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(tree);
	hd_fabric_free(bare);
}

/* ---- what follows a plan ---- */

struct after_plan {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_ar_plan *plan;
	struct hd_ar_fairness *fairness;
	struct hd_ar_image *want, *held;
	struct hd_ar_changes *unknown, *changes;
	struct hd_arena arena;
	struct hd_ar_bridged bridged[64];
};

static int fairness_call(void *context, struct hd_error *err)
{
	struct after_plan *after = context;

	after->fairness = NULL;
	return hd_ar_fairness_new(after->fabric, after->routes, after->plan, &after->fairness, err);
}

static void fairness_settle(void *context, int rc)
{
	struct after_plan *after = context;

	assert_int_equal(!rc, after->fairness != NULL);
	hd_ar_fairness_free(after->fairness);
}

static int diff_call(void *context, struct hd_error *err)
{
	const struct hd_ar_info info = {.group_cap = 10, .sub_grps_supported = 1};
	struct after_plan *after = context;

	after->want = after->held = NULL;
	after->unknown = after->changes = NULL;
	int rc = hd_ar_image_of_plan(after->plan, 0, &hd_ar_settings_default, &hd_ar_quirks_default,
				     &info, &after->want);
	if (!rc)
		rc = hd_ar_image_like(after->want, NULL, &after->held);
	if (!rc)
		rc = hd_ar_unknown(after->want, after->held, &after->unknown);
	if (!rc)
		rc = hd_ar_diff(after->want, after->held, HD_AR_GROUPS_FIRST, &after->changes);
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}

static void diff_settle(void *context, int rc)
{
	struct after_plan *after = context;

	assert_int_equal(!rc, after->changes != NULL);
	hd_ar_changes_free(after->changes);
	hd_ar_changes_free(after->unknown);
	hd_ar_image_free(after->held);
	hd_ar_image_free(after->want);
}

static int recovery_call(void *context, struct hd_error *err)
{
	struct after_plan *after = context;
	const struct hd_ar_recovery_request request = {
	    .fabric = after->fabric, .routes = after->routes, .plan = after->plan};
	struct hd_ar_losses losses;
	uint64_t pairs;
	int rc = hd_ar_recovery_prove(&request, false, err);

	if (!rc && (hd_ar_losses_single(after->fabric, &after->arena, &losses) ||
		    hd_ar_losses_sample(after->fabric, 64, 2, 1, &after->arena, &losses)))
		rc = hd_error_no_memory(err);
	return rc ? rc : hd_ar_recovery_bridge(&request, &losses, after->bridged, &pairs, err);
}

static void recovery_settle(void *context, int rc)
{
	struct after_plan *after = context;

	(void)rc;
	hd_arena_release(&after->arena);
}

/* Property: fairness, images and differences, and fast recovery. */
static void after_a_plan(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,3,2 parents=1,2,2");
	struct hd_routes *routes = route("dmodk", fabric);
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;

	(void)state;
	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	struct after_plan after = {.fabric = fabric, .routes = routes, .plan = plan};
	const struct short_memory_case cases[] = {
	    {"fairness", &after, fairness_call, fairness_settle, 0},
	    {"difference", &after, diff_call, diff_settle, 0},
	    {"fast recovery", &after, recovery_call, recovery_settle, 0},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(short_memory_try(&cases[i]) > 2);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static int legacy_call(void *context, struct hd_error *err)
{
	const char content[] = "ENABLE: true\nSWITCH 0x1 { ENABLE: false }\nSWITCH 0x2 { }\n";
	const struct hd_text text = {
	    .bytes = content, .length = sizeof(content) - 1, .name = "ar_mgr.conf"};
	struct hd_ar_config *config = context;

	*config = (struct hd_ar_config){.enable = false};
	return hd_ar_legacy_parse(&text, NULL, config, err);
}

static void legacy_settle(void *context, int rc)
{
	struct hd_ar_config *config = context;

	assert_int_equal(config->enable, !rc);
	assert_int_equal(config->switch_count, rc ? 0 : 2);
	hd_ar_config_release(config);
}

/* Property: the vendor's file; a configuration stays as it was. */
static void legacy_file(void **state)
{
	struct hd_ar_config config;

	(void)state;
	struct short_memory_case tried = {"vendor's file", &config, legacy_call, legacy_settle, 0};
	assert_int_equal(short_memory_try(&tried), 2);
}

struct programming {
	const struct hd_fabric *fabric;
	const struct hd_ar_plan *plan;
	struct fake_net *net;
	uint32_t short_of; /* switches that memory was too short for */
};

static int program_call(void *context, struct hd_error *err)
{
	struct programming *programming = context;
	struct hd_ar_program *program = programming->net->program;
	int rc = hd_ar_program_set_switches(program, programming->fabric->node_guid,
					    programming->fabric->switch_count);

	programming->short_of = 0;
	if (rc)
		return hd_error_no_memory(err);
	hd_ar_program_detect(program);
	fake_work(programming->net);
	hd_ar_program_apply(program, programming->plan, true);
	fake_work(programming->net);
	for (uint32_t sw = 0; sw < programming->fabric->switch_count; sw++)
		programming->short_of += hd_ar_program_report(program, sw).rc == -ENOMEM;
	return programming->short_of ? hd_error_no_memory(err) : 0;
}

static void program_settle(void *context, int rc)
{
	const struct programming *programming = context;

	assert_true(rc == -ENOMEM || !programming->short_of);
	assert_int_equal(hd_ar_program_busy(programming->net->program), 0);
}

/* Property: if memory is too short for a switch, it says so, and the operation
 * is complete all the same. */
static void programs(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,3,2 parents=1,2,2");
	struct hd_routes *routes = route("dmodk", fabric);
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;

	(void)state;
	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	struct programming programming = {
	    .fabric = fabric, .plan = plan, .net = fake_net_new(fabric, 1)};
	struct short_memory_case tried = {"programming", &programming, program_call, program_settle,
					  0};
	assert_true(short_memory_try(&tried) > 20);
	fake_net_free(programming.net);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* ---- private tables ---- */

static int private_call(void *context, struct hd_error *err)
{
	static const struct hd_ar_info info = {.group_cap = 100, .sub_grps_supported = 2};
	const struct hd_ar_plan *plan = context;
	struct hd_ar_image *want = NULL, *held = NULL;
	struct hd_ar_changes *changes = NULL;
	uint32_t differences;
	int rc = hd_ar_image_of_plan(plan, 0, &hd_ar_settings_default, &hd_ar_quirks_default, &info,
				     &want);

	if (!rc)
		rc = hd_ar_image_like(want, NULL, &held);
	if (!rc)
		rc = hd_ar_diff(want, held, HD_AR_GROUPS_FIRST, &changes);
	hd_ar_changes_free(changes);
	changes = NULL;
	if (!rc)
		rc = hd_ar_switch_off(&info, held, &changes);
	if (!rc)
		rc = hd_ar_private_differences(plan, 0, held, &differences);
	if (!rc)
		assert_true(differences > 0);
	hd_ar_changes_free(changes);
	hd_ar_image_free(held);
	hd_ar_image_free(want);
	return rc ? hd_error_no_memory(err) : 0;
}

static void private_settle(void *context, int rc)
{
	(void)context;
	(void)rc;
}

/* Property: images and changes with private tables, too. */
static void private_tables(void **state)
{
	struct hd_fabric *fabric =
	    generate("dragonfly-plus", "islands=2 leaves=2 spines=2 hosts=1 global-links=2");
	struct hd_routes *routes = route("dfp", fabric);
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = HD_AR_DFP, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;

	(void)state;
	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	struct short_memory_case tried = {"private tables", plan, private_call, private_settle, 0};
	assert_true(short_memory_try(&tried) > 5);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plans),	       cmocka_unit_test(plans_in_part),
	    cmocka_unit_test(plans_with_cuts), cmocka_unit_test(after_a_plan),
	    cmocka_unit_test(legacy_file),     cmocka_unit_test(programs),
	    cmocka_unit_test(private_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
