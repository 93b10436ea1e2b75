/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric beside its plan: each kind of difference is found as one, and by shape in as few steps as all mappings
 * allow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "miscabled.h"
#include "oracle_mends.h"

#include <heddle/base/random.h>

#define TREE "children=4,4 parents=1,4"

/* ---- changing a fabric ---- */

struct changed {
	struct hd_fabric *plan, *live;
	struct hd_builder *builder;
	struct hd_comparison comparison;
};

static struct changed begin(const char *settings)
{
	struct changed changed = {.plan = generate("xgft", settings)};

	changed.builder = hd_builder_from(changed.plan);
	return changed;
}

static void unlink_at(struct changed *changed, const char *name, uint32_t port)
{
	assert_true(hd_builder_unlink(changed->builder, node_named(changed->plan, name), port));
}

static void link_to(struct changed *changed, const char *a, uint32_t port_a, const char *b,
		    uint32_t port_b)
{
	struct hd_error err = {""};

	if (hd_builder_link(changed->builder, node_named(changed->plan, a), port_a,
			    node_named(changed->plan, b), port_b, 4, HD_SPEED_EDR, &err))
		fail_msg("%s", err.text);
}

static void compare(struct changed *changed, enum hd_match match)
{
	struct hd_compare_request request = {
	    .expected = changed->plan, .live = changed->live, .match = match, .rates = true};
	struct hd_error err = {""};

	if (!changed->live && hd_builder_build(changed->builder, &changed->live, &err))
		fail_msg("%s", err.text);
	request.live = changed->live;
	hd_comparison_release(&changed->comparison);
	if (hd_fabric_compare(&request, &changed->comparison, &err))
		fail_msg("%s", err.text);
}

static void end(struct changed *changed)
{
	hd_comparison_release(&changed->comparison);
	hd_builder_free(changed->builder);
	hd_fabric_free(changed->plan);
	hd_fabric_free(changed->live);
}

/* The only difference, of this kind. */
static const struct hd_fabric_difference *only(const struct changed *changed,
					       enum hd_fabric_difference_kind kind)
{
	assert_int_equal(changed->comparison.count, 1);
	assert_int_equal(changed->comparison.differences[0].kind, kind);
	assert_int_equal(changed->comparison.mends, changed->comparison.differences[0].mends);
	return &changed->comparison.differences[0];
}

static void assert_port(const struct hd_fabric *fabric, uint32_t port, const char *name,
			uint32_t number)
{
	assert_string_equal(fabric->node_name[fabric->port_node[port]], name);
	assert_int_equal(hd_port_number(fabric, port), number);
}

/* ---- cables ---- */

static void nothing_differs(void **state)
{
	(void)state;
	for (enum hd_match match = HD_MATCH_AUTO; match <= HD_MATCH_SHAPE; match++) {
		struct changed changed = begin(TREE);
		compare(&changed, match);
		assert_int_equal(changed.comparison.count, 0);
		assert_int_equal(changed.comparison.agreeing, 32);
		assert_int_equal(changed.comparison.match,
				 match == HD_MATCH_AUTO ? HD_MATCH_GUID : match);
		end(&changed);
	}
}

static void a_pulled_cable_is_missing(void **state)
{
	struct changed changed = begin(TREE);

	(void)state;
	unlink_at(&changed, "S1_2", 6);
	compare(&changed, HD_MATCH_GUID);
	assert_port(changed.plan, only(&changed, HD_DIFFERENCE_CABLE_MISSING)->expected[0], "S1_2",
		    6);
	compare(&changed, HD_MATCH_SHAPE);
	only(&changed, HD_DIFFERENCE_CABLE_MISSING);
	end(&changed);
}

static void a_new_cable_is_extra(void **state)
{
	struct changed changed = begin(TREE);

	(void)state;
	unlink_at(&changed, "S1_2", 6);
	assert_int_equal(hd_builder_build(changed.builder, &changed.live, NULL), 0);
	struct hd_fabric *kept = changed.plan;
	changed.plan = changed.live;
	changed.live = kept;
	compare(&changed, HD_MATCH_GUID);
	assert_port(changed.live, only(&changed, HD_DIFFERENCE_CABLE_EXTRA)->found[0], "S1_2", 6);
	end(&changed);
}

