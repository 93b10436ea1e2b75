/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Neighbouring LIDs often have the same entry, so that eight of them need one look. */
#ifndef ENGINES_EQUAL_ENTRIES_H
#define ENGINES_EQUAL_ENTRIES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EQUAL_ENTRIES 8u

/* Whether EQUAL_ENTRIES entries of a row are the same port. */
static inline bool equal_entries(const uint8_t *entries)
{
	uint64_t word;

	memcpy(&word, entries, sizeof(word));
	return word == entries[0] * UINT64_C(0x0101010101010101);
}

#define EQUAL_ENTRIES_BLOCK 64u

/* A bit for each of the EQUAL_ENTRIES_BLOCK entries that are this port. */
static inline uint64_t equal_entries_to(const uint8_t *entries, uint8_t port)
{
	const uint64_t low = UINT64_C(0x7F7F7F7F7F7F7F7F);
	uint64_t equal = 0;

	for (unsigned begin = 0; begin < EQUAL_ENTRIES_BLOCK; begin += EQUAL_ENTRIES) {
		uint64_t word;
		memcpy(&word, entries + begin, sizeof(word));
		word = le64toh(word) ^ port * UINT64_C(0x0101010101010101);
		/* the high bit of each byte that is not 0, then one bit for each byte */
		word = ~(((word & low) + low) | word) & ~low;
		equal |= ((word >> 7) * UINT64_C(0x0102040810204080) >> 56) << begin;
	}
	return equal;
}

#endif
