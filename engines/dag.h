/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All paths to one destination switch that an engine allows: for each other switch the next hops
 * that it may take. Any choice among them leads to the destination without a loop.
 */
#ifndef ENGINES_DAG_H
#define ENGINES_DAG_H

#include <heddle/fabric.h>

#define DAG_UNREACHED UINT32_MAX

struct dag_candidate {
	uint32_t link; /* directed inter-switch link */
	uint32_t to; /* the switch it leads to, one step nearer */
};

struct dag {
	uint32_t destination; /* the switch to which all paths lead */
	uint32_t reached; /* switches in order[], the destination first */
	uint32_t *order; /* by ascending distance from the destination */
	uint32_t *distance; /* [switch_count], DAG_UNREACHED without a path */
	uint32_t level_count; /* runs of order[] that are equally far */
	uint32_t *level_begin; /* [level_count + 1], positions in order[] */
	uint32_t *first; /* [reached + 1]: candidates of order[i]: first[i] .. first[i+1]-1 */
	struct dag_candidate *candidates;
	/* [reached]: 1 where the candidates of order[i] lead to the same switches, in the same
	 * order, as those of order[i-1], which is of the same level */
	uint8_t *same_next_hops;
	uint8_t *is_candidate; /* [isl_count]: 1 where the link is a candidate */
	uint8_t *goes_down; /* [switch_count], of dag_build_legal(): all paths only descend */
};

/* Memory for the DAGs of one fabric, one at a time. Errors: -ENOMEM. */
int dag_allocate(struct dag *dag, const struct hd_fabric *fabric, struct hd_arena *arena);

/* Fewest hops. Cost: O(switches + links). */
void dag_build_shortest(struct dag *dag, const struct hd_fabric *fabric, uint32_t destination);

/*
 * Least sum of cost[link] > 0 (Dijkstra); switches at equal distance form a level.
 * Cost: O(links log switches).
 */
void dag_build_cheapest(struct dag *dag, const struct hd_fabric *fabric, const uint32_t *cost,
			uint32_t destination);

/*
 * Fewest hops among legal paths: they climb, then descend, and never climb again. up[link] says
 * which links climb; a link and its reverse never both do. A switch that can descend on a path of
 * least length does so and counts as goes_down; only through such switches may others descend.
 * Forwarding by destination alone allows no more. Where up[] comes from the ranks below one root,
 * every switch is reached that has any path. Cost: O(switches + links).
 */
void dag_build_legal(struct dag *dag, const struct hd_fabric *fabric, const uint8_t *up,
		     uint32_t destination);

/*
 * Adds switches that dag_build_legal() could not reach, by steps against the tree: each goes to
 * its lowest-numbered neighbour that has a path already, so that all such turns are at few
 * switches. A path has at most max_rounds such steps. With any_is_valid every link to a neighbour
 * that has a path counts as is_candidate[], so that entries made by other rules may stay. Cost:
 * O(rounds * links).
 */
void dag_extend(struct dag *dag, const struct hd_fabric *fabric, unsigned max_rounds,
		bool any_is_valid);

#endif
