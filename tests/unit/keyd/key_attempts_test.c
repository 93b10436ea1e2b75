/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys that are refused: other shifts and orders, then a part of the flows; and as few offsets as are enough. */
#include "cases.h"
#include "key_damaged.h"

#include <heddle/keyd/key_attempts.h>

/* ---- proofs ---- */

/* -ELOOP if the checker finds a credit loop in the tables with the overlay. */
static int prove_tables(void *context, const struct hd_key_overlay *overlay, struct hd_error *err)
{
	const struct scene *scene = context;
	struct hd_routes *routes = overlaid(scene, overlay);
	struct hd_check_report *report = NULL;

	assert_int_equal(hd_check(scene->fabric, routes, NULL, &report, err), 0);
	assert_int_equal(report->no_route + report->dead_end + report->loop, 0);
	bool clean = hd_check_clean(report);
	hd_check_report_free(report);
	hd_routes_free(routes);
	return clean ? 0 : hd_error_set(err, -ELOOP, "a credit loop");
}

/* Refuses overlays with entries for any of these LIDs. */
struct bad_lids {
	const bool *bad; /* [lid_count] */
	unsigned calls;
};

static int prove_lids(void *context, const struct hd_key_overlay *overlay, struct hd_error *err)
{
	struct bad_lids *lids = context;

	lids->calls++;
	for (uint32_t i = 0; i < overlay->count; i++)
		if (lids->bad[overlay->entries[i].lid])
			return hd_error_set(err, -ELOOP, "LID %u", overlay->entries[i].lid);
	return 0;
}

static struct hd_key_attempts *attempts_for(const struct scene *scene,
					    const struct traffic *traffic, unsigned offsets,
					    unsigned whole, unsigned parts)
{
	struct hd_key_attempts_request request = {.key = {.tree = scene->tree,
							  .flows = traffic->flows,
							  .flow_count = traffic->count,
							  .offsets = offsets,
							  .best_effort = true,
							  .leave_out = true},
						  .whole = whole,
						  .parts = parts};
	struct hd_key_attempts *attempts = NULL;
	struct hd_error err = {""};

	if (hd_key_attempts_new(&request, &attempts, &err))
		fail_msg("%s", err.text);
	return attempts;
}

typedef int proof_fn(void *context, const struct hd_key_overlay *overlay, struct hd_error *err);

/* Goes through all attempts. 0: one is sound; else what the last proof said. */
static int prove(struct hd_key_attempts *attempts, const struct hd_key_tree *tree,
		 unsigned first_offset, proof_fn *proof, void *context, struct hd_error *err)
{
	struct hd_key_attempt attempt;
	int last = -ENOENT, rc;
	bool any = false;

	while (!(rc = hd_key_attempts_next(attempts, &attempt, err))) {
		struct hd_key_overlay overlay = {0};
		assert_int_equal(
		    hd_key_overlay(tree, attempt.key, attempt.shift, first_offset, &overlay, err),
		    0);
		last = proof(context, &overlay, err);
		hd_key_overlay_release(&overlay);
		any |= !last;
		hd_key_attempts_answer(attempts, !last);
	}
	assert_int_equal(rc, -ENOENT);
	return any ? 0 : last;
}

struct tally {
	uint32_t keys, looped, healed, parts, flows, left_out;
};

static void prove_taken(const struct scene *scene, struct hd_key_attempts *attempts,
			unsigned first_offset, struct tally *tally)
{
	struct hd_key *key = NULL;
	struct hd_key_shift *shift = NULL;

	assert_int_equal(hd_key_attempts_take(attempts, &key, &shift), 0);
	assert_true(walk_key(scene, key, shift, first_offset) <= key->contention);
	assert_true(check_overlaid(scene, key, shift, first_offset));
	uint32_t left_out = 0;
	for (uint32_t i = 0; i < key->flow_count; i++)
		left_out += key->routes[i].left_out;
	assert_int_equal(left_out, key->left_out);
	tally->flows += key->flow_count;
	tally->left_out += left_out;
	hd_key_shift_free(shift);
	hd_key_free(key);
	assert_int_equal(hd_key_attempts_take(attempts, &key, &shift), -ENOENT);
}