/* Leaf 0 and leaf 1 have their cables to S2_1 in each other's place. */
static void two_cables_are_swapped_once(void **state)
{
	struct changed changed = begin(TREE);

	(void)state;
	unlink_at(&changed, "S1_0", 6);
	unlink_at(&changed, "S1_1", 7);
	link_to(&changed, "S1_0", 6, "S2_2", 2);
	link_to(&changed, "S1_1", 7, "S2_1", 1);
	compare(&changed, HD_MATCH_GUID);
	const struct hd_fabric_difference *one = only(&changed, HD_DIFFERENCE_CABLES_EXCHANGED);
	assert_int_equal(one->mends, 1);
	assert_int_equal(one->expected_count, 2);
	assert_port(changed.plan, one->expected[0], "S1_0", 6);
	assert_port(changed.live, one->found[0], "S2_1", 1);
	assert_port(changed.plan, one->expected[1], "S1_1", 7);
	assert_port(changed.live, one->found[1], "S2_2", 2);
	compare(&changed, HD_MATCH_SHAPE);
	assert_int_equal(only(&changed, HD_DIFFERENCE_CABLES_EXCHANGED)->mends, 1);
	end(&changed);
}

/* Three cables in a ring take two exchanges. */
static void three_cables_are_a_ring(void **state)
{
	struct changed changed = begin(TREE);

	(void)state;
	for (uint32_t port = 5; port < 8; port++)
		unlink_at(&changed, "S1_0", port);
	link_to(&changed, "S1_0", 5, "S2_1", 1);
	link_to(&changed, "S1_0", 6, "S2_2", 1);
	link_to(&changed, "S1_0", 7, "S2_0", 1);
	compare(&changed, HD_MATCH_GUID);
	assert_int_equal(only(&changed, HD_DIFFERENCE_CABLES_EXCHANGED)->mends, 2);
	assert_int_equal(changed.comparison.differences[0].found_count, 3);
	compare(&changed, HD_MATCH_SHAPE); /* the same switches are neighbours */
	assert_int_equal(changed.comparison.count, 0);
	end(&changed);
}

static void a_cable_in_another_port_is_moved(void **state)
{
	struct changed changed = begin("children=4,4 parents=1,4");

	(void)state;
	unlink_at(&changed, "S1_3", 8);
	unlink_at(&changed, "S1_0", 1); /* its host is off */
	link_to(&changed, "S2_3", 4, "S1_0", 1);
	compare(&changed, HD_MATCH_GUID);
	assert_int_equal(changed.comparison.count, 2);
	const struct hd_fabric_difference *one = &changed.comparison.differences[0];
	assert_int_equal(one->kind, HD_DIFFERENCE_CABLE_MOVED);
	assert_int_equal(changed.comparison.mends, 2);
	end(&changed);
}

static void a_host_on_another_leaf_is_moved(void **state)
{
	struct changed changed = begin(TREE);

	(void)state;
	unlink_at(&changed, "S1_0", 1);
	unlink_at(&changed, "S1_3", 2);
	link_to(&changed, "S1_3", 2, "H_0_0", 1);
	assert_int_equal(hd_builder_build(changed.builder, &changed.live, NULL), 0);
	compare(&changed, HD_MATCH_GUID);
	assert_int_equal(changed.comparison.count, 2); /* and the host that was there is cut off */
	const struct hd_fabric_difference *one = &changed.comparison.differences[0];
	assert_int_equal(one->kind, HD_DIFFERENCE_CABLE_MOVED);
	end(&changed);
}

static void rates_are_compared(void **state)
{
	struct changed changed = begin(TREE);
	struct hd_compare_request request = {.rates = true, .width = 4, .speed = HD_SPEED_HDR};
	struct hd_error err = {""};

	(void)state;
	unlink_at(&changed, "S1_0", 6);
	assert_int_equal(hd_builder_link(changed.builder, node_named(changed.plan, "S1_0"), 6,
					 node_named(changed.plan, "S2_1"), 1, 1, HD_SPEED_EDR,
					 &err),
			 0);
	compare(&changed, HD_MATCH_GUID);
	assert_port(changed.live, only(&changed, HD_DIFFERENCE_RATE)->found[0], "S1_0", 6);
	compare(&changed, HD_MATCH_SHAPE);
	only(&changed, HD_DIFFERENCE_RATE);
	request.expected = changed.plan;
	request.live = changed.live;
	hd_comparison_release(&changed.comparison);
	assert_int_equal(hd_fabric_compare(&request, &changed.comparison, &err), 0);
	assert_int_equal(changed.comparison.count, 32); /* none is HDR */
	end(&changed);
}

