/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The routing keys in force. A set never changes after it is made, so any thread that holds one can
 * read it; a change makes another set, which shares the keys that stay.
 */
#ifndef OPENSM_KEYS_SET_H
#define OPENSM_KEYS_SET_H

#include <heddle/base/error.h>
#include <heddle/keyd/key.h>
#include <stdatomic.h>

struct keys_key {
	atomic_uint holders;
	uint64_t id;
	uint32_t count;
	struct hd_key_entry entries[]; /* [count] ascending by GUID, then LID */
};

struct keys_set {
	atomic_uint holders;
	uint32_t count;
	struct keys_key *keys[]; /* [count] held, ascending by ID */
};

/* A key with a copy of the entries. NULL: no memory. */
struct keys_key *keys_key_new(uint64_t id, const struct hd_key_overlay *overlay);
void keys_key_release(struct keys_key *key); /* NULL is allowed */

/* A set without keys. NULL: no memory. */
struct keys_set *keys_set_new(void);
struct keys_set *keys_set_hold(struct keys_set *set);
void keys_set_release(struct keys_set *set); /* NULL is allowed */

/* The key of that ID, or NULL. O(log keys). */
const struct keys_key *keys_set_find(const struct keys_set *set, uint64_t id);

/* The set with `key`, which replaces the key of that ID; key NULL: without the key of that ID. The
 * set holds the key. NULL: no memory. O(keys). */
struct keys_set *keys_set_with(const struct keys_set *set, uint64_t id, struct keys_key *key);

/* A key that comes, in place of the one of that ID, or goes. */
struct keys_set_change {
	uint64_t id;
	struct keys_key *key; /* NULL: it goes */
};

/* The set with all changes, which ascend by ID, each ID once. The set holds the keys that come. NULL: no memory.
 * O(keys + changes). */
struct keys_set *keys_set_change(const struct keys_set *set, const struct keys_set_change *changes,
				 uint32_t count);

/* Whether a key has exactly these entries. */
bool keys_key_equal(const struct keys_key *key, const struct hd_key_overlay *overlay);

#endif
