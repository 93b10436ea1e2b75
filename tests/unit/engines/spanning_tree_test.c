/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* updown with links=tree: the tables of a spanning tree, compared with the slow ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "oracle_spanning.h"
#include "oracle_tree.h"
#include "oracle_walk.h"

static struct hd_routes *route_root(const struct hd_fabric *fabric, uint32_t root)
{
	char settings[60];

	snprintf(settings, sizeof(settings), "links=tree root=0x%" PRIx64, fabric->node_guid[root]);
	return route("updown", settings, fabric);
}

/* Cables of a tree in each component. */
static uint32_t tree_cables(const struct hd_fabric *fabric)
{
	uint32_t *rank = calloc(fabric->switch_count, sizeof(*rank));
	bool *is_root = calloc(fabric->switch_count, sizeof(*is_root));
	uint32_t cables = 0;

	is_root[0] = true;
	oracle_tree_ranks(fabric, is_root, rank);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		cables += rank[sw] > 0;
	free(is_root);
	free(rank);
	return cables;
}

/* Property: with a root given, tables are the slow ones, byte for byte, whole or damaged, with one
 * LID or several. No path climbs after it has descended, and no cable outside the tree is used. */
static void as_the_oracle(void **state)
{
	unsigned idle = 0;

	(void)state;
	for (uint64_t number = 0; number < 180; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		uint32_t root = (uint32_t)(number % fabric->switch_count);
		struct hd_routes *fast = route_root(fabric, root);
		struct hd_routes *slow = oracle_spanning_route(fabric, root);
		bool *is_root = calloc(fabric->switch_count, sizeof(*is_root));
		uint32_t *rank = calloc(fabric->switch_count, sizeof(*rank));
		uint8_t *up = calloc(fabric->isl_count + 1, 1);
		assert_non_null(slow);
		if (hd_routes_count_changes(fast, slow))
			fail_msg("%s: %" PRIu64 " entries differ from the oracle's", recipe,
				 hd_routes_count_changes(fast, slow));
		is_root[root] = true;
		oracle_tree_ranks(fabric, is_root, rank);
		oracle_tree_direct(fabric, rank, up);
		assert_true(oracle_walk_is_legal(fabric, fast, up));
		assert_int_equal(oracle_spanning_cables(fabric, fast), tree_cables(fabric));
		idle += tree_cables(fabric) < fabric->isl_count / 2;
		free(up);
		free(rank);
		free(is_root);
		hd_routes_free(slow);
		hd_routes_free(fast);
		hd_fabric_free(fabric);
	}
	assert_true(idle > 90); /* most fabrics have cables that the tree does not use */
}

/* Property: without a root the best of three centres is taken: links=tree alone is root=best:3,
 * its busiest link is that of the best of three trees, and more tries never make it worse. */
static void best_of_three_roots(void **state)
{
	unsigned better = 0;

	(void)state;
	for (uint64_t number = 0; number < 60; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(6 + 9 * number, recipe);
		struct hd_routes *three = route("updown", "links=tree", fabric);
		struct hd_routes *named = route("updown", "links=tree root=best:3", fabric);
		struct hd_routes *one = route("updown", "links=tree root=best:1", fabric);
		struct hd_routes *many = route("updown", "links=tree root=best:64", fabric);
		uint32_t load = oracle_walk_max_load(fabric, three), least = UINT32_MAX;
		assert_true(hd_routes_equal(three, named));
		assert_true(load <= oracle_walk_max_load(fabric, one));
		better += load < oracle_walk_max_load(fabric, one);
		for (uint32_t root = 0; root < fabric->switch_count && root < 64; root++) {
			struct hd_routes *rooted = route_root(fabric, root);
			uint32_t its = oracle_walk_max_load(fabric, rooted);
			least = its < least ? its : least;
			hd_routes_free(rooted);
		}
		if (fabric->switch_count <= 64)
			assert_int_equal(oracle_walk_max_load(fabric, many), least);
		hd_routes_free(three);
		hd_routes_free(named);
		hd_routes_free(one);
		hd_routes_free(many);
		hd_fabric_free(fabric);
	}
	print_message("the best of three roots beats the centre on %u of 60 fabrics\n", better);
	assert_true(better > 3);
}

