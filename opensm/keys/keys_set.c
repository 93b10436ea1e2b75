/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_set.h"

#include <stdlib.h>
#include <string.h>

struct keys_key *keys_key_new(uint64_t id, const struct hd_key_overlay *overlay)
{
	const size_t bytes = (size_t)overlay->count * sizeof(*overlay->entries);
	struct keys_key *key = malloc(sizeof(*key) + bytes);

	if (!key)
		return NULL;
	atomic_init(&key->holders, 1);
	key->id = id;
	key->count = overlay->count;
	if (bytes)
		memcpy(key->entries, overlay->entries, bytes);
	return key;
}

void keys_key_release(struct keys_key *key)
{
	if (key && atomic_fetch_sub(&key->holders, 1) == 1)
		free(key);
}

static struct keys_set *set_of(uint32_t room)
{
	struct keys_set *set = malloc(sizeof(*set) + room * sizeof(*set->keys));

	if (!set)
		return NULL;
	atomic_init(&set->holders, 1);
	set->count = 0;
	return set;
}

struct keys_set *keys_set_new(void)
{
	return set_of(0);
}

struct keys_set *keys_set_hold(struct keys_set *set)
{
	atomic_fetch_add(&set->holders, 1);
	return set;
}

void keys_set_release(struct keys_set *set)
{
	if (!set || atomic_fetch_sub(&set->holders, 1) > 1)
		return;
	for (uint32_t i = 0; i < set->count; i++)
		keys_key_release(set->keys[i]);
	free(set);
}

/* The first key whose ID is not lower. */
static uint32_t place_of(const struct keys_set *set, uint64_t id)
{
	uint32_t low = 0, high = set->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (set->keys[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct keys_key *keys_set_find(const struct keys_set *set, uint64_t id)
{
	uint32_t place = place_of(set, id);

	return place < set->count && set->keys[place]->id == id ? set->keys[place] : NULL;
}

static void append(struct keys_set *set, struct keys_key *key)
{
	atomic_fetch_add(&key->holders, 1);
	set->keys[set->count++] = key;
}

struct keys_set *keys_set_change(const struct keys_set *set, const struct keys_set_change *changes,
				 uint32_t count)
{
	struct keys_set *next = set_of(set->count + count);
	uint32_t i = 0;

	if (!next)
		return NULL;
	for (uint32_t j = 0; j < count; j++) {
		for (; i < set->count && set->keys[i]->id < changes[j].id; i++)
			append(next, set->keys[i]);
		i += i < set->count && set->keys[i]->id == changes[j].id;
		if (changes[j].key)
			append(next, changes[j].key);
	}
	for (; i < set->count; i++)
		append(next, set->keys[i]);
	return next;
}

struct keys_set *keys_set_with(const struct keys_set *set, uint64_t id, struct keys_key *key)
{
	const struct keys_set_change change = {.id = id, .key = key};

	return keys_set_change(set, &change, 1);
}

bool keys_key_equal(const struct keys_key *key, const struct hd_key_overlay *overlay)
{
	if (key->count != overlay->count)
		return false;
	for (uint32_t i = 0; i < key->count; i++) {
		const struct hd_key_entry *a = &key->entries[i], *b = &overlay->entries[i];

		if (a->switch_guid != b->switch_guid || a->lid != b->lid || a->port != b->port)
			return false;
	}
	return true;
}
