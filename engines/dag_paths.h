/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far each switch is from each destination switch by the paths that an engine allows: the
 * shortest ones, or those that climb and then descend. All destinations are searched at once, 64 in
 * a word, so that the next hops towards one of them need no search.
 */
#ifndef ENGINES_DAG_PATHS_H
#define ENGINES_DAG_PATHS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

#define DAG_PATHS_UNREACHED 0xFF
#define DAG_PATHS_HOPS_MAX 126u

struct dag_paths {
	const struct hd_fabric *fabric;
	const uint8_t *up; /* [isl_count] links that climb; NULL: shortest paths */
	/*
	 * [switch_count * switch_count], a row for each destination switch: twice the hops to it,
	 * plus 1 if paths climb and this one only descends; DAG_PATHS_UNREACHED. NULL where some
	 * path has more than DAG_PATHS_HOPS_MAX hops: then dag_build() searches.
	 */
	uint8_t *state;
};

/*
 * Fills *out, with memory from the arena. `up` as in dag_build(). Errors: -ENOMEM. Cost:
 * O(diameter * links * switches / 64) on `threads` threads, switches^2 bytes.
 */
int dag_paths_find(struct dag_paths *out, const struct hd_fabric *fabric, const uint8_t *up,
		   unsigned threads, struct hd_arena *arena);

/* The row of a destination switch. */
static inline const uint8_t *dag_paths_row(const struct dag_paths *paths, uint32_t destination)
{
	return paths->state + (size_t)destination * paths->fabric->switch_count;
}

#endif
