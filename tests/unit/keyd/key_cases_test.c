/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cases of keys: several flows to one host, refusals, shifts, threads. */
#include "key_testing.h"

/* Hosts of these trees have the numbers leaf * hosts of a leaf + place. */
static struct traffic listed(const struct hd_key_flow *flows, uint32_t count)
{
	struct traffic traffic = {.flows = malloc(count * sizeof(*flows)), .count = count};

	memcpy(traffic.flows, flows, count * sizeof(*flows));
	return traffic;
}

static void assert_key_refused(const struct scene *scene, const struct traffic *traffic,
			       unsigned offsets, int expected, const char *text)
{
	struct hd_key *key = NULL;
	struct hd_error err = {""};

	assert_int_equal(key_try(scene, traffic, offsets, false, &key, &err), expected);
	assert_null(key);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not say '%s'", err.text, text);
}

/* Property: flows between hosts of one leaf use no link and no offset. */
static void one_leaf(void **state)
{
	static const struct hd_key_flow flows[] = {{0, 1}, {1, 2}, {2, 0}, {1, 1}};
	struct scene scene;

	(void)state;
	scene_xgft(&scene, "children=3,3 parents=1,3", 1);
	struct traffic traffic = listed(flows, 4);
	struct hd_key *key = key_for(&scene, &traffic, 1, false);
	assert_int_equal(key->contention, 0);
	assert_int_equal(key->offsets, 0);
	assert_int_equal(key->wanted_offsets, 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(key->routes[i].climbs, 0);
	assert_int_equal(walk_key(&scene, key, NULL, 1), 0);
	hd_key_free(key);
	traffic.count = 0;
	key = key_for(&scene, &traffic, 1, false);
	assert_int_equal(key->flow_count, 0);
	hd_key_free(key);
	traffic_release(&traffic);
	scene_end(&scene);
}

/* Property: three flows from one leaf to one host need three offsets; with fewer they share a cable
 * upwards, and the refusal says how many offsets it takes. */
static void several_to_one_host(void **state)
{
	static const struct hd_key_flow flows[] = {{0, 4}, {1, 4}, {2, 4}};
	struct scene scene;

	(void)state;
	scene_xgft(&scene, "children=3,3 parents=1,3", 2);
	struct traffic traffic = listed(flows, 3);
	struct hd_key *key = key_for(&scene, &traffic, 3, false);
	assert_int_equal(key->offsets, 3);
	assert_int_equal(key->contention, 1);
	assert_int_equal(walk_key(&scene, key, NULL, 1), 1);
	hd_key_free(key);
	key = key_for(&scene, &traffic, 2, true);
	assert_int_equal(key->offsets, 2);
	assert_int_equal(key->wanted_offsets, 3);
	assert_int_equal(key->contention, 2);
	hd_key_free(key);
	assert_key_refused(&scene, &traffic, 1, -EDOM, "3 flows from one leaf go to one host");
	traffic_release(&traffic);
	scene_end(&scene);
}

/* Property: flows from three leaves to one host get along with one LID. */
static void leaves_to_one_host(void **state)
{
	static const struct hd_key_flow flows[] = {{0, 9}, {3, 9}, {6, 9}};
	struct scene scene;

	(void)state;
	scene_xgft(&scene, "children=3,4 parents=1,3", 0);
	struct traffic traffic = listed(flows, 3);
	struct hd_key *key = key_for(&scene, &traffic, 1, false);
	assert_int_equal(key->offsets, 1);
	assert_int_equal(key->wanted_offsets, 1);
	assert_int_equal(walk_key(&scene, key, NULL, 0), 1);
	hd_key_free(key);
	traffic_release(&traffic);
	scene_end(&scene);
}

/* Property: where a leaf has more flows than cables, the refusal names the leaf, the flows and the
 * cables; the best key spreads them evenly. */
static void too_many_flows(void **state)
{
	static const struct hd_key_flow flows[] = {{0, 4}, {1, 5}, {2, 6}, {3, 7}, {8, 9}};
	struct scene scene;

	(void)state;
	scene_xgft(&scene, "children=4,3 parents=1,2", 1);
	struct traffic traffic = listed(flows, 5);
	assert_key_refused(&scene, &traffic, 1, -EDOM,
			   "4 flows must leave or enter switch 'S1_0' 0x0000000000200000 "
			   "upwards, and it has 2 usable cables upwards");
	struct hd_key *key = key_for(&scene, &traffic, 1, true);
	assert_int_equal(key->contention, 2);
	assert_int_equal(key->demand, 4);
	assert_int_equal(key->usable, 2);
	assert_int_equal(key->tightest_switch, 0);
	hd_key_free(key);
	traffic_release(&traffic);
	scene_end(&scene);
}

/* Property: where the leaves have cables enough and a switch above them does not, the refusal names
 * that switch, and says that no such key was found. */
static void too_many_flows_above(void **state)
{
	static const struct hd_key_flow flows[] = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
	struct scene scene;

	(void)state;
	scene_xgft(&scene, "children=2,2,2 parents=1,2,1", 1);
	struct traffic traffic = listed(flows, 4);
	assert_key_refused(
	    &scene, &traffic, 1, -EDOM,
	    "found no key that is free of contention, the best has 2 flows on a link; "
	    "the tightest switch is 'S2_");
	struct hd_key *key = key_for(&scene, &traffic, 1, true);
	assert_int_equal(key->contention, 2);
	assert_int_equal(key->demand, 2);
	assert_int_equal(key->usable, 1);
	hd_key_free(key);
	traffic_release(&traffic);
	scene_end(&scene);
}

/* Property: hosts that do not exist and hosts without a path are refused, also if contention does
 * not matter; an overlay needs LIDs that the hosts have. */
static void refusals(void **state)
{
	static const struct hd_key_flow flows[] = {{0, 18}}, apart[] = {{0, 3}, {3, 6}};
	struct hd_fabric *fabric = generate("xgft", "children=3,6 parents=1,2"), *other = NULL;
	struct hd_key_overlay overlay = {0};
	struct hd_error err = {""};
	struct scene scene;

	(void)state;
	/* leaf 0 keeps the first spine, leaf 1 the second */
	assert_int_equal(variants_without_link(fabric, 1, &other, NULL), 0);
	hd_fabric_free(fabric);
	assert_int_equal(variants_without_link(other, 1, &fabric, NULL), 0);
	hd_fabric_free(other);
	scene = (struct scene){.fabric = fabric}; /* dmodk has no tables for it */
	assert_int_equal(hd_key_tree_new(fabric, &scene.tree, &err), 0);
	struct traffic traffic = listed(flows, 1);
	assert_key_refused(&scene, &traffic, 1, -EINVAL, "host 18 does not exist");
	traffic_release(&traffic);
	traffic = listed(apart, 2);
	assert_key_refused(&scene, &traffic, 1, -EHOSTUNREACH,
			   "no path from 'H_0_0' 0x0000000000100000[1] climbs and then descends");
	traffic_release(&traffic);
	traffic = listed(apart + 1, 1);
	struct hd_key *key = key_for(&scene, &traffic, 1, false);
	assert_int_equal(hd_key_overlay(scene.tree, key, NULL, 1, &overlay, &err), -ERANGE);
	assert_non_null(strstr(err.text, "its LMC is 0"));
	assert_null(overlay.entries);
	hd_key_free(key);
	traffic_release(&traffic);
	scene_end(&scene);
}

/* Property: fabrics that are no regular trees are refused with a reason. */
static void no_tree(void **state)
{
	static const char *const kinds[][2] = {{"torus", "dims=4,4"},
					       {"hypercube", "dimensions=4"}};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct hd_fabric *fabric = generate(kinds[i][0], kinds[i][1]);
		struct hd_key_tree *tree = NULL;
		struct hd_error err = {""};
		assert_int_equal(hd_key_tree_new(fabric, &tree, &err), -ENOTSUP);
		assert_null(tree);
		assert_true(strlen(err.text) > 0);
		hd_fabric_free(fabric);
	}
}

