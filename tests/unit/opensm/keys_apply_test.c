/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys on top of the tables of a sweep: which stay and which break, also when memory is short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys_apply.h"
#include "keys_entries.h"
#include "keys_testing.h"
#include <heddle/change/keys_proof.h>

#define KEYS 9
#define ENTRIES 24

/* Random keys of climbs, key k + 1 for the k-th host of every third, in a set. */
static struct keys_set *make_set(const struct hd_fabric *fabric, const struct hd_routes *base)
{
	struct keys_set *set = keys_set_new();
	uint64_t random = 5;

	for (uint32_t i = 0; i < KEYS; i++) {
		struct hd_key_entry list[ENTRIES];
		uint32_t count = keys_random(fabric, base, keys_lid(fabric, 3 * i, 1), ENTRIES,
					     true, &random, list);
		struct hd_key_overlay overlay = {.count = count, .entries = list};
		struct keys_key *key = keys_key_new(i + 1, &overlay);
		struct keys_set *larger = keys_set_with(set, i + 1, key);

		assert_true(count > 3 && keys_key_equal(key, &overlay));
		keys_key_release(key);
		keys_set_release(set);
		set = larger;
	}
	return set;
}

/* Whether the tables have an entry of the key where the base has another. */
static bool is_in(const struct hd_fabric *fabric, const struct hd_routes *routes,
		  const struct keys_key *key)
{
	for (uint32_t i = 0; i < key->count; i++)
		if (hd_routes_port(routes, hd_fabric_find_node(fabric, key->entries[i].switch_guid),
				   key->entries[i].lid) != key->entries[i].port)
			return false;
	return true;
}

static uint64_t entries_of(const struct keys_set *set)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < set->count; i++)
		sum += set->keys[i]->count;
	return sum;
}

/* In the fabric for which they were made all keys stay, and nothing else changes. */
static void all_stay_where_nothing_has_changed(void **state)
{
	struct hd_fabric *fabric = keys_fabric(2), *again = NULL;
	struct hd_routes *base = keys_route("dmodk", fabric), *routes;
	struct keys_set *set = make_set(fabric, base);
	struct keys_broken_list broken = {0};
	struct keys_applied applied;
	struct hd_error err;

	(void)state;
	assert_int_equal(keys_apply(fabric, base, set, 2, &applied, &broken, &err), 0);
	assert_int_equal(broken.count, 0);
	assert_int_equal(applied.set->count, KEYS);
	for (uint32_t i = 0; i < KEYS; i++)
		assert_true(is_in(fabric, applied.routes, set->keys[i]));
	assert_true(hd_routes_count_changes(base, applied.routes) <= entries_of(set));
	assert_int_equal(keys_apply_again(fabric, base, set, &routes, &err), 0);
	assert_true(hd_routes_equal(routes, applied.routes));
	assert_int_equal(variants_copy(fabric, &again, &err), 0);
	assert_true(keys_apply_is_same(fabric, base, again, base));
	assert_false(keys_apply_is_same(fabric, base, again, routes));
	hd_routes_free(routes);
	hd_routes_free(applied.routes);
	keys_set_release(applied.set);
	hd_keys_proof_free(applied.proof);
	keys_set_release(set);
	hd_routes_free(base);
	hd_fabric_free(again);
	hd_fabric_free(fabric);
}

/* Property: in a damaged fabric a key is in force as a whole, or its LIDs have the base's entries. */
static void broken_keys_leave_no_trace(void **state)
{
	struct hd_fabric *fabric = keys_fabric(2);
	struct hd_routes *first = keys_route("dmodk", fabric);
	struct keys_set *set = make_set(fabric, first);
	uint32_t kept = 0, lost = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct hd_fabric *damaged = NULL;
		struct hd_routes *base;
		struct keys_broken_list broken = {0};
		struct keys_applied applied;
		struct hd_error err;

		assert_int_equal(variants_damaged(fabric, 3, seed, &damaged, &err), 0);
		assert_false(keys_apply_is_same(fabric, first, damaged, first));
		base = keys_route("auto", damaged);
		assert_int_equal(keys_apply(damaged, base, set, 3, &applied, &broken, &err), 0);
		assert_int_equal(applied.set->count + broken.count, KEYS);
		for (uint32_t i = 0; i < broken.count; i++)
			assert_null(keys_set_find(applied.set, broken.list[i].key));
		for (uint32_t i = 0; i < applied.set->count; i++)
			assert_true(is_in(damaged, applied.routes, applied.set->keys[i]));
		if (applied.routes)
			assert_true(hd_routes_count_changes(base, applied.routes) <=
				    entries_of(applied.set));
		kept += applied.set->count;
		lost += broken.count;
		keys_broken_release(&broken);
		hd_routes_free(applied.routes);
		keys_set_release(applied.set);
		hd_keys_proof_free(applied.proof);
		hd_routes_free(base);
		hd_fabric_free(damaged);
	}
	assert_true(kept > KEYS && lost > KEYS);
	keys_set_release(set);
	hd_routes_free(first);
	hd_fabric_free(fabric);
}