/* The first attempt with a key that closes a loop; then the others. */
static void try_all(struct scene *scene, const struct traffic *traffic, struct tally *tally)
{
	unsigned lmc = hd_fabric_largest_lmc(scene->fabric), first_offset = lmc ? 1 : 0;
	struct hd_key_attempts *one =
	    attempts_for(scene, traffic, (1u << lmc) - first_offset, 1, 0);
	struct hd_key_attempts *whole =
	    attempts_for(scene, traffic, (1u << lmc) - first_offset, 8, 0);
	struct hd_key_attempts *parts =
	    attempts_for(scene, traffic, (1u << lmc) - first_offset, 1, 200);
	struct hd_error err = {""};

	tally->keys++;
	if (prove(one, scene->tree, first_offset, prove_tables, scene, &err)) {
		tally->looped++;
		assert_string_equal(err.text, "a credit loop");
		tally->healed +=
		    !prove(whole, scene->tree, first_offset, prove_tables, scene, &err);
		assert_int_equal(prove(parts, scene->tree, first_offset, prove_tables, scene, &err),
				 0);
		prove_taken(scene, parts, first_offset, tally);
	}
	hd_key_attempts_free(one);
	hd_key_attempts_free(whole);
	hd_key_attempts_free(parts);
}

/* Property: where the first key of a damaged tree closes a credit loop, another shift or order is sound in some cases,
 * and a key of a part of the flows in all. That part has nearly all flows. */
static void damaged_trees(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (uint64_t seed = UNDER_SANITIZERS(1000, 0); seed < 1500; seed++) {
		struct scene scene;
		uint64_t random = seed;
		if (seed / 5 % 2 == 0 || !scene_begin(&scene, damaged(seed)))
			continue;
		uint32_t count = 1 + (uint32_t)hd_random_below(&random, scene.fabric->host_count);
		struct traffic traffic = permutation(scene.fabric, count, &random);
		try_all(&scene, &traffic, &tally);
		traffic_release(&traffic);
		scene_end(&scene);
	}
	print_message("%u keys, %u close a credit loop; other attempts: %u of these with all "
		      "flows, the others leave out "
		      "%u of %u flows\n",
		      tally.keys, tally.looped, tally.healed, tally.left_out, tally.flows);
	assert_true(tally.looped >= UNDER_SANITIZERS(3, 5));
	assert_true(tally.healed > 0);
	assert_true(tally.left_out * 4 < tally.flows);
}

/* ---- parts ---- */

/* Property: the flows of LIDs that are not sound are left out, and no others. The number of attempts is that of the
 * LIDs left out times the logarithm of all. */
static void only_bad_ones(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct scene scene;
		uint64_t random = seed;
		struct hd_error err = {""};
		struct hd_key *key = NULL;
		struct hd_key_shift *shift = NULL;
		scene_xgft(&scene, "children=4,4,4 parents=1,4,4", 1);
		struct traffic traffic = random_flows(scene.fabric, 60, &random);
		bool *bad = calloc(scene.fabric->lid_count, sizeof(*bad));
		struct bad_lids lids = {bad, 0};
		for (uint32_t lid = 0; lid < scene.fabric->lid_count; lid++)
			bad[lid] = hd_random_below(&random, 20) == 0;
		struct hd_key_attempts *attempts = attempts_for(&scene, &traffic, 1, 2, 400);
		assert_int_equal(prove(attempts, scene.tree, 1, prove_lids, &lids, &err), 0);
		assert_int_equal(hd_key_attempts_take(attempts, &key, &shift), 0);
		for (uint32_t i = 0; i < key->flow_count; i++) {
			const struct hd_key_route *route = &key->routes[i];
			uint32_t lid =
			    scene.fabric->lid[scene.fabric->host_port[route->destination]] + 1;
			assert_int_equal(route->left_out, bad[lid]);
		}
		assert_true(lids.calls <= 2 + 7 * 2 * key->left_out);
		assert_int_equal(walk_key(&scene, key, shift, 1), key->contention);
		hd_key_shift_free(shift);
		hd_key_free(key);
		hd_key_attempts_free(attempts);
		free(bad);
		traffic_release(&traffic);
		scene_end(&scene);
	}
}

