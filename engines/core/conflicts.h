/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Choice of next hops by conflicts. Two flows, each from a host to a LID, conflict on a link that both cross, unless
 * they have the source or the destination in common: then they share the cable of that host anyway. So traffic of few
 * hosts is put on the same links, and more pairs of hosts have paths without a common link. Effective bisection bandwidth
 * asks for just that.
 *
 * A link is crossed by L flows. A host that sends s of them has L - s conflicts there with one more of its own. Flows to
 * one destination have no conflicts with one another, so each switch chooses by its own flows alone: the next hop with
 * the fewest conflicts up to the destination. Only on the first link is s looked at: farther away flows of many
 * hosts have come together, and it is small.
 *
 * Among equal ones the class of parallel links decides (parallel_links.h): the first choices then agree on one order of
 * the dimensions of a torus, mesh, hypercube or HyperX, however their ports are numbered. Around a gap conflicts are not
 * equal, and that order is lost. If dimensions are to decide first, a switch takes a next hop in the first dimension
 * that has one (parallel_links.h), by conflicts among several.
 */
#ifndef ENGINES_CONFLICTS_H
#define ENGINES_CONFLICTS_H

#include "dag.h"
#include "link_number.h"

/* What the trees chosen so far send over each link. */
struct conflicts {
	const struct hd_fabric *fabric;
	const bool *uncounted; /* [isl_count] links on which flows do not conflict; NULL: none */
	uint32_t *own; /* [isl_count] LIDs to which a host of the link's switch sends over it */
	uint32_t *parallel; /* [isl_count] class of the link: parallel_links.h */
	uint32_t *dimension; /* [isl_count] the lowest decides before conflicts; NULL: none does */
	uint64_t *length; /* [switch_count] sum of loads up to the destination at hand */
};

/* Without any tree. Errors: -ENOMEM. Cost: that of parallel_links_find(). */
int conflicts_allocate(struct conflicts *conflicts, const struct hd_fabric *fabric,
		       const bool *uncounted, struct hd_arena *arena);

/* Lets the order of dimensions decide before conflicts do. Errors: -ENOMEM. Cost: that of parallel_links_dimensions(). */
int conflicts_order(struct conflicts *conflicts, struct hd_arena *arena);

/* Adds a tree, or takes it out with sign UINT32_MAX. Cost: O(switches). */
void conflicts_count(struct conflicts *conflicts, const struct dag *dag, const uint8_t *tree,
		     uint32_t sign);

/*
 * Fills tree[]: the number of the link that each switch takes among its own. load[isl_count]: source hosts over
 * each link, without this tree. With keep, entries that are candidates stay; else they do where no other has fewer
 * conflicts. Cost: O(switches + candidates).
 */
void conflicts_choose(struct conflicts *conflicts, const uint32_t *load, const struct dag *dag,
		      uint8_t *tree, bool keep);

#endif
