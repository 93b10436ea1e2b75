/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One virtual lane's channel dependency graph, kept free of cycles while it grows: an order of
 * the links in which every dependency points forward, mended where a new one does not (D. J.
 * Pearce, P. H. J. Kelly, "A dynamic topological sort algorithm for directed acyclic graphs",
 * 2006). What would close a cycle now would close it ever after: it is remembered as refused.
 */
#ifndef ENGINES_DEPENDENCIES_H
#define ENGINES_DEPENDENCIES_H

#include <heddle/fabric.h>

/* What all lanes of one fabric share. */
struct dependency_space {
	const struct hd_fabric *fabric;
	uint32_t words; /* of a link's row of bits, one for each link that leaves its far switch */
	uint32_t *first_order; /* [isl_count] */
	uint32_t *ahead, *behind; /* [isl_count] of a search: links met */
	uint32_t *places; /* [isl_count] where those of `behind`, then those of `ahead` go */
	uint64_t *marked_ahead,
	    *marked_behind; /* places of what was met, one bit each; 0 between */
	bool *met; /* [isl_count] */
	uint64_t searched; /* links met so far */
};

struct dependencies {
	uint64_t *held; /* [isl_count * words] */
	uint64_t *refused;
	uint32_t *order; /* [isl_count] place of a link */
	uint32_t *link_at; /* [isl_count] link at a place */
};

/*
 * The first order has links that climb away from hosts before links that descend: ways that
 * climb, then descend, never need it mended. False when memory is short.
 */
bool dependency_space_init(struct dependency_space *space, const struct hd_fabric *fabric,
			   struct hd_arena *arena);

/* A graph without dependencies. False when memory is short. */
bool dependencies_init(struct dependencies *lane, struct dependency_space *space,
		       struct hd_arena *arena);

/* Empties it again. */
void dependencies_clear(struct dependencies *lane, struct dependency_space *space);

/* See dependencies_add(). */
bool dependencies_add_new(struct dependencies *lane, struct dependency_space *space, uint32_t link,
			  uint32_t next);

/* Lets `link` wait for `next`, which leaves the switch it leads to; false, and the graph as it
 * was, when that would close a cycle. */
static inline bool dependencies_add(struct dependencies *lane, struct dependency_space *space,
				    uint32_t link, uint32_t next)
{
	uint32_t bit = next - space->fabric->isl_base[space->fabric->isl_to[link]];
	size_t word = (size_t)link * space->words + bit / 64;
	if (lane->held[word] >> (bit % 64) & 1)
		return true;
	if (lane->refused[word] >> (bit % 64) & 1)
		return false;
	return dependencies_add_new(lane, space, link, next);
}

#endif
