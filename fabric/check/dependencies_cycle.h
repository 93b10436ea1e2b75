/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links of a dependency graph taken away until only those remain that lie on a cycle or lead to
 * one. */
#ifndef FABRIC_DEPENDENCIES_CYCLE_H
#define FABRIC_DEPENDENCIES_CYCLE_H

#include <heddle/fabric/dependencies.h>

/* Scratch memory of one search. */
struct dependencies_search {
	const struct hd_dependencies *graph;
	uint32_t *left; /* dependencies on links that are still there; 0 = taken away itself */
	uint32_t *queue; /* links that were taken away, each after all that it depends on */
	uint32_t *from; /* of a breadth-first search: the link before, HD_NONE = not met */
	uint32_t *mark; /* position on the first cycle's walk + 1 */
};

/* Errors: -ENOMEM. */
int dependencies_cycle_init(struct dependencies_search *search, const struct hd_dependencies *graph,
			    struct hd_arena *arena);

/* The lowest-numbered link that remains, or HD_NONE where the graph has no cycle and search->queue
 * holds all links. Cost: O(links * radix). */
uint32_t dependencies_cycle_reduce(struct dependencies_search *search);

#endif