/* Property: of the roots of a policy the best is taken. */
static void roots_of_the_policy(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("irregular", "switches=20 radix=8 hosts=2 seed=3");
	uint64_t guids[3] = {fabric->node_guid[4], fabric->node_guid[11], fabric->node_guid[17]};
	struct hd_policy policy = {.root_guids = guids, .root_count = 3};
	struct hd_routes *routes = route_policy("updown", "links=tree", fabric, &policy);
	uint32_t least = UINT32_MAX;
	for (unsigned i = 0; i < 3; i++) {
		struct hd_routes *rooted =
		    route_root(fabric, hd_fabric_find_node(fabric, guids[i]));
		uint32_t load = oracle_walk_max_load(fabric, rooted);
		least = load < least ? load : least;
		hd_routes_free(rooted);
	}
	assert_int_equal(oracle_walk_max_load(fabric, routes), least);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Loses one cable and gets it back. */
static void lose_and_mend(const struct hd_fabric *whole, uint32_t link, unsigned *stayed)
{
	struct hd_fabric *damaged = NULL;
	struct hd_routes *before = route("updown", "links=tree", whole), *carried, *again;
	struct hd_error err = {""};

	assert_int_equal(variants_without_link(whole, link, &damaged, &err), 0);
	assert_int_equal(hd_routes_rebase(whole, before, damaged, &carried, &err), 0);
	struct hd_routes *after =
	    route_request("updown", "links=tree",
			  &(struct hd_route_request){
			      .fabric = damaged, .previous = carried, .baseline = carried});
	assert_int_equal(oracle_spanning_cables(damaged, after), tree_cables(damaged));
	if (oracle_spanning_cables(damaged, carried) == tree_cables(whole)) {
		assert_int_equal(hd_routes_count_changes(carried, after), 0);
		(*stayed)++;
	}
	hd_routes_free(carried);
	assert_int_equal(hd_routes_rebase(damaged, after, whole, &carried, &err), 0);
	again = route_request(
	    "updown", "links=tree",
	    &(struct hd_route_request){.fabric = whole, .previous = carried, .baseline = before});
	assert_int_equal(hd_routes_count_changes(before, again), 0);
	hd_routes_free(again);
	again = route_request("updown", "links=tree",
			      &(struct hd_route_request){.fabric = whole, .previous = carried});
	if (tree_cables(damaged) == tree_cables(whole))
		assert_int_equal(hd_routes_count_changes(carried, again), 0);
	hd_routes_free(again);
	hd_routes_free(carried);
	hd_routes_free(after);
	hd_routes_free(before);
	hd_fabric_free(damaged);
}

/* Property: a lost cable outside the tree changes nothing. One of the tree is replaced. When it
 * is back, so is the tree of the baseline; without a baseline the tree in place stays. */
static void the_tree_stays(void **state)
{
	unsigned stayed = 0, tried = 0;

	(void)state;
	for (uint64_t number = 0; number < 45; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		for (uint32_t link = 0; link < fabric->isl_count; link += 13, tried++)
			lose_and_mend(fabric, link, &stayed);
		hd_fabric_free(fabric);
	}
	print_message("%u of %u lost cables changed nothing\n", stayed, tried);
	assert_in_range(stayed, tried / 4, tried - 20);
}

/* Property: tables in place whose cables close a cycle are another engine's: they do not bend the
 * tree. */
static void tables_of_others_are_no_tree(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=4,4 hosts=1");
	struct hd_routes *others = route("spf", "", fabric);
	struct hd_routes *fresh = route("updown", "links=tree root=best:1", fabric);
	struct hd_routes *after = route_after("updown", "links=tree root=best:1", fabric, others);
	assert_int_equal(hd_routes_count_changes(fresh, after), 0);
	hd_routes_free(after);
	hd_routes_free(fresh);
	hd_routes_free(others);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_the_oracle),
	    cmocka_unit_test(best_of_three_roots),
	    cmocka_unit_test(roots_of_the_policy),
	    cmocka_unit_test(the_tree_stays),
	    cmocka_unit_test(tables_of_others_are_no_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
