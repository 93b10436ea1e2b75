/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets of links that leave one switch, as rows of bits: bit i stands for link i of the switch. Each
 * different set of a switch is kept once and has a number.
 */
#ifndef AR_MANAGER_LINK_SETS_H
#define AR_MANAGER_LINK_SETS_H

#include <heddle/base/arena.h>
#include <heddle/base/port_set.h>
#include <heddle/fabric/graph.h>
#include <string.h>

/* Links that the groups of a plan leave out, by switch and destination switch. */

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

#define LINK_SETS_NO_LINK 0xFFu

/* Words that a set of links of any switch of the fabric needs. */
uint32_t link_sets_words(const struct hd_fabric *fabric);

static inline void link_sets_add(uint64_t *set, uint32_t link)
{
	set[link / 64] |= UINT64_C(1) << link % 64;
}

static inline bool link_sets_has(const uint64_t *set, uint32_t link)
{
	return set[link / 64] >> link % 64 & 1;
}

static inline void link_sets_unite(uint64_t *set, const uint64_t *other, uint32_t words)
{
	for (uint32_t word = 0; word < words; word++)
		set[word] |= other[word];
}

static inline uint32_t link_sets_count(const uint64_t *set, uint32_t words)
{
	uint32_t count = 0;

	for (uint32_t word = 0; word < words; word++)
		count += (uint32_t)__builtin_popcountll(set[word]);
	return count;
}

/* For each port of a switch the number of its link among the switch's own, LINK_SETS_NO_LINK where
 * it leads to no other switch. */
void link_sets_of_ports(const struct hd_fabric *fabric, uint32_t sw, uint8_t link_of_port[256]);

/* The links of the ports of a set; ports without a link are ignored. */
void link_sets_from_ports(const struct hd_port_set *ports, const uint8_t link_of_port[256],
			  uint64_t *set);

/* The ports of the links of a set. */
void link_sets_to_ports(const struct hd_fabric *fabric, uint32_t sw, const uint64_t *set,
			uint32_t words, struct hd_port_set *ports);

/* The different sets of one switch. */
struct link_sets {
	uint32_t words, room, count;
	uint64_t *sets; /* [room * words] */
	uint32_t slot_count; /* a power of two, at least twice the room */
	uint32_t *slots; /* [slot_count] numbers of sets + 1; 0: free */
};

/* Room for so many sets. Errors: -ENOMEM. */
int link_sets_init(struct link_sets *sets, uint32_t words, uint32_t room, struct hd_arena *arena);

/* Forgets all sets. O(room). */
void link_sets_clear(struct link_sets *sets);

/* Number of the set, which is added if it is new. There must be room. Expected cost: O(words). */
uint32_t link_sets_number(struct link_sets *sets, const uint64_t *set);

static inline const uint64_t *link_sets_get(const struct link_sets *sets, uint32_t number)
{
	return sets->sets + (size_t)number * sets->words;
}

#endif
