/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys on trees from which switches, cables and hosts are missing, with aggregation nodes and
 * parallel cables, and shifts of such keys. */
#include "key_damaged.h"

#include <heddle/fabric/tree.h>

/* ---- unreachable hosts, slowly ---- */

static void mark_above(const struct hd_fabric *fabric, const struct hd_tree *tree, uint32_t sw,
		       bool *seen)
{
	seen[sw] = true;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (tree->up[link] && !seen[fabric->isl_to[link]])
			mark_above(fabric, tree, fabric->isl_to[link], seen);
}

/* Whether a switch is above both hosts. */
static bool meet(const struct hd_fabric *fabric, const struct hd_tree *tree,
		 const struct hd_key_flow *flow)
{
	bool *a = calloc(fabric->switch_count, 1), *b = calloc(fabric->switch_count, 1);
	bool found = false;

	mark_above(fabric, tree, fabric->host_switch[flow->source], a);
	mark_above(fabric, tree, fabric->host_switch[flow->destination], b);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		found |= a[sw] && b[sw];
	free(a);
	free(b);
	return found;
}

static void prove_unreachable(const struct scene *scene, const struct traffic *traffic)
{
	struct hd_arena arena = {0};
	struct hd_tree tree;
	struct hd_tree_facts facts = {0};
	uint32_t apart = 0;

	assert_int_equal(hd_tree_find(scene->fabric, &facts, 1, &arena, &tree, NULL), 0);
	for (uint32_t i = 0; i < traffic->count; i++)
		apart += !meet(scene->fabric, &tree, &traffic->flows[i]);
	assert_true(apart > 0);
	hd_arena_release(&arena);
}

/* ---- keys ---- */

static uint32_t looped; /* keys that close a credit loop */

/*
 * An aggregation node on a spine of a damaged tree may have to send to a host by a path that
 * descends, turns and climbs. Such a path can meet an entry of a key, and then goes on elsewhere.
 * That rarely closes a credit loop, and then the subnet manager refuses the key.
 */
static void prove_clean(const struct scene *scene, const struct hd_key *key,
			const struct hd_key_shift *shift, unsigned first_offset)
{
	if (check_overlaid(scene, key, shift, first_offset))
		return;
	assert_true(scene->fabric->aside_count > 0);
	looped++;
}

/* Random flows of keys that are in force already. */
static struct hd_key_loads *other_loads(const struct scene *scene, uint64_t *random)
{
	struct hd_key_loads *loads = hd_key_loads_new(scene->tree);

	for (uint32_t link = 0; link < loads->link_count; link++)
		loads->flows[link] = (uint32_t)hd_random_below(random, 3);
	return loads;
}

/* Most flows, with those of others, on a link that the key uses. */
static uint32_t most_with_others(const struct scene *scene, const struct hd_key *key,
				 const struct hd_key_shift *shift,
				 const struct hd_key_loads *others)
{
	struct hd_key_loads *own = hd_key_loads_new(scene->tree);
	uint32_t most = 0;

	hd_key_loads_add(own, scene->tree, key, shift, 1);
	for (uint32_t link = 0; link < own->link_count; link++)
		if (own->flows[link] && own->flows[link] + others->flows[link] > most)
			most = own->flows[link] + others->flows[link];
	hd_key_loads_free(own);
	return most;
}

static void prove_shifts(const struct scene *scene, const struct hd_key *key, unsigned first_offset,
			 uint64_t *random)
{
	struct hd_key_loads *loads = other_loads(scene, random);

	for (unsigned objective = HD_KEY_SHIFT_LINKS; objective <= HD_KEY_SHIFT_PAPER;
	     objective++) {
		struct hd_key_shift *shift = NULL;
		struct hd_error err = {""};
		assert_int_equal(hd_key_shift_choose(scene->tree, key, loads,
						     (enum hd_key_objective)objective, &shift,
						     &err),
				 0);
		assert_int_equal(walk_key(scene, key, shift, first_offset), key->contention);
		prove_clean(scene, key, shift, first_offset);
		if (objective == HD_KEY_SHIFT_LINKS)
			assert_true(most_with_others(scene, key, shift, loads) <=
				    most_with_others(scene, key, NULL, loads));
		hd_key_shift_free(shift);
	}
	hd_key_loads_free(loads);
}

