/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash table of indices into somebody else's array: the array's owner hashes and compares,
 * so that keys of any shape are kept in one place only.
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
	struct hd_lookup_slot *slots;
	uint32_t size, count;
};

/* True when the array's element `index` has the key that is looked for. */
typedef bool hd_lookup_match(const void *context, uint32_t index);

/* The index stored with that hash for which match() holds, or HD_NONE. O(1). */
uint32_t hd_lookup_find(const struct hd_lookup *lookup, uint64_t hash, hd_lookup_match *match,
			const void *context);

/* Stores an index that is not there yet. 0 or -ENOMEM. */
int hd_lookup_add(struct hd_lookup *lookup, uint64_t hash, uint32_t index);

void hd_lookup_release(struct hd_lookup *lookup);

uint64_t hd_hash_bytes(const void *bytes, size_t length);
uint64_t hd_hash_number(uint64_t number);

#endif
