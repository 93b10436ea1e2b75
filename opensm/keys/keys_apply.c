/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_apply.h"
#include "keys_entries.h"
#include <heddle/change/keys_proof.h>

#include <errno.h>
#include <heddle/fabric/changes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int keys_broken_add(struct keys_broken_list *list, uint64_t key, const char *reason)
{
	if (list->count == list->room) {
		uint32_t room = list->room ? 2 * list->room : 16;
		struct keys_broken *larger = realloc(list->list, room * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		list->list = larger;
		list->room = room;
	}
	struct keys_broken *broken = &list->list[list->count++];
	broken->key = key;
	snprintf(broken->reason, sizeof(broken->reason), "%.*s", HD_CHANNEL_TEXT - 1, reason);
	return 0;
}

void keys_broken_release(struct keys_broken_list *list)
{
	free(list->list);
	*list = (struct keys_broken_list){0};
}

/* Adds a key to the tables. On an error the tables are as before. */
static int add_key(const struct hd_fabric *fabric, const struct hd_routes *base,
		   const struct keys_key *key, struct hd_keys_proof *proof,
		   struct hd_routes *routes, struct hd_error *err)
{
	struct keys_entries entries;
	int rc = keys_entries_find(fabric, key->entries, key->count, &entries, err);

	if (rc)
		return rc;
	keys_entries_write(&entries, routes);
	rc = hd_keys_proof_add(proof, routes, entries.lids, entries.lid_count, err);
	if (rc)
		keys_entries_revert(&entries, base, routes);
	keys_entries_release(&entries);
	return rc;
}

static int take_out(struct keys_set **set, uint64_t key)
{
	struct keys_set *smaller = keys_set_with(*set, key, NULL);

	if (!smaller)
		return -ENOMEM;
	keys_set_release(*set);
	*set = smaller;
	return 0;
}

static int add_keys(const struct hd_fabric *fabric, const struct hd_routes *base,
		    const struct keys_set *set, struct keys_applied *applied,
		    struct keys_broken_list *broken, struct hd_error *err)
{
	for (uint32_t i = 0; i < set->count; i++) {
		const struct keys_key *key = set->keys[i];
		int rc = add_key(fabric, base, key, applied->proof, applied->routes, err);

		if (rc == -EINVAL || rc == -ELOOP)
			rc = keys_broken_add(broken, key->id, err->text) ||
				     take_out(&applied->set, key->id)
				 ? -ENOMEM
				 : 0;
		if (rc)
			return hd_error_no_memory(err);
	}
	return 0;
}

static void release(struct keys_applied *applied)
{
	hd_routes_free(applied->routes);
	keys_set_release(applied->set);
	hd_keys_proof_free(applied->proof);
}

/* The tables without keys are unsound: so is every key. */
static int break_all(const struct keys_set *set, const char *reason, struct keys_applied *applied,
		     struct keys_broken_list *broken)
{
	applied->set = keys_set_new();
	for (uint32_t i = 0; i < set->count; i++)
		if (keys_broken_add(broken, set->keys[i]->id, reason))
			return -ENOMEM;
	return applied->set ? 0 : -ENOMEM;
}

int keys_apply(const struct hd_fabric *fabric, const struct hd_routes *base,
	       const struct keys_set *set, unsigned threads, struct keys_applied *out,
	       struct keys_broken_list *broken, struct hd_error *err)
{
	struct keys_applied applied = {0};
	int rc = hd_keys_proof_new(fabric, base, threads, &applied.proof, err);

	if (rc == -ELOOP) {
		rc = break_all(set, err->text, &applied, broken);
	} else if (!rc) {
		applied.routes = hd_routes_copy(base);
		applied.set = keys_set_with(set, 0, NULL); /* 0 is no key: a copy */
		rc = applied.routes && applied.set ? 0 : -ENOMEM;
		if (!rc)
			rc = add_keys(fabric, base, set, &applied, broken, err);
	}
	if (rc) {
		release(&applied);
		return hd_error_no_memory(err);
	}
	if (!applied.set->count) {
		hd_routes_free(applied.routes);
		applied.routes = NULL;
	}
	*out = applied;
	return 0;
}

/* The GUID of the port that has a LID; 0: none has it. */
static uint64_t owner_of(const struct hd_fabric *fabric, uint16_t lid)
{
	uint32_t port = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;

	return port == HD_NONE ? 0 : fabric->port_guid[port];
}

/* A LID of the key that other ports have in both fabrics, or 0. */
static uint16_t moved_lid(const struct keys_key *key, const struct hd_fabric *fabric,
			  const struct hd_fabric *before)
{
	for (uint32_t i = 0; i < key->count; i++) {
		uint64_t owner = owner_of(fabric, key->entries[i].lid);

		if (owner && owner != owner_of(before, key->entries[i].lid))
			return key->entries[i].lid;
	}
	return 0;
}

int keys_apply_drop_moved(const struct hd_fabric *fabric, const struct hd_fabric *before,
			  struct keys_set **set, struct keys_broken_list *broken)
{
	struct keys_set *all = keys_set_hold(*set);
	int rc = 0;

	for (uint32_t i = 0; !rc && i < all->count; i++) {
		uint16_t lid = moved_lid(all->keys[i], fabric, before);
		char reason[HD_CHANNEL_TEXT];

		if (!lid)
			continue;
		snprintf(reason, sizeof(reason), "LID %u is that of another host now", lid);
		rc = keys_broken_add(broken, all->keys[i]->id, reason);
		if (!rc)
			rc = take_out(set, all->keys[i]->id);
	}
	keys_set_release(all);
	return rc;
}

int keys_apply_again(const struct hd_fabric *fabric, const struct hd_routes *base,
		     const struct keys_set *set, struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = hd_routes_copy(base);
	int rc = routes ? 0 : hd_error_no_memory(err);

	for (uint32_t i = 0; !rc && i < set->count; i++) {
		struct keys_entries entries;
		rc = keys_entries_find(fabric, set->keys[i]->entries, set->keys[i]->count, &entries,
				       err);
		if (rc)
			break;
		keys_entries_write(&entries, routes);
		keys_entries_release(&entries);
	}
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	return rc;
}

/* Appends to a list that has room for the entries. */
static int add_pins(const struct hd_fabric *fabric, const struct keys_key *key,
		    struct hd_ar_pins *pins, struct hd_error *err)
{
	struct keys_entries entries;
	int rc = keys_entries_find(fabric, key->entries, key->count, &entries, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < entries.count; i++)
		pins->list[pins->count++] =
		    (struct hd_ar_pin){.sw = entries.list[i].sw, .lid = entries.list[i].lid};
	keys_entries_release(&entries);
	return 0;
}

int keys_apply_pins(const struct hd_fabric *fabric, const struct keys_set *set,
		    struct hd_ar_pins *out, struct hd_error *err)
{
	struct hd_ar_pins pins = {0};
	size_t room = 1;
	int rc = 0;

	for (uint32_t i = 0; i < set->count; i++)
		room += set->keys[i]->count;
	pins.list = malloc(room * sizeof(*pins.list));
	if (!pins.list)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < set->count; i++)
		rc = add_pins(fabric, set->keys[i], &pins, err);
	hd_ar_pins_sort(&pins);
	if (rc)
		hd_ar_pins_release(&pins);
	else
		*out = pins;
	return rc;
}

static bool same_lids(const struct hd_fabric *a, const struct hd_fabric *b)
{
	return a->port_count == b->port_count && a->lid_count == b->lid_count &&
	       !memcmp(a->lid, b->lid, a->port_count * sizeof(*a->lid)) &&
	       !memcmp(a->lmc, b->lmc, a->port_count * sizeof(*a->lmc)) &&
	       !memcmp(a->aside, b->aside, a->port_count * sizeof(*a->aside)) &&
	       !memcmp(a->lid_owner, b->lid_owner, a->lid_count * sizeof(*a->lid_owner));
}

bool keys_apply_is_same(const struct hd_fabric *fabric, const struct hd_routes *base,
			const struct hd_fabric *other, const struct hd_routes *other_base)
{
	uint32_t changes;

	return same_lids(fabric, other) &&
	       !hd_fabric_changes(fabric, other, NULL, 0, &changes, NULL) && !changes &&
	       hd_routes_equal(base, other_base);
}
