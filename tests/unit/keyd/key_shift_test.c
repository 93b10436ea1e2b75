/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What makes shifts of small keys cheap in large fabrics, beside what is slow and plain. */
#include "key_counts.h"
#include "key_damaged.h"
#include "key_shift.h"

static void compare_counts(const struct scene *scene, const struct hd_key *key,
			   const struct hd_key_shift *shift)
{
	struct hd_key_loads *loads = hd_key_loads_new(scene->tree);
	struct key_counts counts = {.count = 0};
	struct hd_arena arena = {0};
	uint32_t hops[2 * HD_KEY_LEVELS], links = 0;

	key_counts_init(&counts, key->flow_count, 2 * HD_KEY_LEVELS, loads->link_count, &arena);
	assert_int_equal(hd_arena_check(&arena), 0);
	assert_true(counts.mask < 4 * (uint64_t)loads->link_count + 16);
	hd_key_loads_add(loads, scene->tree, key, shift, 1);
	for (uint32_t i = 0; i < key->flow_count; i++) {
		uint32_t count = hd_key_path(scene->tree, &key->routes[i], shift, hops);
		for (uint32_t hop = 0; hop < count; hop++)
			key_counts_put(&counts, hops[hop]);
	}
	for (uint32_t link = 0; link < loads->link_count; link++) {
		assert_int_equal(key_counts_of(&counts, link), loads->flows[link]);
		links += loads->flows[link] > 0;
	}
	assert_int_equal(counts.count, links);
	hd_arena_release(&arena);
	hd_key_loads_free(loads);
}

/* Whether two shifts of a key lead it over the same links, and are the same. */
static void compare_shifts(const struct scene *scene, const struct hd_key_shift *one,
			   const struct hd_key_shift *other)
{
	uint8_t *bytes, *others;
	size_t length, length_of_other;

	assert_int_equal(hd_key_shift_write(scene->tree, one, &bytes, &length), 0);
	assert_int_equal(hd_key_shift_write(scene->tree, other, &others, &length_of_other), 0);
	assert_int_equal(length, length_of_other);
	assert_memory_equal(bytes, others, length);
	free(bytes);
	free(others);
}

static void compare(const struct scene *scene, const struct hd_key *key, uint64_t *random)
{
	struct hd_key_loads *loads = hd_key_loads_new(scene->tree);

	for (uint32_t link = 0; link < loads->link_count; link++)
		loads->flows[link] = (uint32_t)hd_random_below(random, 3);
	for (unsigned i = HD_KEY_SHIFT_LINKS; i <= HD_KEY_SHIFT_PAPER; i++) {
		enum hd_key_objective objective = (enum hd_key_objective)i;
		struct hd_key_shift *quick, *slow;

		assert_int_equal(
		    key_shift_choose(scene->tree, key, loads, objective, true, &quick, NULL), 0);
		assert_int_equal(
		    key_shift_choose(scene->tree, key, loads, objective, false, &slow, NULL), 0);
		compare_shifts(scene, quick, slow);
		compare_counts(scene, key, quick);
		hd_key_shift_free(quick);
		hd_key_shift_free(slow);
	}
	compare_counts(scene, key, NULL);
	hd_key_loads_free(loads);
}

/* Property: on damaged trees, keys of few and of many flows get the same shifts whether or not what has no flows is
 * skipped, and their flows on links are those that are counted link by link. */
static void same_as_slow(void **state)
{
	uint32_t keys = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct scene scene;
		uint64_t random = seed;

		if (!scene_begin(&scene, damaged(seed)))
			continue;
		uint32_t most = seed % 2 ? 8 : scene.fabric->host_count;
		struct traffic traffic = random_flows(
		    scene.fabric, 1 + (uint32_t)hd_random_below(&random, most), &random);
		struct hd_key *key = NULL;
		if (!key_try(&scene, &traffic, 1, true, &key, NULL)) {
			compare(&scene, key, &random);
			keys++;
		}
		hd_key_free(key);
		traffic_release(&traffic);
		scene_end(&scene);
	}
	print_message("%u keys\n", keys);
	assert_true(keys > 100);
}

/* Most flows on a link of the key, counted link by link. */
static uint32_t most_of(const struct scene *scene, const struct hd_key *key,
			const struct hd_key_loads *others, const struct hd_key_shift *shift)
{
	struct hd_key_loads *own = hd_key_loads_new(scene->tree);
	uint32_t most = 0;

	hd_key_loads_add(own, scene->tree, key, shift, 1);
	for (uint32_t link = 0; link < own->link_count; link++)
		if (own->flows[link] && most < own->flows[link] + others->flows[link])
			most = own->flows[link] + others->flows[link];
	hd_key_loads_free(own);
	return most;
}

static void draw_loads(struct hd_key_loads *loads, uint32_t below, uint64_t *random)
{
	for (uint32_t link = 0; link < loads->link_count; link++)
		loads->flows[link] = (uint32_t)hd_random_below(random, below);
}

struct renewals {
	uint32_t kept, moved;
};

/* Loads change, and the key asks again. */
static void renew(const struct scene *scene, const struct hd_key *key, uint32_t below,
		  enum hd_key_objective objective, uint64_t *random, struct renewals *count)
{
	struct hd_key_loads *loads = hd_key_loads_new(scene->tree);
	struct hd_key_shift *before = NULL, *best, *renewed;

	draw_loads(loads, below, random);
	if (hd_random_below(random, 8))
		assert_int_equal(
		    hd_key_shift_choose(scene->tree, key, loads, objective, &before, NULL), 0);
	if (hd_random_below(random, 2))
		draw_loads(loads, below, random);
	assert_int_equal(hd_key_shift_choose(scene->tree, key, loads, objective, &best, NULL), 0);
	assert_int_equal(
	    hd_key_shift_renew(scene->tree, key, loads, objective, before, &renewed, NULL), 0);
	if (most_of(scene, key, loads, before) <= most_of(scene, key, loads, best)) {
		assert_null(renewed);
		count->kept++;
	} else {
		assert_non_null(renewed);
		compare_shifts(scene, renewed, best);
		count->moved++;
	}
	hd_key_shift_free(renewed);
	hd_key_shift_free(best);
	hd_key_shift_free(before);
	hd_key_loads_free(loads);
}

/* Property: a key that asks again keeps its shift exactly if its most loaded link has no more flows than with the shift
 * that would be chosen, and gets that one otherwise. */
static void stays_where_it_is_as_good(void **state)
{
	struct renewals count = {.kept = 0};

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct scene scene;
		uint64_t random = seed;

		if (!scene_begin(&scene, damaged(seed)))
			continue;
		uint32_t most = seed % 2 ? 8 : scene.fabric->host_count;
		struct traffic traffic = random_flows(
		    scene.fabric, 1 + (uint32_t)hd_random_below(&random, most), &random);
		struct hd_key *key = NULL;
		for (uint32_t i = 0;
		     i < 8 && (key || !key_try(&scene, &traffic, 1, true, &key, NULL)); i++)
			renew(&scene, key, 1 + i % 4,
			      i % 3 ? HD_KEY_SHIFT_LINKS : HD_KEY_SHIFT_PAPER, &random, &count);
		hd_key_free(key);
		traffic_release(&traffic);
		scene_end(&scene);
	}
	print_message("%u keys stayed, %u moved\n", count.kept, count.moved);
	assert_true(count.kept > 100 && count.moved > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_slow),
					   cmocka_unit_test(stays_where_it_is_as_good)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
