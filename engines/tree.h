/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric seen as a fat tree: the level of each switch, and which links climb. Any fabric is
 * one in which every link joins neighbouring levels; leaves may be uneven, links parallel or
 * missing, and hosts may hang on upper switches.
 */
#ifndef ENGINES_TREE_H
#define ENGINES_TREE_H

#include "dag.h"
#include "policy.h"

struct tree {
	uint32_t level_count;
	uint32_t
	    leaf_hosts; /* leaves are switches with so many hosts at least; HD_NONE: not so found */
	uint8_t *level; /* [switch_count], 0 = leaf */
	uint8_t *up; /* [isl_count], 1 where the link climbs */
	uint32_t *component; /* [switch_count], equal where there is a path at all */
};

/*
 * Finds the levels: downwards from policy->is_root where given; else upwards from the leaves,
 * which are the switches with at least T hosts (compute nodes where those are given), for the
 * least T >= least_hosts for which no link joins two switches of one level. Whether all leaves then
 * have ways up and down to each other is for the routing to see; where they have not, the next
 * T may do: tree_try_next(). Memory from the arena. Errors: -ENOTSUP no tree,
 * naming the link that joins two switches of one level; -ENOMEM.
 */
int tree_find(const struct hd_fabric *fabric, const struct routing_policy *policy,
	      uint32_t least_hosts, struct hd_arena *arena, struct tree *out, struct hd_error *err);

/* After a -ENOTSUP of routing over *tree: the next tree to try, or false when there is none. */
bool tree_try_next(const struct hd_fabric *fabric, const struct routing_policy *policy,
		   struct hd_arena *arena, struct tree *tree);

/*
 * -ENOTSUP naming a leaf with hosts that has no climb-then-descend way to the DAG's exit though
 * there is a path; 0 when there is none or the exit is no leaf. For DAGs of dag_build_legal()
 * over tree->up.
 */
int tree_check_ways(const struct tree *tree, const struct hd_fabric *fabric, const struct dag *dag,
		    struct hd_error *err);

/* Numbers connected components. False when memory is short. */
bool tree_components(const struct hd_fabric *fabric, uint32_t *component);

#endif
