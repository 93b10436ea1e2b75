/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Flows of one key on each link that it uses. Memory and time follow the flows of a small key, not the
 * links of the fabric: a hash table by link, with the links that it has in the order in which they came.
 */
#ifndef KEYD_KEY_COUNTS_H
#define KEYD_KEY_COUNTS_H

#include <heddle/base/arena.h>
#include <stdint.h>

struct key_count {
	uint32_t link, flows; /* flows 0: the place is free */
};

struct key_counts {
	struct key_count *places; /* [mask + 1] */
	uint32_t mask;
	uint32_t *used; /* [count] places */
	uint32_t count;
};

/* Room for so many flows, each over at most `hops` links of a fabric with so many. Without memory the arena has failed. */
void key_counts_init(struct key_counts *counts, uint32_t flows, uint32_t hops,
		     uint32_t fabric_links, struct hd_arena *arena);

/* The place of a link, which is free if no flow uses the link. O(1) */
static inline struct key_count *key_counts_place(const struct key_counts *counts, uint32_t link)
{
	uint32_t at = link * 0x9E3779B1u;

	for (at ^= at >> 16;; at++) {
		struct key_count *place = &counts->places[at & counts->mask];

		if (!place->flows || place->link == link)
			return place;
	}
}

static inline uint32_t key_counts_of(const struct key_counts *counts, uint32_t link)
{
	return key_counts_place(counts, link)->flows;
}

/* Counts a flow on a link. O(1) */
void key_counts_put(struct key_counts *counts, uint32_t link);

#endif