/* Property: two keys of the same flows share all their links; a shift of the second one by the
 * loads of the first avoids that. Taking the flows away leaves no load. */
static void shift_away(void **state)
{
	struct scene scene;

	(void)state;
	scene_xgft(&scene, "children=6,6,6 parents=1,6,6", 1);
	for (uint64_t seed = 1; seed <= 10; seed++) {
		uint64_t random = seed;
		struct hd_key_shift *shift = NULL;
		struct traffic traffic = permutation(scene.fabric, 36, &random);
		struct hd_key *key = key_for(&scene, &traffic, 1, false);
		struct hd_key_loads *loads = hd_key_loads_new(scene.tree);
		hd_key_loads_add(loads, scene.tree, key, NULL, 1);
		assert_int_equal(
		    hd_key_shift_choose(scene.tree, key, loads, HD_KEY_SHIFT_LINKS, &shift, NULL),
		    0);
		assert_int_equal(walk_key(&scene, key, shift, 1), 1);
		hd_key_loads_add(loads, scene.tree, key, shift, 1);
		uint32_t shared = 0;
		for (uint32_t link = 0; link < loads->link_count; link++)
			shared += loads->flows[link] > 1;
		assert_int_equal(shared, 0);
		hd_key_loads_add(loads, scene.tree, key, shift, -1);
		hd_key_loads_add(loads, scene.tree, key, NULL, -1);
		for (uint32_t link = 0; link < loads->link_count; link++)
			assert_int_equal(loads->flows[link], 0);
		hd_key_loads_free(loads);
		hd_key_shift_free(shift);
		hd_key_free(key);
		traffic_release(&traffic);
	}
	scene_end(&scene);
}

