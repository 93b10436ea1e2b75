/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What switches may hold when some of them have not answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "change_testing.h"

#define TREE "children=3,3,3 parents=1,3,3"

/* The ports that an entry of a plan may use, of a switch by its GUID; none: it is not there. */
static struct hd_port_set ports_in(const struct hd_ar_plan *plan, uint64_t guid, uint32_t lid)
{
	struct hd_port_set ports = {{0}};
	uint32_t sw = plan ? hd_ar_plan_find(plan, guid) : HD_NONE;

	if (sw == HD_NONE || lid >= plan->lid_count)
		return ports;
	uint32_t group = hd_ar_plan_group(plan, sw, 0, lid);
	if (group != HD_AR_NO_GROUP) {
		hd_port_set_unite(&ports, &plan->switches[sw].groups[group].ports[0]);
		hd_port_set_unite(&ports, &plan->switches[sw].groups[group].ports[1]);
	}
	return ports;
}

static void add_static(struct hd_port_set *ports, const struct hd_ar_plan *plan, uint64_t guid,
		       uint32_t lid)
{
	uint32_t sw = plan ? hd_ar_plan_find(plan, guid) : HD_NONE;

	if (sw != HD_NONE && lid < plan->lid_count &&
	    plan->switches[sw].lid_port[0][lid] != HD_NO_PORT)
		hd_port_set_add(ports, plan->switches[sw].lid_port[0][lid]);
}

/* Entry by entry: a stuck switch may do what either plan says, by static ports too; the others do
 * what the plan says. */
static void assert_united(const struct hd_ar_plan *now, const struct hd_ar_plan *plan,
			  const struct hd_ar_plan *held, const struct hd_fabric *fabric,
			  const bool *stuck)
{
	assert_int_equal(now->switch_count, fabric->switch_count);
	for (uint32_t sw = 0; sw < now->switch_count; sw++)
		for (uint32_t lid = 1; lid < now->lid_count; lid++) {
			const uint64_t guid = fabric->node_guid[sw];
			struct hd_port_set expected = ports_in(plan, guid, lid);
			struct hd_port_set found = ports_in(now, guid, lid);
			if (stuck[sw]) {
				struct hd_port_set old = ports_in(held, guid, lid);
				hd_port_set_unite(&expected, &old);
				add_static(&expected, held, guid, lid);
				add_static(&expected, plan, guid, lid);
			}
			assert_true(hd_port_set_equal(&expected, &found));
		}
}

static void try_stuck(const struct tree_change *change, const struct hd_ar_plan *plan,
		      const bool *stuck)
{
	struct hd_ar_plan *now = NULL;

	assert_int_equal(hd_ar_plan_held(plan, change->plan, change->is, stuck, &now), 0);
	assert_united(now, plan, change->plan, change->is, stuck);
	hd_ar_plan_free(now);
}

/* Property: on trees whose cables fail and return, with some switches stuck, and with all and none. */
static void entries_are_united(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned trial = 0; trial < 12; trial++) {
		struct tree_change change = make_change(TREE, trial, 6);
		bool *stuck = calloc(change.is->switch_count, sizeof(*stuck));
		for (uint32_t sw = 0; sw < change.is->switch_count; sw++)
			stuck[sw] = trial >= 9 || (trial > 2 && !below(&random, 4));
		try_stuck(&change, change.next, stuck);
		try_stuck(&change, NULL, stuck);
		free(stuck);
		free_change(&change);
	}
}

/* Property: if all have answered, the result is the plan; and nothing, if AR was to be off. */
static void without_stuck_switches_the_plan_stays(void **state)
{
	struct tree_change change = make_change(TREE, 0, 6);
	bool *stuck = calloc(change.is->switch_count, sizeof(*stuck));
	struct hd_ar_plan *now = NULL;

	(void)state;
	assert_int_equal(hd_ar_plan_held(change.next, change.plan, change.is, stuck, &now), 0);
	assert_same_plan(now, change.next, true);
	assert_true(hd_ar_plan_has_groups(now));
	hd_ar_plan_free(now);
	assert_int_equal(hd_ar_plan_held(NULL, change.plan, change.is, stuck, &now), 0);
	assert_false(hd_ar_plan_has_groups(now));
	hd_ar_plan_free(now);
	free(stuck);
	free_change(&change);
}

/* Property: of a plan with private tables, a stuck switch keeps all three, and others have none. */
static void private_tables_are_kept(void **state)
{
	struct hd_fabric *fabric =
	    generate("dragonfly-plus", "islands=3 leaves=2 spines=2 hosts=1 global-links=1");
	struct hd_routes *routes = route("dfp", fabric);
	const struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = HD_AR_DFP, .mode = HD_AR_FREE};
	bool *stuck = calloc(fabric->switch_count, sizeof(*stuck));
	struct hd_ar_plan *plan = NULL, *now = NULL;

	(void)state;
	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	stuck[1] = true;
	assert_int_equal(hd_ar_plan_held(NULL, plan, fabric, stuck, &now), 0);
	assert_int_equal(now->table_count, plan->table_count);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		assert_int_equal(now->switches[sw].used, stuck[sw] ? plan->switches[sw].used : 0);
	for (uint32_t table = 0; table < plan->table_count; table++)
		for (uint32_t lid = 1; lid < plan->lid_count; lid++)
			assert_true(same_group(now, plan, 1, table, lid));
	hd_ar_plan_free(now);
	hd_ar_plan_free(plan);
	free(stuck);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(entries_are_united),
	    cmocka_unit_test(without_stuck_switches_the_plan_stays),
	    cmocka_unit_test(private_tables_are_kept),
	};

	return cmocka_run_group_tests_name("plan_held", tests, NULL, NULL);
}
