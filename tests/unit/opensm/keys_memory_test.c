/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys when memory is short: nothing leaks, nothing is half made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys_apply.h"
#include "keys_blocks.h"
#include "keys_entries.h"
#include "keys_steps.h"
#include "keys_testing.h"
#include "short_memory.h"

#include <heddle/change/keys_order.h>

#define ENTRIES 24

struct trial {
	struct hd_fabric *fabric;
	struct hd_routes *base, *routes;
	struct hd_key_entry list[ENTRIES];
	uint32_t count;
	struct keys_set *set; /* with one sound key and one that is not */
	struct keys_applied applied;
	struct keys_broken_list broken;
	struct keys_entries entries;
	struct keys_blocks blocks;
	struct hd_keys_proof *proof;
	struct hd_routes *before, *after; /* keys that replace each other in steps */
	uint16_t lid;
	struct keys_steps steps;
};

static struct keys_set *add(struct keys_set *set, uint64_t id, struct hd_key_entry *list,
			    uint32_t count)
{
	struct keys_key *key =
	    keys_key_new(id, &(struct hd_key_overlay){.count = count, .entries = list});
	struct keys_set *larger = keys_set_with(set, id, key);

	keys_key_release(key);
	keys_set_release(set);
	return larger;
}

static int apply(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return keys_apply(trial->fabric, trial->base, trial->set, 1, &trial->applied,
			  &trial->broken, err);
}

static void settle_apply(void *context, int rc)
{
	struct trial *trial = context;

	keys_broken_release(&trial->broken);
	if (rc)
		return;
	assert_int_equal(trial->applied.set->count, 1);
	hd_routes_free(trial->applied.routes);
	keys_set_release(trial->applied.set);
	hd_keys_proof_free(trial->applied.proof);
}

static int apply_again(void *context, struct hd_error *err)
{
	struct trial *trial = context;
	struct keys_set *one = keys_set_new();
	struct keys_set *sound = one ? keys_set_with(one, 1, trial->set->keys[0]) : NULL;
	int rc = sound ? keys_apply_again(trial->fabric, trial->base, sound, &trial->routes, err)
		       : hd_error_no_memory(err);

	keys_set_release(one);
	keys_set_release(sound);
	return rc;
}

static void settle_apply_again(void *context, int rc)
{
	if (!rc)
		hd_routes_free(((struct trial *)context)->routes);
}

static int find_blocks(void *context, struct hd_error *err)
{
	struct trial *trial = context;
	struct keys_entries none = {0};
	int rc = keys_entries_find(trial->fabric, trial->list, trial->count, &trial->entries, err);

	if (!rc &&
	    keys_blocks_find(trial->base, trial->base, &none, &trial->entries, &trial->blocks)) {
		keys_entries_release(&trial->entries);
		rc = hd_error_no_memory(err);
	}
	return rc;
}

static void settle_find_blocks(void *context, int rc)
{
	struct trial *trial = context;

	if (rc)
		return;
	assert_int_equal(trial->blocks.count, 0);
	keys_blocks_release(&trial->blocks);
	keys_entries_release(&trial->entries);
}

/* Down to a leaf from one switch above it, and up again to another one. */
static struct hd_routes *make_turn(const struct trial *trial, uint32_t leaf, bool other)
{
	const struct hd_fabric *fabric = trial->fabric;
	struct hd_routes *routes = hd_routes_copy(trial->base);
	const uint32_t one = fabric->isl_base[leaf] + other, two = fabric->isl_base[leaf] + !other;

	hd_routes_row(routes, fabric->isl_to[one])[trial->lid] =
	    fabric->isl_port[fabric->isl_reverse[one]];
	hd_routes_row(routes, leaf)[trial->lid] = fabric->isl_port[two];
	return routes;
}

static int order(void *context, struct hd_error *err)
{
	struct trial *trial = context;
	const struct hd_keys_change change = {
	    .before = trial->before, .after = trial->after, .lids = &trial->lid, .count = 1};
	struct hd_repair_plan *plan = NULL;
	struct keys_steps back = {0};
	int rc = hd_keys_proof_new(trial->fabric, trial->base, 1, &trial->proof, err);

	if (rc)
		return rc;
	rc = hd_keys_proof_add(trial->proof, trial->before, &trial->lid, 1, err);
	if (!rc)
		rc = hd_keys_order(trial->proof, &change, &plan, err);
	assert_true(rc || plan);
	if (!rc && (keys_steps_add_plan(&trial->steps, plan) ||
		    keys_steps_reverse(&trial->steps, trial->steps.count, trial->before, &back)))
		rc = hd_error_no_memory(err);
	assert_true(rc || trial->steps.steps > 1);
	keys_steps_release(&trial->steps);
	keys_steps_release(&back);
	hd_repair_plan_free(plan);
	hd_keys_proof_free(trial->proof);
	return rc;
}

static void settle_order(void *context, int rc)
{
	(void)context;
	(void)rc;
}

static void make_turns(struct trial *trial)
{
	const uint32_t leaf = trial->fabric->host_switch[26];

	trial->lid = keys_lid(trial->fabric, 20, 1);
	trial->before = make_turn(trial, leaf, false);
	trial->after = make_turn(trial, leaf, true);
}

static void memory_may_be_short_anywhere(void **state)
{
	struct trial trial = {.fabric = keys_fabric(1)};
	const struct short_memory_case cases[] = {
	    {"apply", &trial, apply, settle_apply, 0},
	    {"apply again", &trial, apply_again, settle_apply_again, 0},
	    {"blocks", &trial, find_blocks, settle_find_blocks, 0},
	    {"order", &trial, order, settle_order, 0}};
	struct hd_key_entry wrong = {.switch_guid = 1, .lid = 2, .port = 1};
	uint64_t random = 1;

	(void)state;
	trial.base = keys_route("dmodk", trial.fabric);
	trial.count = keys_random(trial.fabric, trial.base, keys_lid(trial.fabric, 0, 1), ENTRIES,
				  true, &random, trial.list);
	trial.set = add(keys_set_new(), 1, trial.list, trial.count);
	trial.set = add(trial.set, 2, &wrong, 1);
	make_turns(&trial);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(short_memory_try(&cases[i]) > 0);
	keys_set_release(trial.set);
	hd_routes_free(trial.before);
	hd_routes_free(trial.after);
	hd_routes_free(trial.base);
	hd_fabric_free(trial.fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(memory_may_be_short_anywhere)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
