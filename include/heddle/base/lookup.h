/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash table of indices into an array of the caller. The caller hashes and compares the keys, so
 * the table does not store them and they can have any form.
 */
#ifndef HEDDLE_BASE_LOOKUP_H
#define HEDDLE_BASE_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hd_lookup_slot {
	uint64_t hash;
	uint32_t index; /* HD_NONE: free */
};

/* Zero-initialise before use. */
struct hd_lookup {
	struct hd_lookup_slot *slots; /* [size], at most half of them in use */
	uint32_t size, count; /* number of slots, a power of two or 0; slots in use */
};

/* True if the array's element `index` has the key that is searched. */
typedef bool hd_lookup_match(const void *context, uint32_t index);

/* The index stored with that hash for which match() holds, or HD_NONE. `context` is handed to
 * match(). Expected cost: O(1). */
uint32_t hd_lookup_find(const struct hd_lookup *lookup, uint64_t hash, hd_lookup_match *match,
			const void *context);

/* Stores an index that is not in the table yet. Errors: -ENOMEM, the table stays as it was.
 * Expected cost: O(1). */
int hd_lookup_add(struct hd_lookup *lookup, uint64_t hash, uint32_t index);

/* Frees the table; it can be used again. */
void hd_lookup_release(struct hd_lookup *lookup);

/* A hash of bytes (FNV-1a, mixed), O(length), and one of a number, whose low bits depend on all
 * bits (the finaliser of MurmurHash3). Not for input that an attacker chooses. */
uint64_t hd_hash_bytes(const void *bytes, size_t length);
uint64_t hd_hash_number(uint64_t number);

#endif
