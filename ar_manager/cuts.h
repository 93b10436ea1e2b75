/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links that the groups of a plan leave out, by switch and destination switch. */
#ifndef AR_MANAGER_CUTS_H
#define AR_MANAGER_CUTS_H

#include "link_sets.h"

struct cuts {
	uint32_t words; /* of a set of links */
	uint32_t destinations;
	uint64_t *links; /* [switch_count * destinations * words] */
};

/* The links that a switch may not use for choices towards a destination switch. */
static inline uint64_t *cuts_get(const struct cuts *cuts, uint32_t sw, uint32_t destination)
{
	return cuts->links + ((size_t)sw * cuts->destinations + destination) * cuts->words;
}

/* Whether any choice of a switch leaves out a link. NULL: no. O(destinations). */
static inline bool cuts_any(const struct cuts *cuts, uint32_t sw)
{
	const size_t count = cuts ? (size_t)cuts->destinations * cuts->words : 0;
	uint64_t any = 0;

	for (size_t i = 0; i < count; i++)
		any |= cuts_get(cuts, sw, 0)[i];
	return any != 0;
}

#endif