/* ---- nodes ---- */

/* The plan again, in which node `a` has the GUID `guid_a`, and `b` that of `guid_b`; a GUID of 0: the node and its
 * cables are left out. */
static void renumber(struct changed *changed, const char *a, uint64_t guid_a, const char *b,
		     uint64_t guid_b)
{
	const struct hd_fabric *plan = changed->plan;
	struct hd_builder *builder = hd_builder_new();
	struct hd_error err = {""};
	uint32_t *handle = calloc(plan->node_count, sizeof(*handle));

	for (uint32_t node = 0; node < plan->node_count; node++) {
		uint64_t guid = plan->node_guid[node];
		guid = a && !strcmp(plan->node_name[node], a) ? guid_a : guid;
		guid = b && !strcmp(plan->node_name[node], b) ? guid_b : guid;
		struct hd_node_spec spec = {.type = plan->node_type[node],
					    .guid = guid,
					    .port_count = hd_node_ports(plan, node),
					    .name = plan->node_name[node]};
		handle[node] = HD_NONE;
		if (guid)
			assert_int_equal(hd_builder_add_node(builder, &spec, &handle[node], &err),
					 0);
	}
	for (uint32_t port = 0; port < plan->port_count; port++) {
		uint32_t peer = plan->peer[port];
		if (peer == HD_NONE || handle[plan->port_node[port]] == HD_NONE ||
		    handle[plan->port_node[peer]] == HD_NONE)
			continue;
		assert_int_equal(hd_builder_link(builder, handle[plan->port_node[port]],
						 hd_port_number(plan, port),
						 handle[plan->port_node[peer]],
						 hd_port_number(plan, peer), 4, HD_SPEED_EDR, &err),
				 0);
	}
	assert_int_equal(hd_builder_build(builder, &changed->live, &err), 0);
	hd_builder_free(builder);
	free(handle);
}

static uint64_t guid_of(const struct changed *changed, const char *name)
{
	return changed->plan->node_guid[node_named(changed->plan, name)];
}

static void a_replaced_switch_is_one_difference(void **state)
{
	struct changed changed = begin(TREE);

	(void)state;
	renumber(&changed, "S1_2", 0x999, NULL, 0);
	compare(&changed, HD_MATCH_AUTO);
	const struct hd_fabric_difference *one = only(&changed, HD_DIFFERENCE_NODE_REPLACED);
	assert_string_equal(changed.plan->node_name[one->expected[0]], "S1_2");
	assert_true(changed.live->node_guid[one->found[0]] == 0x999);
	assert_int_equal(changed.comparison.agreeing, 32);
	compare(&changed, HD_MATCH_NAME);
	assert_int_equal(changed.comparison.count, 0);
	end(&changed);
}

/* All their cables are those of the other, which only GUIDs or names tell. */
static void two_switches_that_were_swapped_are_one_difference(void **state)
{
	static const char *const pairs[][2] = {{"S1_1", "S1_3"}, {"S2_0", "S2_2"}};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct changed changed = begin(TREE);
		renumber(&changed, pairs[i][0], guid_of(&changed, pairs[i][1]), pairs[i][1],
			 guid_of(&changed, pairs[i][0]));
		compare(&changed, HD_MATCH_GUID);
		const struct hd_fabric_difference *one =
		    only(&changed, HD_DIFFERENCE_NODES_EXCHANGED);
		assert_int_equal(one->found_count, 2);
		assert_string_equal(changed.plan->node_name[one->expected[0]], pairs[i][0]);
		assert_string_equal(changed.plan->node_name[one->expected[1]], pairs[i][1]);
		compare(&changed, HD_MATCH_SHAPE);
		assert_int_equal(changed.comparison.count, 0);
		end(&changed);
	}
}