/* Property: the shift of the paper leads the colour with the most flows through the middle switch
 * with the least load. */
static void shift_as_the_paper(void **state)
{
	static const struct hd_key_flow flows[] = {{0, 3}, {3, 6}, {6, 0}};
	struct scene scene;
	struct hd_key_shift *shift = NULL;
	uint32_t links[2 * HD_KEY_LEVELS];

	(void)state;
	scene_xgft(&scene, "children=3,3 parents=1,3", 1);
	struct traffic traffic = listed(flows, 3);
	struct hd_key *key = key_for(&scene, &traffic, 1, false);
	struct hd_key_loads *loads = hd_key_loads_new(scene.tree);
	for (uint32_t link = 0; link < loads->link_count; link++)
		loads->flows[link] = scene.fabric->isl_to[link] == 4 ? 0 : 1;
	assert_int_equal(
	    hd_key_shift_choose(scene.tree, key, loads, HD_KEY_SHIFT_PAPER, &shift, NULL), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(key->routes[i].up[0], key->routes[0].up[0]);
		assert_int_equal(hd_key_path(scene.tree, &key->routes[i], shift, links), 2);
		assert_int_equal(scene.fabric->isl_to[links[0]], 4);
	}
	hd_key_shift_free(shift);
	hd_key_loads_free(loads);
	hd_key_free(key);
	traffic_release(&traffic);
	scene_end(&scene);
}

/* Property: the number of threads and repetition change nothing. */
static void same_key(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=6,6,6 parents=1,6,6"), *other = NULL;
	struct scene scene;

	(void)state;
	assert_int_equal(hd_fabric_remove_links(fabric, 3, 5, &other, NULL), 0);
	hd_fabric_free(fabric);
	assert_true(scene_begin(&scene, with_lmc(other, 2)));
	for (uint64_t seed = 1; seed <= 5; seed++) {
		uint64_t random = seed;
		struct traffic traffic = random_flows(scene.fabric, 216, &random);
		struct hd_key *first = key_for(&scene, &traffic, 3, true);
		for (unsigned threads = 1; threads <= 4; threads++) {
			struct hd_key_request request = {.tree = scene.tree,
							 .flows = traffic.flows,
							 .flow_count = traffic.count,
							 .offsets = 3,
							 .best_effort = true,
							 .threads = threads};
			struct hd_key *key = NULL;
			assert_int_equal(hd_key_make(&request, &key, NULL), 0);
			assert_memory_equal(key->routes, first->routes,
					    key->flow_count * sizeof(*key->routes));
			assert_int_equal(key->contention, first->contention);
			assert_int_equal(key->tightest_switch, first->tightest_switch);
			hd_key_free(key);
		}
		hd_key_free(first);
		traffic_release(&traffic);
	}
	scene_end(&scene);
}

/* Property: each algorithm gives a sound key; those that are exact give one without
 * contention. */
static void algorithms(void **state)
{
	struct scene scene;

	(void)state;
	scene_xgft(&scene, "children=6,6,6 parents=1,6,6", 1);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		uint64_t random = seed;
		struct traffic traffic = permutation(scene.fabric, 216, &random);
		for (unsigned algorithm = HD_COLOUR_AUTO; algorithm <= HD_COLOUR_PAPER;
		     algorithm++) {
			struct hd_key_request request = {.tree = scene.tree,
							 .flows = traffic.flows,
							 .flow_count = traffic.count,
							 .algorithm =
							     (enum hd_colour_algorithm)algorithm,
							 .best_effort = true};
			struct hd_key *key = NULL;
			assert_int_equal(hd_key_make(&request, &key, NULL), 0);
			assert_int_equal(walk_key(&scene, key, NULL, 1), key->contention);
			if (algorithm != HD_COLOUR_PAPER)
				assert_int_equal(key->contention, 1);
			hd_key_free(key);
		}
		traffic_release(&traffic);
	}
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_leaf),
	    cmocka_unit_test(several_to_one_host),
	    cmocka_unit_test(leaves_to_one_host),
	    cmocka_unit_test(too_many_flows),
	    cmocka_unit_test(too_many_flows_above),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(no_tree),
	    cmocka_unit_test(shift_away),
	    cmocka_unit_test(shift_as_the_paper),
	    cmocka_unit_test(same_key),
	    cmocka_unit_test(algorithms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