/* Two hosts exchange their LIDs: the routes of a key would arrive, but at the wrong host. */
static void keys_of_hosts_with_other_lids_break(void **state)
{
	struct hd_fabric *fabric = keys_fabric(2);
	struct hd_routes *base = keys_route("dmodk", fabric);
	struct keys_set *set = make_set(fabric, base), *kept = keys_set_hold(set);
	const uint32_t one = fabric->host_port[0], other = fabric->host_port[1];
	uint32_t *owner = calloc(fabric->lid_count, sizeof(*owner));
	struct hd_fabric moved = *fabric;
	struct keys_broken_list broken = {0};

	(void)state;
	assert_int_equal(keys_apply_drop_moved(&moved, fabric, &kept, &broken), 0);
	assert_true(kept == set && !broken.count);
	memcpy(owner, fabric->lid_owner, fabric->lid_count * sizeof(*owner));
	for (uint32_t offset = 0; offset < 4; offset++) {
		owner[fabric->lid[one] + offset] = other;
		owner[fabric->lid[other] + offset] = one;
	}
	moved.lid_owner = owner;
	assert_int_equal(keys_apply_drop_moved(&moved, fabric, &kept, &broken), 0);
	assert_int_equal(broken.count, 1); /* key 1 is for host 0, and no key is for host 1 */
	assert_int_equal(broken.list[0].key, 1);
	assert_non_null(strstr(broken.list[0].reason, "is that of another host now"));
	assert_int_equal(kept->count, KEYS - 1);
	assert_null(keys_set_find(kept, 1));
	keys_broken_release(&broken);
	keys_set_release(kept);
	keys_set_release(set);
	hd_routes_free(base);
	hd_fabric_free(fabric);
	free(owner);
}

/* Each mistake in an entry has its reason; keys that stay are ascending in the set. */
static void entries_are_judged_one_by_one(void **state)
{
	struct hd_fabric *fabric = keys_fabric(2);
	const uint64_t leaf = fabric->node_guid[fabric->host_switch[0]];
	const uint64_t host = fabric->node_guid[fabric->switch_count];
	const uint16_t lid = keys_lid(fabric, 0, 1);

	const struct {
		struct hd_key_entry entry;
		const char *reason;
	} wrong[] = {
	    {{.switch_guid = 1, .lid = lid, .port = 1}, "is not in the fabric"},
	    {{.switch_guid = host, .lid = lid, .port = 1}, "is not in the fabric"},
	    {{.switch_guid = leaf, .lid = lid, .port = 0}, "has no cable"},
	    {{.switch_guid = leaf, .lid = lid, .port = 99}, "has no cable"},
	    {{.switch_guid = leaf, .lid = keys_lid(fabric, 0, 0), .port = 1}, "is a base LID"},
	    {{.switch_guid = leaf, .lid = 0xBFFF, .port = 1}, "is not one of a host"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct keys_entries entries = {0};
		struct hd_error err = {""};

		assert_int_equal(keys_entries_find(fabric, &wrong[i].entry, 1, &entries, &err),
				 -EINVAL);
		if (!strstr(err.text, wrong[i].reason))
			fail_msg("'%s' does not say '%s'", err.text, wrong[i].reason);
		assert_null(entries.list);
	}
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_stay_where_nothing_has_changed),
					   cmocka_unit_test(broken_keys_leave_no_trace),
					   cmocka_unit_test(keys_of_hosts_with_other_lids_break),
					   cmocka_unit_test(entries_are_judged_one_by_one)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
