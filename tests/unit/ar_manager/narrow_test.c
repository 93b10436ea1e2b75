/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* While tables change, adaptive routing closes no credit loop. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"

#include "oracle_ar.h"

#define TRIALS 200

static bool loops(const struct hd_fabric *fabric, const struct hd_routes *after,
		  const struct hd_routes *before, const struct hd_ar_plan *plan,
		  const struct hd_ar_plan *next)
{
	bool found = false;

	for (unsigned lane = 0; lane < 16; lane++) {
		struct oracle_dependencies graph;
		found |= oracle_ar_cycle(fabric, after, before, plan, next, lane, &graph);
		oracle_dependencies_free(&graph);
	}
	return found;
}

static void assert_static(const struct hd_ar_plan *plan)
{
	assert_int_equal(plan->adaptive, 0);
	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		for (uint32_t lid = 0; lid < plan->lid_count; lid++)
			assert_int_equal(hd_ar_plan_group(plan, sw, 0, lid), HD_AR_NO_GROUP);
}

/* Entries that stay adaptive keep group and number. Returns how many do not stay. */
static uint64_t assert_part_of(const struct hd_ar_plan *narrowed, const struct hd_ar_plan *plan)
{
	uint64_t changed = 0, adaptive = 0;

	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		for (uint32_t lid = 0; lid < plan->lid_count; lid++) {
			uint32_t group = hd_ar_plan_group(narrowed, sw, 0, lid);
			uint32_t was = hd_ar_plan_group(plan, sw, 0, lid);
			changed += group != was;
			adaptive += group != HD_AR_NO_GROUP;
			if (group == HD_AR_NO_GROUP)
				continue;
			assert_int_equal(group, was);
			assert_true(hd_ar_group_equal(&narrowed->switches[sw].groups[group],
						      &plan->switches[sw].groups[was]));
		}
	assert_int_equal(narrowed->adaptive, adaptive);
	return changed;
}

/* The tables with a few entries that lead elsewhere. */
static struct hd_routes *changed(const struct hd_fabric *fabric, const struct hd_routes *routes,
				 uint64_t *random)
{
	struct hd_routes *copy = NULL;

	CHECK(hd_routes_rebase(fabric, routes, fabric, &copy, &err));
	for (int i = below(random, 6); i >= 0 && fabric->isl_count; i--) {
		uint32_t link = (uint32_t)hd_random_below(random, fabric->isl_count);
		uint32_t host = (uint32_t)hd_random_below(random, fabric->host_count);
		uint32_t sw = hd_isl_from(fabric, link);
		if (fabric->host_switch[host] != sw)
			hd_routes_row(copy, sw)[fabric->lid[fabric->host_port[host]]] =
			    fabric->isl_port[link];
	}
	return copy;
}

struct counts {
	unsigned trials, safe, narrowed, off;
};

static void try_change(uint64_t number, struct counts *counts)
{
	uint64_t random = number;
	struct hd_fabric *fabric = random_fabric(&random);
	struct hd_routes *before = random_routes(fabric, &random, false, 1);
	struct hd_routes *after = number % 2 ? random_routes(fabric, &random, number % 7 == 0, 1)
					     : changed(fabric, before, &random);
	struct hd_ar_request request = {.fabric = fabric,
					.routes = before,
					.algorithm = number % 4 ? HD_AR_TREE : HD_AR_LAG,
					.mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;

	if (!hd_ar_plan_new(&request, &plan, NULL, NULL)) {
		struct hd_ar_plan *next = NULL;
		request.routes = after;
		request.algorithm = number % 3 ? HD_AR_TREE : HD_AR_LAG;
		bool new_tables_loop = hd_ar_plan_new(&request, &next, NULL, NULL) &&
				       loops(fabric, after, NULL, NULL, NULL);
		struct hd_ar_narrow_request change = {
		    .plan = plan, .fabric = fabric, .before = before, .after = after, .next = next};
		struct hd_ar_narrowing narrowing;
		CHECK(hd_ar_narrow(&change, &narrowing, &err));
		assert_int_equal(assert_part_of(narrowing.plan, plan), narrowing.narrowed);
		bool tables_loop = loops(fabric, after, before, NULL, NULL);
		assert_int_equal(narrowing.off, tables_loop);
		if (tables_loop)
			assert_static(narrowing.plan);
		else
			assert_false(loops(fabric, after, before, narrowing.plan, NULL));
		if (!new_tables_loop)
			assert_false(loops(fabric, after, NULL, narrowing.plan, next));
		if (!loops(fabric, after, before, plan, NULL) &&
		    !loops(fabric, after, NULL, plan, next))
			assert_int_equal(narrowing.narrowed, 0);
		counts->trials++;
		counts->safe += !narrowing.narrowed;
		counts->narrowed += narrowing.narrowed && !narrowing.off;
		counts->off += narrowing.off;
		hd_ar_plan_free(narrowing.plan);
		hd_ar_plan_free(next);
	}
	hd_ar_plan_free(plan);
	hd_routes_free(after);
	hd_routes_free(before);
	hd_fabric_free(fabric);
}

/* Property: with the narrowed plan no entry, whichever tables it uses, closes a loop; a safe plan
 * stays as it is; and a plan is switched off only if the tables loop without it. */
static void mixtures_are_safe(void **state)
{
	struct counts counts = {0};

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++)
		try_change(number, &counts);
	assert_true(counts.safe > 20);
	assert_true(counts.narrowed > 5);
	assert_true(counts.off > 5);
}

/* Property: the plan in force follows switches by GUID when the fabric changes; a switch that is
 * new has no AR yet. */
static void changed_fabric(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,3,2 parents=1,2,2"), *less = NULL;
	struct hd_routes *routes = route("dmodk", fabric), *rebased = NULL;
	struct hd_builder *builder = hd_builder_from(fabric);
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;
	struct hd_ar_narrowing narrowing;
	const struct hd_node_spec spec = {
	    .type = HD_SWITCH, .guid = 0x1, .port_count = 4, .name = "new"};
	uint32_t handle;

	(void)state;
	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	CHECK(hd_builder_add_node(builder, &spec, &handle, &err));
	CHECK(hd_builder_build(builder, &less, &err));
	hd_builder_free(builder);
	CHECK(hd_routes_rebase(fabric, routes, less, &rebased, &err));
	struct hd_ar_narrow_request change = {
	    .plan = plan, .fabric = less, .before = rebased, .after = rebased};
	CHECK(hd_ar_narrow(&change, &narrowing, &err));
	assert_int_equal(narrowing.narrowed, 0);
	assert_int_equal(narrowing.plan->adaptive, plan->adaptive);
	assert_int_equal(narrowing.plan->switches[0].guid, 0x1);
	assert_int_equal(narrowing.plan->switches[0].form, HD_AR_FORM_NONE);
	assert_int_equal(narrowing.plan->switches[1].group_count, plan->switches[0].group_count);
	hd_ar_plan_free(narrowing.plan);
	hd_ar_plan_free(plan);
	hd_routes_free(rebased);
	hd_routes_free(routes);
	hd_fabric_free(less);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(mixtures_are_safe),
	    cmocka_unit_test(changed_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