static bool prove_key(const struct scene *scene, const struct traffic *traffic, uint64_t *random)
{
	unsigned lmc = hd_fabric_largest_lmc(scene->fabric), first_offset = lmc ? 1 : 0;
	struct hd_key *key = NULL;
	struct hd_error err = {""};
	int rc = key_try(scene, traffic, (1u << lmc) - first_offset, true, &key, &err);

	if (rc) {
		assert_int_equal(rc, -EHOSTUNREACH);
		prove_unreachable(scene, traffic);
		return false;
	}
	assert_int_equal(walk_key(scene, key, NULL, first_offset), key->contention);
	prove_clean(scene, key, NULL, first_offset);
	prove_shifts(scene, key, first_offset, random);
	hd_key_free(key);
	return true;
}

/* Property: on 300 damaged trees the walks in the tables find every flow at its host, and the
 * contention that the key states, also after a shift, which raises no largest load. All LIDs stay
 * reachable. No credit loop appears, but for very few trees with aggregation nodes. */
static void damaged_trees(void **state)
{
	uint32_t trees = 0, keys = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct scene scene;
		uint64_t random = seed;
		if (!scene_begin(&scene, damaged(seed)))
			continue;
		trees++;
		uint32_t count = 1 + (uint32_t)hd_random_below(&random, scene.fabric->host_count);
		struct traffic traffic = seed % 3 ? permutation(scene.fabric, count, &random)
						  : random_flows(scene.fabric, count, &random);
		keys += prove_key(&scene, &traffic, &random);
		traffic_release(&traffic);
		scene_end(&scene);
	}
	print_message("%u trees, %u keys, %u of %u overlays close a credit loop\n", trees, keys,
		      looped, 3 * keys);
	assert_true(looped * 20 < 3 * keys);
	assert_true(trees > 200);
	assert_true(keys > 150);
}

/* Property: with a spine and two cables missing, half of the hosts still have a key without
 * contention. */
static void spine_missing(void **state)
{
	uint32_t made = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct hd_fabric *fabric = generate("xgft", shapes[0]), *other = NULL;
		struct scene scene;
		uint64_t random = seed;
		for (unsigned i = 0; i < 2; i++)
			fabric = changed(fabric,
					 variants_without_link(
					     fabric,
					     (uint32_t)hd_random_below(&random, fabric->isl_count),
					     &other, NULL),
					 &other);
		assert_true(scene_begin(&scene, with_lmc(fabric, 1)));
		struct traffic traffic = permutation(scene.fabric, 108, &random);
		struct hd_key *key = key_for(&scene, &traffic, 1, true);
		made += key->contention == 1;
		assert_true(key->contention == 1 || key->demand > key->usable);
		hd_key_free(key);
		traffic_release(&traffic);
		scene_end(&scene);
	}
	print_message("%u of 20 keys are free of contention\n", made);
	assert_true(made > 10);
}

/* Property: trees of two levels that have lost so much that they are not regular have keys, too. */
static void irregular(void **state)
{
	uint32_t keys = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct hd_fabric *fabric = generate("xgft", shapes[1 + seed % 2]), *other = NULL;
		struct scene scene;
		uint64_t random = seed;
		fabric = changed(
		    fabric,
		    hd_fabric_remove_links(fabric, 30 + (double)(seed % 20), seed, &other, NULL),
		    &other);
		if (!scene_begin(&scene, with_lmc(fabric, 1)))
			continue;
		struct traffic traffic =
		    permutation(scene.fabric, scene.fabric->host_count / 2, &random);
		keys += prove_key(&scene, &traffic, &random);
		traffic_release(&traffic);
		scene_end(&scene);
	}
	print_message("%u keys\n", keys);
	assert_true(keys > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(damaged_trees),
	    cmocka_unit_test(spine_missing),
	    cmocka_unit_test(irregular),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
