/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All paths to one destination switch that an engine allows: for each other switch the next hops
 * that it may take. Any choice among them leads to the destination without a loop.
 */
#ifndef ENGINES_DAG_H
#define ENGINES_DAG_H

#include <heddle/base/arena.h>
#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>

/* ---- distances ---- */

/*
 * How far each switch is from each destination switch by the paths that an engine allows: the
 * shortest ones, or those that climb and then descend. All destinations are searched at once, 64 in
 * a word, so that the next hops towards one of them need no search.
 */

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

/* As dag_paths_is_legal(), for a link of these paths. */
static inline bool dag_paths_is_step(const struct dag_paths *paths, uint32_t link, uint8_t state,
				     uint8_t beyond)
{
	return dag_paths_is_legal(state, beyond, paths->up ? paths->up[link] : 0);
}

#define DAG_UNREACHED UINT32_MAX

/* dag->targets: a hash of the switches to which a list of candidates leads, one after the other; or
 * of the links themselves where a list has not all links to a switch. */
#define DAG_TARGETS_NONE UINT64_C(1)
#define DAG_LINKS_NONE UINT64_C(0x5851F42D4C957F2D)

static inline uint64_t dag_targets_add(uint64_t targets, uint32_t to)
{
	targets = (targets + to + 1) * UINT64_C(0x9E3779B97F4A7C15);
	return targets ^ targets >> 29;
}

struct dag {
	uint32_t destination; /* the switch to which all paths lead */
	uint32_t reached; /* switches in order[], the destination first */
	uint32_t *order; /* by ascending distance from the destination */
	uint32_t *distance; /* [switch_count], DAG_UNREACHED without a path */
	uint32_t level_count; /* runs of order[] that are equally far */
	uint32_t *level_begin; /* [level_count + 1], positions in order[] */
	bool by_cost; /* next hops are on all levels that are nearer, not only on the next one */
	/* The candidates of switch s, as numbers among its own links, ascending:
	 * number[isl_base[s] + i], i < count[s]. Those of the destination and of switches without a
	 * path mean nothing. */
	uint8_t *number;
	uint8_t *count; /* [switch_count] */
	/* [switch_count] equal for switches whose candidates lead to the same switches in the same
	 * order; and for a switch, at another time, only where its list is the same. That others
	 * have the same hash is possible, but as good as never happens. */
	uint64_t *targets;
	uint8_t *is_candidate; /* [isl_count]: 1 where the link is a candidate */
	uint8_t *goes_down; /* [switch_count]: all paths only descend (where paths climb) */

	/* ---- for dag.c alone ---- */
	const uint8_t *row; /* of dag_paths: what the lists were made for; NULL: nothing */
	uint32_t legal; /* switches that were reached before dag_extend() */
	uint32_t *scan; /* [switch_count] order in which switches join a level */
	uint32_t *place; /* [switch_count + 2] */
	uint32_t *stamp; /* [switch_count] build in which a switch was listed last */
	uint32_t build;
	uint8_t *fresh; /* [switch_count] reached in this round of dag_extend() */
	uint64_t *heap; /* [isl_count + 1] */
};

/* Memory for the DAGs of one fabric, one at a time. Errors: -ENOMEM. */
int dag_allocate(struct dag *dag, const struct hd_fabric *fabric, struct hd_arena *arena);

/* Makes `to` a copy of another DAG of the same fabric; both can then change on their own. */
void dag_copy(struct dag *to, const struct dag *from, const struct hd_fabric *fabric);

/*
 * Fewest hops, or fewest hops among legal paths where paths->up says which links climb. Legal paths
 * climb, then descend, and never climb again; a link and its reverse never both climb. A switch
 * that can descend on a path of least length does so and counts as goes_down; only through such
 * switches may others descend. Forwarding by destination alone allows no more. Where up[] comes
 * from the ranks below one root, every switch is reached that has any path.
 *
 * Only switches for which something differs from the destination built before are looked at. Cost:
 * O(switches + links of those).
 */
void dag_build(struct dag *dag, const struct dag_paths *paths, uint32_t destination);

/*
 * Least sum of cost[link] > 0 (Dijkstra); switches at equal distance form a level.
 * Cost: O(links log switches).
 */
void dag_build_cheapest(struct dag *dag, const struct hd_fabric *fabric, const uint32_t *cost,
			uint32_t destination);

/*
 * Adds switches that have no legal path, by steps against the tree: each goes to its
 * lowest-numbered neighbour that has a path already, so that all such turns are at few switches. A
 * path has at most max_rounds such steps. With any_is_valid every link to a neighbour that has a
 * path counts as is_candidate[], so that entries made by other rules may stay. Cost: O(rounds *
 * links).
 */
void dag_extend(struct dag *dag, const struct hd_fabric *fabric, unsigned max_rounds,
		bool any_is_valid);

/*
 * After dag_extend(): counts every link as is_candidate[] by which a switch without a legal path
 * goes to one that was added in an earlier round, or has a legal path. Cost: O(links of those).
 */
void dag_allow_all_steps(struct dag *dag, const struct hd_fabric *fabric);

#endif
