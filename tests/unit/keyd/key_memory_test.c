/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trees, keys, shifts and overlays with each of their allocations failing in turn. */
#include "key_testing.h"

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

/* Property: each function answers a shortage of memory with -ENOMEM and nothing to release. */
static void every_allocation(void **state)
{
	struct trial trial = {0};
	const struct short_memory_case cases[] = {
	    {"tree", &trial, tree_call, settle_tree, 0},
	    {"make", &trial, make_call, settle_key, 0},
	    {"shift", &trial, shift_call, settle_shift, 0},
	    {"overlay", &trial, overlay_call, settle_overlay, 0},
	};
	struct hd_fabric *fabric = generate("xgft", "children=4,4,4 parents=1,2,4 parallel=1,2,2");
	struct hd_fabric *other = NULL;
	uint64_t random = 3;

	(void)state;
	assert_int_equal(hd_fabric_remove_links(fabric, 3, 5, &other, NULL), 0);
	hd_fabric_free(fabric);
	assert_true(scene_begin(&trial.scene, with_lmc(other, 2)));
	trial.traffic = random_flows(trial.scene.fabric, 40, &random);
	trial.key = key_for(&trial.scene, &trial.traffic, 2, true);
	trial.loads = hd_key_loads_new(trial.scene.tree);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(short_memory_try(&cases[i]) > 0);
	hd_key_loads_free(trial.loads);
	hd_key_free(trial.key);
	traffic_release(&trial.traffic);
	scene_end(&trial.scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
