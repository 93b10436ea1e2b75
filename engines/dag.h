/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All the ways to one switch that an engine allows: for every other switch the links it may
 * take next. Whatever choice is made among them, link by link, leads there without a loop.
 */
#ifndef ENGINES_DAG_H
#define ENGINES_DAG_H

#include <heddle/fabric.h>

#define DAG_UNREACHED UINT32_MAX

struct dag_candidate {
	uint32_t link; /* directed inter-switch link */
	uint32_t to; /* its far switch, a step nearer */
};

struct dag {
	uint32_t exit; /* the switch all ways lead to */
	uint32_t reached; /* switches in order[], the exit first */
	uint32_t *order; /* by ascending distance from the exit */
	uint32_t *distance; /* [switch_count], DAG_UNREACHED where there is no way */
	uint32_t level_count; /* runs of order[] that are equally far */
	uint32_t *level_begin; /* [level_count + 1], positions in order[] */
	uint32_t *first; /* [reached + 1]: candidates of order[i]: first[i] .. first[i+1]-1 */
	struct dag_candidate *candidates;
	/* [reached]: 1 where the candidates of order[i] lead to the same switches, in the same
	 * order, as those of order[i-1], which is of the same level */
	uint8_t *same_next_hops;
	uint8_t *is_candidate; /* [isl_count]: 1 where the link is a candidate */
	uint8_t *goes_down; /* [switch_count], of dag_build_legal(): all ways lead down only */
};

/* Memory for the DAGs of one fabric, one at a time. Errors: -ENOMEM. */
int dag_allocate(struct dag *dag, const struct hd_fabric *fabric, struct hd_arena *arena);

/* Fewest hops. Cost: O(switches + links). */
void dag_build_shortest(struct dag *dag, const struct hd_fabric *fabric, uint32_t exit);

/*
 * Least sum of cost[link] > 0 (Dijkstra); switches at equal distance form a level.
 * Cost: O(links log switches).
 */
void dag_build_cheapest(struct dag *dag, const struct hd_fabric *fabric, const uint32_t *cost,
			uint32_t exit);

/*
 * Fewest hops among ways that climb, then descend, and never climb again; up[link] says which
 * links climb (a link and its reverse never both). A switch with a way down of least length
 * takes that one and counts as goes_down, for only through such switches may others descend:
 * this is what forwarding by destination alone allows. Where up[] comes from ranks below one
 * root and there is a path at all, every switch is reached. Cost: O(switches + links).
 */
void dag_build_legal(struct dag *dag, const struct hd_fabric *fabric, const uint8_t *up,
		     uint32_t exit);

/*
 * Adds switches that dag_build_legal() could not reach, by steps against the tree: each goes to
 * its lowest-numbered neighbour that has a way already, so that all such turns gather at few
 * switches. At most max_rounds such steps a way. With any_is_valid every link to a neighbour that
 * has a way counts as is_candidate[], so that entries made otherwise may stay. Cost: O(rounds *
 * links).
 */
void dag_extend(struct dag *dag, const struct hd_fabric *fabric, unsigned max_rounds,
		bool any_is_valid);

#endif
