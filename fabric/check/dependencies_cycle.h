/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Removes links from a dependency graph until only those remain that lie on a cycle or lead to
 * one. */
#ifndef FABRIC_DEPENDENCIES_CYCLE_H
#define FABRIC_DEPENDENCIES_CYCLE_H

#include <heddle/fabric/dependencies.h>

/* Scratch memory of one search. */
struct dependencies_search {
	const struct hd_dependencies *graph;
	uint32_t *left; /* dependencies on links that remain; 0 = the link is removed */
	uint32_t *queue; /* removed links, each after all links on which it depends */
	uint32_t *from; /* the link before, in a breadth-first search; HD_NONE = not met */
	uint32_t *mark; /* position in the walk to the first cycle + 1 */
};

/* Errors: -ENOMEM. */
int dependencies_cycle_init(struct dependencies_search *search, const struct hd_dependencies *graph,
			    struct hd_arena *arena);

/* Returns the lowest-numbered link that remains. HD_NONE: the graph has no cycle, and search->queue
 * holds all links. Cost: O(links * radix). */
uint32_t dependencies_cycle_reduce(struct dependencies_search *search);

#endif
