/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A channel dependency graph, slow and obvious: a matrix of all pairs of links, and a search
 * through all of it for each question. */
#ifndef ORACLE_DEPENDENCIES_H
#define ORACLE_DEPENDENCIES_H

#include <stdbool.h>
#include <stdint.h>

struct oracle_dependencies {
	uint32_t links;
	bool *waits; /* [links * links] the first link for the second */
};

/* An empty graph, to be freed with oracle_dependencies_free(). False: no memory. */
bool oracle_dependencies_init(struct oracle_dependencies *graph, uint32_t links);
void oracle_dependencies_free(struct oracle_dependencies *graph);

/* Makes *to equal to *from, which has as many links. */
void oracle_dependencies_copy(struct oracle_dependencies *to,
			      const struct oracle_dependencies *from);

bool oracle_dependencies_has(const struct oracle_dependencies *graph, uint32_t link, uint32_t next);

/* Adds a dependency, even if it closes a cycle. */
void oracle_dependencies_collect(struct oracle_dependencies *graph, uint32_t link, uint32_t next);

/* Adds a dependency unless it closes a cycle; then returns false. Cost: O(links^2). */
bool oracle_dependencies_add(struct oracle_dependencies *graph, uint32_t link, uint32_t next);

/* The number of links of the shortest cycle through `link`; 0 = no cycle. Cost: O(links^3). */
uint32_t oracle_dependencies_cycle_length(const struct oracle_dependencies *graph, uint32_t link);

#endif