/* A spare switch in the place of one, which is now in that of another, which is away. */
static void a_chain_of_switches_is_told_apart(void **state)
{
	struct changed changed = begin(TREE);

	(void)state;
	renumber(&changed, "S1_0", 0x999, "S1_1", guid_of(&changed, "S1_0"));
	compare(&changed, HD_MATCH_GUID);
	assert_int_equal(changed.comparison.count, 2);
	assert_int_equal(changed.comparison.differences[0].kind, HD_DIFFERENCE_NODE_REPLACED);
	assert_int_equal(changed.comparison.differences[1].kind, HD_DIFFERENCE_NODE_MOVED);
	end(&changed);
}

/* A node that is missing stands for its cables. */
static void missing_and_extra_nodes_stand_for_their_cables(void **state)
{
	(void)state;
	for (enum hd_match match = HD_MATCH_GUID; match <= HD_MATCH_SHAPE; match++) {
		struct changed changed = begin(TREE);
		renumber(&changed, "S2_1", 0, NULL, 0);
		compare(&changed, match);
		const struct hd_fabric_difference *one = only(&changed, HD_DIFFERENCE_NODE_MISSING);
		if (match != HD_MATCH_SHAPE) /* by shape, all of that level are alike */
			assert_string_equal(changed.plan->node_name[one->expected[0]], "S2_1");
		struct hd_fabric *kept = changed.plan;
		changed.plan = changed.live;
		changed.live = kept;
		compare(&changed, match);
		only(&changed, HD_DIFFERENCE_NODE_EXTRA);
		end(&changed);
	}
}

/* ---- all mappings ---- */

static const char *const small[] = {
    "children=2,3 parents=1,2", "children=1,4 parents=1,3", "children=2,2 parents=1,3 parallel=1,2",
    "children=3,3 parents=1,3", "children=2,3 parents=1,2 parallel=1,2"};

#define KINDS (sizeof(small) / sizeof(small[0]))
#define TRIALS 500u

/* Never fewer than all mappings allow, and rarely more: most cables that agree and fewest steps are not the same mapping
 * everywhere. */
static void hardly_a_mapping_needs_fewer_steps(void **state)
{
	uint64_t random = 1;
	unsigned more = 0;

	(void)state;
	for (unsigned trial = 0; trial < TRIALS; trial++) {
		struct changed changed = begin(small[trial % KINDS]);
		unsigned mistakes = 1 + (unsigned)hd_random_below(&random, 3);
		struct miscabled_request request = {
		    .plan = changed.plan, .foreign = true, .mistakes = mistakes, .seed = trial};
		assert_int_equal(miscabled_make(&request, &changed.live, NULL, NULL), 0);
		compare(&changed, HD_MATCH_SHAPE);
		uint32_t steps = (uint32_t)changed.comparison.mends,
			 fewest = oracle_mends(changed.plan, changed.live, mistakes);
		if (steps < fewest)
			fail_msg("trial %u (%s, %u mistakes): %u steps are too few, %u are needed",
				 trial, small[trial % KINDS], mistakes, steps, fewest);
		more += steps > fewest;
		end(&changed);
	}
	if (more > TRIALS / 100)
		fail_msg("%u of %u comparisons list more steps than needed", more, TRIALS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_differs),
	    cmocka_unit_test(a_pulled_cable_is_missing),
	    cmocka_unit_test(a_new_cable_is_extra),
	    cmocka_unit_test(two_cables_are_swapped_once),
	    cmocka_unit_test(three_cables_are_a_ring),
	    cmocka_unit_test(a_cable_in_another_port_is_moved),
	    cmocka_unit_test(a_host_on_another_leaf_is_moved),
	    cmocka_unit_test(rates_are_compared),
	    cmocka_unit_test(a_replaced_switch_is_one_difference),
	    cmocka_unit_test(two_switches_that_were_swapped_are_one_difference),
	    cmocka_unit_test(a_chain_of_switches_is_told_apart),
	    cmocka_unit_test(missing_and_extra_nodes_stand_for_their_cables),
	    cmocka_unit_test(hardly_a_mapping_needs_fewer_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