/* Property: if nothing is sound, the reason of the last proof is the result, and no key. */
static void none_is_sound(void **state)
{
	struct scene scene;
	uint64_t random = 1;
	struct hd_error err = {""};
	struct hd_key *key = NULL;
	struct hd_key_shift *shift = NULL;

	(void)state;
	scene_xgft(&scene, "children=3,3 parents=1,3", 1);
	struct traffic traffic = permutation(scene.fabric, 9, &random);
	bool *bad = malloc(scene.fabric->lid_count);
	struct bad_lids lids = {bad, 0};
	memset(bad, 1, scene.fabric->lid_count);
	struct hd_key_attempts *attempts = attempts_for(&scene, &traffic, 1, 5, 10);
	assert_int_equal(prove(attempts, scene.tree, 1, prove_lids, &lids, &err), -ELOOP);
	assert_non_null(strstr(err.text, "LID"));
	assert_int_equal(hd_key_attempts_take(attempts, &key, &shift), -ENOENT);
	assert_null(key);
	hd_key_attempts_free(attempts);
	free(bad);
	traffic_release(&traffic);
	scene_end(&scene);
}

/* Property: attempts differ: of eight whole ones no two have the same entries. */
/* A shift that was written and read gives the same entries; another number of bytes is refused. */
static void check_bytes(const struct scene *scene, const struct hd_key_attempt *attempt,
			const struct hd_key_overlay *expected)
{
	struct hd_key_overlay overlay = {0};
	struct hd_key_shift *shift = NULL;
	struct hd_error err = {""};
	uint8_t *bytes = NULL;
	size_t length = 0;

	if (!attempt->shift)
		return;
	assert_int_equal(hd_key_shift_write(scene->tree, attempt->shift, &bytes, &length), 0);
	assert_int_equal(hd_key_shift_read(scene->tree, bytes, length - 1, &shift), -EINVAL);
	assert_int_equal(hd_key_shift_read(scene->tree, bytes, length, &shift), 0);
	assert_int_equal(hd_key_overlay(scene->tree, attempt->key, shift, 1, &overlay, &err), 0);
	assert_int_equal(overlay.count, expected->count);
	for (uint32_t i = 0; i < overlay.count; i++) {
		const struct hd_key_entry *one = &overlay.entries[i],
					  *other = &expected->entries[i];

		assert_true(one->switch_guid == other->switch_guid);
		assert_int_equal(one->lid, other->lid);
		assert_int_equal(one->port, other->port);
	}
	hd_key_overlay_release(&overlay);
	hd_key_shift_free(shift);
	free(bytes);
}

static void attempts_differ(void **state)
{
	struct scene scene;
	uint64_t random = 4;
	struct hd_key_attempt attempt;
	struct hd_key_overlay overlays[8] = {{0}};
	struct hd_error err = {""};

	(void)state;
	scene_xgft(&scene, "children=4,4,4 parents=1,4,4", 1);
	struct traffic traffic = permutation(scene.fabric, 40, &random);
	struct hd_key_attempts *attempts = attempts_for(&scene, &traffic, 1, 8, 0);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(hd_key_attempts_next(attempts, &attempt, &err), 0);
		assert_int_equal(attempt.number, i);
		assert_true(attempt.whole);
		assert_int_equal(
		    hd_key_overlay(scene.tree, attempt.key, attempt.shift, 1, &overlays[i], &err),
		    0);
		check_bytes(&scene, &attempt, &overlays[i]);
		hd_key_attempts_answer(attempts, false);
		for (unsigned other = 0; other < i; other++)
			assert_true(overlays[i].count != overlays[other].count ||
				    memcmp(overlays[i].entries, overlays[other].entries,
					   overlays[i].count * sizeof(*overlays[i].entries)) != 0);
	}
	assert_int_equal(hd_key_attempts_next(attempts, &attempt, &err), -ENOENT);
	for (unsigned i = 0; i < 8; i++)
		hd_key_overlay_release(&overlays[i]);
	hd_key_attempts_free(attempts);
	traffic_release(&traffic);
	scene_end(&scene);
}

