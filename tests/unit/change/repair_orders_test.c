/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Repairs whose tables others change between them, or whose order others choose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engines_testing.h"

#include <errno.h>
#include <heddle/change/repair.h>
#include <string.h>

static struct hd_fabric *make_tree(const char *settings)
{
	struct hd_fabric *fabric = NULL;

	assert_int_equal(generated_fabric("xgft", settings, &fabric, NULL), 0);
	return fabric;
}

static struct hd_routes *tables_of(const struct hd_fabric *fabric, const struct hd_routes *previous)
{
	const struct hd_route_request request = {.fabric = fabric, .previous = previous};
	struct hd_routes *routes = NULL;

	assert_int_equal(hd_engine_route(hd_engine_find("dmodk"), &request, &routes, NULL), 0);
	return routes;
}

static uint32_t find(const struct hd_fabric *fabric, const char *name)
{
	for (uint32_t node = 0; node < fabric->node_count; node++)
		if (!strcmp(fabric->node_name[node], name))
			return node;
	fail_msg("no node %s", name);
	return HD_NONE;
}

/* Leads the LID from one switch to the next. */
static void lead(const struct hd_fabric *fabric, struct hd_routes *routes, uint32_t lid,
		 const char *from, const char *to)
{
	uint32_t sw = find(fabric, from), next = find(fabric, to);

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (fabric->isl_to[link] == next)
			hd_routes_row(routes, sw)[lid] = fabric->isl_port[link];
}

static uint32_t lid_of(const struct hd_fabric *fabric, const char *name)
{
	return fabric->lid[hd_port_index(fabric, find(fabric, name), 1)];
}

/* A base takes in tables that changed. It knows their dependencies then: entries that close a credit
 * loop only together with these are refused, and a new base of the tables without them is not. */
static void test_base_takes_tables(void **unused)
{
	struct hd_fabric *fabric = make_tree("children=2,3 parents=1,2");
	struct hd_routes *tables = tables_of(fabric, NULL), *one = hd_routes_copy(tables);
	struct hd_repair_base *base = NULL, *fresh = NULL;
	struct hd_error err = {""};
	uint32_t first = lid_of(fabric, "H_2_0"), second = lid_of(fabric, "H_2_1");

	(void)unused;
	assert_int_equal(hd_repair_base_new(fabric, tables, 1, NULL, &base, &err), 0);
	lead(fabric, one, first, "S1_0", "S2_0");
	lead(fabric, one, first, "S2_0", "S1_1");
	lead(fabric, one, first, "S1_1", "S2_1");
	struct hd_routes *both = hd_routes_copy(one), *other = hd_routes_copy(tables);
	lead(fabric, both, second, "S1_1", "S2_1");
	lead(fabric, both, second, "S2_1", "S1_0");
	lead(fabric, both, second, "S1_0", "S2_0");
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		hd_routes_row(other, sw)[second] = hd_routes_row(both, sw)[second];
	assert_int_equal(hd_repair_base_take(base, tables, one, NULL, &err), 0);
	assert_int_equal(hd_repair_base_take(base, one, both, NULL, &err), -ELOOP);
	assert_non_null(strstr(err.text, "do not fit the earlier ones"));
	/* nothing was kept of the ones that do not fit */
	assert_int_equal(hd_repair_base_take(base, one, tables, NULL, &err), 0);
	assert_int_equal(hd_repair_base_new(fabric, other, 1, NULL, &fresh, &err), 0);
	assert_int_equal(hd_repair_base_take(fresh, other, both, NULL, &err), -ELOOP);
	hd_repair_base_free(fresh);
	hd_repair_base_free(base);
	hd_routes_free(other);
	hd_routes_free(both);
	hd_routes_free(one);
	hd_routes_free(tables);
	hd_fabric_free(fabric);
}

/* ---- other steps ---- */

#define STEPS 3u

static uint32_t step_of(void *context, uint32_t sw, uint32_t lid)
{
	(void)context;
	return (sw + lid) % STEPS;
}

static void take_writes(const struct hd_repair_plan *plan, struct hd_routes *tables, uint32_t step)
{
	for (uint32_t i = 0; i < plan->write_count; i++)
		if (plan->writes[i].step == step)
			memcpy(hd_routes_row(tables, plan->writes[i].sw) +
				   (size_t)plan->writes[i].block * HD_LFT_BLOCK,
			       plan->writes[i].ports, HD_LFT_BLOCK);
}

/* After each step exactly the entries of that step and of those before are as they are to be. */
static void assert_step(const struct hd_fabric *fabric, const struct hd_routes *before,
			const struct hd_routes *after, const struct hd_routes *tables,
			uint32_t step)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			assert_int_equal(
			    hd_routes_port(tables, sw, lid),
			    hd_routes_port(step_of(NULL, sw, lid) <= step ? after : before, sw,
					   lid));
}

static void test_other_steps(void **unused)
{
	struct hd_fabric *fabric = make_tree("children=3,3,3 parents=1,3,3"), *left = NULL;
	struct hd_routes *before = tables_of(fabric, NULL), *tables = hd_routes_copy(before);
	const uint32_t sw = find(fabric, "S1_1_1");
	const struct hd_fabric_change loss = {
	    .lost = true,
	    .cable = true,
	    .index = hd_port_index(fabric, sw, fabric->isl_port[fabric->isl_base[sw]])};
	struct hd_repair_base *base = NULL;
	struct hd_repair_plan *plan = NULL;

	(void)unused;
	assert_int_equal(hd_fabric_without(fabric, &loss, 1, HD_NONE, &left, NULL), 0);
	struct hd_routes *after = tables_of(left, before);
	assert_int_equal(hd_repair_base_new(fabric, before, 1, NULL, &base, NULL), 0);
	assert_int_equal(hd_repair_plan_new(base, before, left, after, NULL, &plan, NULL), 0);
	assert_true(plan->entries > STEPS && !plan->left);
	assert_int_equal(hd_repair_plan_reorder(plan, before, STEPS, step_of, NULL, NULL), 0);
	assert_int_equal(plan->steps, STEPS);
	for (uint32_t step = 0; step < STEPS; step++) {
		take_writes(plan, tables, step);
		assert_step(fabric, before, after, tables, step);
	}
	hd_repair_plan_free(plan);
	hd_repair_base_free(base);
	hd_routes_free(after);
	hd_fabric_free(left);
	hd_routes_free(tables);
	hd_routes_free(before);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_base_takes_tables),
					   cmocka_unit_test(test_other_steps)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
