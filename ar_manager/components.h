/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which links of a dependency graph wait for each other in a circle. */
#ifndef AR_MANAGER_COMPONENTS_H
#define AR_MANAGER_COMPONENTS_H

#include <heddle/fabric/dependencies.h>

/*
 * Numbers the strongly connected components: component[isl_count] of two links is the same if and
 * only if a walk along dependencies leads from each to the other. Memory from the arena. Errors:
 * -ENOMEM. Cost: O(links * radix). Source: R. Tarjan, "Depth-first search and linear graph
 * algorithms", 1972.
 */
int components_find(const struct hd_dependencies *graph, struct hd_arena *arena,
		    uint32_t *component);

#endif
