/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trees, keys, shifts and overlays with each of their allocations failing in turn. */
#include "key_ranks_testing.h"

#include <heddle/keyd/key_attempts.h>

#include "short_memory.h"

struct trial {
	struct scene scene;
	struct traffic traffic;
	struct hd_key *key; /* that is ready */
	struct hd_key_loads *loads;
	struct hd_key_tree *tree; /* results */
	struct hd_key *made;
	struct hd_key_shift *shift;
	struct hd_key_overlay overlay;
};

static int tree_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_key_tree_new(trial->scene.fabric, &trial->tree, err);
}

static void settle_tree(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->tree != NULL);
	hd_key_tree_free(trial->tree);
	trial->tree = NULL;
}

static int make_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return key_try(&trial->scene, &trial->traffic, 2, true, &trial->made, err);
}

static void settle_key(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->made != NULL);
	hd_key_free(trial->made);
	trial->made = NULL;
}

static int shift_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_key_shift_choose(trial->scene.tree, trial->key, trial->loads, HD_KEY_SHIFT_LINKS,
				   &trial->shift, err);
}

static void settle_shift(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->shift != NULL);
	hd_key_shift_free(trial->shift);
	trial->shift = NULL;
}

static int overlay_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return hd_key_overlay(trial->scene.tree, trial->key, NULL, 1, &trial->overlay, err);
}

static void settle_overlay(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->overlay.entries != NULL);
	hd_key_overlay_release(&trial->overlay);
}

/* One attempt with all flows and three with parts, of which the first is sound. */
static int attempts_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;
	struct hd_key_attempts_request request = {.key = {.tree = trial->scene.tree,
							  .flows = trial->traffic.flows,
							  .flow_count = trial->traffic.count,
							  .best_effort = true},
						  .loads = trial->loads,
						  .whole = 3,
						  .parts = 3};
	struct hd_key_attempt attempt;
	struct hd_key_attempts *attempts = NULL;
	int rc = hd_key_attempts_new(&request, &attempts, err);

	while (!rc && !(rc = hd_key_attempts_next(attempts, &attempt, err)))
		hd_key_attempts_answer(attempts, attempt.number == 3);
	if (rc == -ENOENT)
		rc = hd_key_attempts_take(attempts, &trial->made, &trial->shift);
	hd_key_attempts_free(attempts);
	return rc;
}

static void settle_attempts(void *context, int rc)
{
	settle_shift(context, rc);
	settle_key(context, rc);
}

static int fewest_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;
	struct hd_key_request request = {.tree = trial->scene.tree,
					 .flows = trial->traffic.flows,
					 .flow_count = trial->traffic.count,
					 .offsets = 3,
					 .best_effort = true};

	return hd_key_make_fewest(&request, &trial->made, err);
}

static void try_scene(struct trial *trial)
{
	const struct short_memory_case cases[] = {
	    {"tree", trial, tree_call, settle_tree, 0},
	    {"make", trial, make_call, settle_key, 0},
	    {"shift", trial, shift_call, settle_shift, 0},
	    {"overlay", trial, overlay_call, settle_overlay, 0},
	    {"attempts", trial, attempts_call, settle_attempts, 0},
	    {"fewest offsets", trial, fewest_call, settle_key, 0},
	};

	trial->key = key_for(&trial->scene, &trial->traffic, 2, true);
	trial->loads = hd_key_loads_new(trial->scene.tree);
	for (uint32_t link = 0; link < trial->loads->link_count; link++)
		trial->loads->flows[link] = link % 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(short_memory_try(&cases[i]) > 0);
	hd_key_loads_free(trial->loads);
	hd_key_free(trial->key);
	traffic_release(&trial->traffic);
	scene_end(&trial->scene);
}

/* Property: each function answers a shortage of memory with -ENOMEM and nothing to release. */
static void every_allocation(void **state)
{
	struct trial trial = {0};
	struct hd_fabric *fabric = generate("xgft", "children=4,4,4 parents=1,2,4 parallel=1,2,2");
	struct hd_fabric *other = NULL;
	uint64_t random = 3;

	(void)state;
	assert_int_equal(hd_fabric_remove_links(fabric, 3, 5, &other, NULL), 0);
	hd_fabric_free(fabric);
	assert_true(scene_begin(&trial.scene, with_lmc(other, 2)));
	trial.traffic = random_flows(trial.scene.fabric, 40, &random);
	try_scene(&trial);
}

/* Property: the same in a tree that is not regular. */
static void irregular_tree(void **state)
{
	struct trial trial = {0};
	uint64_t number = 3, random = 3;

	(void)state;
	while (!scene_begin(&trial.scene, ranks_fabric(number)) ||
	       hd_key_tree_is_regular(trial.scene.tree))
		number += RANKS_KINDS;
	trial.traffic = permutation(trial.scene.fabric, 20, &random);
	try_scene(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation),
					   cmocka_unit_test(irregular_tree)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