/* ---- offsets ---- */

/* Contention by trying every number of offsets; *fewest: the first with the least. */
static uint32_t least_contention(const struct scene *scene, const struct traffic *traffic,
				 unsigned most, unsigned *fewest)
{
	uint32_t least = UINT32_MAX;

	for (unsigned offsets = 1; offsets <= most; offsets++) {
		struct hd_key *key = key_for(scene, traffic, offsets, true);
		if (key->contention < least) {
			least = key->contention;
			*fewest = key->offsets;
		}
		hd_key_free(key);
	}
	return least;
}

/* Property: a key with the fewest offsets has the contention that any number of offsets gives, and no more offsets than
 * the first number that gives it. */
static void fewest_offsets(void **state)
{
	uint32_t several = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct scene scene;
		uint64_t random = seed;
		struct hd_error err = {""};
		struct hd_key *key = NULL;
		unsigned fewest = 0;
		scene_xgft(&scene, "children=4,4 parents=1,4", 3);
		struct traffic traffic =
		    random_flows(scene.fabric, 4 + (uint32_t)(seed % 12), &random);
		for (uint32_t i = 0; i < traffic.count; i++)
			traffic.flows[i].destination %= 3;
		struct hd_key_request request = {.tree = scene.tree,
						 .flows = traffic.flows,
						 .flow_count = traffic.count,
						 .offsets = 7,
						 .best_effort = true};
		uint32_t least = least_contention(&scene, &traffic, 7, &fewest);
		assert_int_equal(hd_key_make_fewest(&request, &key, &err), 0);
		assert_int_equal(key->contention, least);
		assert_int_equal(key->offsets, fewest);
		assert_int_equal(walk_key(&scene, key, NULL, 1), least);
		several += key->offsets > 1;
		hd_key_free(key);
		request.best_effort = false;
		int rc = hd_key_make_fewest(&request, &key, &err);
		assert_int_equal(rc, least > 1 ? -EDOM : 0);
		if (!rc)
			hd_key_free(key);
		traffic_release(&traffic);
		scene_end(&scene);
	}
	print_message("%u of 40 keys have several offsets\n", several);
	assert_true(several > 5);
}

/* Property: with one offset for each source, all flows of a source have the same, and flows of two sources of a leaf to
 * one host have different ones as long as there are enough. */
static void one_offset_a_source(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct scene scene;
		uint64_t random = seed;
		struct hd_error err = {""};
		struct hd_key *key = NULL;
		scene_xgft(&scene, "children=4,4,4 parents=1,4,4", 4);
		const struct hd_fabric *fabric = scene.fabric;
		struct traffic traffic = random_flows(scene.fabric, 100, &random);
		for (uint32_t i = 0; i < traffic.count; i++)
			traffic.flows[i].destination %= 16;
		struct hd_key_request request = {.tree = scene.tree,
						 .flows = traffic.flows,
						 .flow_count = traffic.count,
						 .offsets = 15,
						 .best_effort = true,
						 .one_offset_a_source = true};
		assert_int_equal(hd_key_make(&request, &key, &err), 0);
		assert_true(key->wanted_offsets <= 15);
		for (uint32_t i = 0; i < key->flow_count; i++)
			for (uint32_t j = 0; j < i; j++) {
				const struct hd_key_route *a = &key->routes[i],
							  *b = &key->routes[j];
				if (!a->climbs || !b->climbs)
					continue;
				if (a->source == b->source)
					assert_int_equal(a->offset, b->offset);
				else if (a->destination == b->destination &&
					 fabric->host_switch[a->source] ==
					     fabric->host_switch[b->source])
					assert_int_not_equal(a->offset, b->offset);
			}
		assert_int_equal(walk_key(&scene, key, NULL, 1), key->contention);
		hd_key_free(key);
		traffic_release(&traffic);
		scene_end(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(damaged_trees),  cmocka_unit_test(only_bad_ones),
	    cmocka_unit_test(none_is_sound),  cmocka_unit_test(attempts_differ),
	    cmocka_unit_test(fewest_offsets), cmocka_unit_test(one_offset_a_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
