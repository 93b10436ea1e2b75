/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far each switch is from each destination switch by the paths that an engine allows: the
 * shortest ones, or those that climb and then descend. All destinations are searched at once, 64 in
 * a word, so that the next hops towards one of them need no search.
 */
#ifndef ENGINES_DAG_PATHS_H
#define ENGINES_DAG_PATHS_H

#include <heddle/base/arena.h>
#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>

#define DAG_PATHS_UNREACHED 0xFF
#define DAG_PATHS_AGAINST 0x80
#define DAG_PATHS_HOPS_MAX 62u

/*
 * The state of a switch with regard to a destination: twice the hops to it, plus 1 if paths climb
 * and this one only descends, or if paths are shortest. A switch that reaches others of these only
 * by steps against the tree has DAG_PATHS_AGAINST plus the number of such steps; one without any
 * path DAG_PATHS_UNREACHED.
 */
struct dag_paths {
	const struct hd_fabric *fabric;
	const uint8_t *up; /* [isl_count] links that climb; NULL: shortest paths */
	/* [switch_count * switch_count], a row for each destination switch. NULL where some path
	 * has more than DAG_PATHS_HOPS_MAX hops: then dag_build() searches. */
	uint8_t *by_destination;
	uint8_t *by_switch; /* the same with a row for each switch that packets pass */
};

/* Steps against the tree that a state stands for; 0: none. */
static inline unsigned dag_paths_round(uint8_t state)
{
	return state & DAG_PATHS_AGAINST ? state - DAG_PATHS_AGAINST : 0;
}

/* True when a link is an allowed next hop, by the states at both ends, and not against the tree.
 * Where paths are shortest `up` is 0: all of them descend. */
static inline bool dag_paths_is_legal(uint8_t state, uint8_t beyond, uint8_t up)
{
	bool one_hop = up ? state == (beyond | 1) + 1 : state == beyond + 2;
	bool right_way = (state & 1) != (up != 0);

	return one_hop && right_way && !(state & DAG_PATHS_AGAINST);
}

/*
 * Fills *out, with memory from the arena. `up` as in dag_build(). Errors: -ECANCELED, -ENOMEM; without a
 * reason. Cost:
 * O(diameter * links * switches / 64) on `threads` threads, 2 * switches^2 bytes.
 */
int dag_paths_find(struct dag_paths *out, const struct hd_fabric *fabric, const uint8_t *up,
		   unsigned threads, const struct hd_go_on *go_on, struct hd_arena *arena);

/* The row of a destination switch. */
static inline const uint8_t *dag_paths_row(const struct dag_paths *paths, uint32_t destination)
{
	return paths->by_destination + (size_t)destination * paths->fabric->switch_count;
}

/* As dag_paths_is_legal(), for a link of these paths. */
static inline bool dag_paths_is_step(const struct dag_paths *paths, uint32_t link, uint8_t state,
				     uint8_t beyond)
{
	return dag_paths_is_legal(state, beyond, paths->up ? paths->up[link] : 0);
}

#endif
