/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash table of indices into somebody else's array: the array's owner hashes and compares,
 * so that keys of any shape are kept in one place only.
 */
#ifndef FABRIC_LOOKUP_H
#define FABRIC_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lookup_slot {
	uint64_t hash;
	uint32_t index; /* HD_NONE: free */
};

/* Zero-initialise before use. */
struct lookup {
	struct lookup_slot *slots;
	uint32_t size, count;
};

/* True when the array's element `index` has the key that is looked for. */
typedef bool lookup_match(const void *context, uint32_t index);

/* The index stored with that hash for which match() holds, or HD_NONE. O(1). */
uint32_t lookup_find(const struct lookup *lookup, uint64_t hash, lookup_match *match,
		     const void *context);

/* Stores an index that is not there yet. 0 or -ENOMEM. */
int lookup_add(struct lookup *lookup, uint64_t hash, uint32_t index);

void lookup_release(struct lookup *lookup);

uint64_t hash_bytes(const void *bytes, size_t length);
uint64_t hash_number(uint64_t number);

#endif
