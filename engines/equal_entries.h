/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Neighbouring LIDs often have the same entry, so that eight of them need one look. */
#ifndef ENGINES_EQUAL_ENTRIES_H
#define ENGINES_EQUAL_ENTRIES_H

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

#endif
