/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One virtual lane's channel dependency graph, kept free of cycles while it grows: an order of
 * the links in which every dependency points forward, mended where a new one does not (D. J.
 * Pearce, P. H. J. Kelly, "A dynamic topological sort algorithm for directed acyclic graphs",
 * 2006). What would close a cycle now would close it ever after: it is remembered as refused.
 */
#ifndef HEDDLE_FABRIC_DEPENDENCIES_H
#define HEDDLE_FABRIC_DEPENDENCIES_H

#include <heddle/fabric.h>

/* Links met by a search in one direction. */
struct hd_dependency_search {
	uint32_t *links; /* [isl_count] in the order they were met */
	uint32_t count, done; /* links[0 .. done-1] have been gone on from */
	bool *met; /* [isl_count] false between searches */
	uint64_t *places; /* theirs, one bit each; 0 between searches */
};

/* What all lanes of one fabric share. */
struct hd_dependency_space {
	const struct hd_fabric *fabric;
	uint32_t words; /* of a link's row of bits, one for each link at one of its ends */
	uint32_t *first_order; /* [isl_count] */
	struct hd_dependency_search ahead, behind;
	uint32_t *places; /* [isl_count] free places while an order is mended */
	uint64_t searched; /* links met so far */
};

struct hd_dependencies {
	/* [isl_count * words] bit i of a link: it waits for link i of the switch it leads to */
	uint64_t *held;
	/* bit i: what comes by the cable of link i of the switch it leaves waits for it */
	uint64_t *held_by;
	uint64_t *refused; /* like held */
	uint32_t *order; /* [isl_count] place of a link */
	uint32_t *link_at; /* [isl_count] link at a place */
};

/*
 * The first order has links that climb away from hosts before links that descend: ways that
 * climb, then descend, never need it mended. False when memory is short.
 */
bool hd_dependency_space_init(struct hd_dependency_space *space, const struct hd_fabric *fabric,
			      struct hd_arena *arena);

/* A graph without dependencies. False when memory is short. */
bool hd_dependencies_init(struct hd_dependencies *lane, const struct hd_dependency_space *space,
			  struct hd_arena *arena);

/* Empties it again. */
void hd_dependencies_clear(struct hd_dependencies *lane, const struct hd_dependency_space *space);

/* See hd_dependencies_add(). */
bool hd_dependencies_add_new(struct hd_dependencies *lane, struct hd_dependency_space *space,
			     uint32_t link, uint32_t next);

/* Lets `link` wait for `next`, which leaves the switch it leads to; false, and the graph as it
 * was, when that would close a cycle. */
static inline bool hd_dependencies_add(struct hd_dependencies *lane,
				       struct hd_dependency_space *space, uint32_t link,
				       uint32_t next)
{
	uint32_t bit = next - space->fabric->isl_base[space->fabric->isl_to[link]];
	size_t word = (size_t)link * space->words + bit / 64;

	if (lane->held[word] >> (bit % 64) & 1)
		return true;
	if (lane->refused[word] >> (bit % 64) & 1)
		return false;
	return hd_dependencies_add_new(lane, space, link, next);
}

#endif
