/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric seen as a fat tree: the level of each switch, and which links climb. Every fabric is one
 * in which each link joins neighbouring levels. Leaves may be uneven, links parallel or missing,
 * and hosts may be cabled to switches above the leaves.
 */
#ifndef HEDDLE_FABRIC_TREE_H
#define HEDDLE_FABRIC_TREE_H

#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct hd_tree {
	uint32_t level_count;
	uint32_t
	    leaf_hosts; /* each leaf has at least so many hosts; HD_NONE: leaves found by roots */
	uint8_t *level; /* [switch_count], 0 = leaf */
	uint8_t *up; /* [isl_count], 1 where the link climbs */
	uint32_t *component; /* [switch_count], equal for switches with a path between them */
};

/* What is known of the tree beyond the cables. */
struct hd_tree_facts {
	const bool *is_root; /* [switch_count] the switches at the top; NULL: not known */
	const bool *is_compute; /* [host_count] hosts that make a switch a leaf; NULL: all */
};

/*
 * Finds the levels: downwards from facts->is_root where given, else upwards from the leaves. Leaves
 * are the switches with at least T hosts (compute nodes where those are given), for the least T >=
 * least_hosts for which no link joins two switches of one level. The caller finds out whether all
 * leaves then have legal paths to each other; if not, hd_tree_try_next() gives the next T. Memory
 * from the arena. Errors: -ENOTSUP the fabric is not a tree, with the link that joins two switches
 * of one level; -ENOMEM.
 */
int hd_tree_find(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		 uint32_t least_hosts, struct hd_arena *arena, struct hd_tree *out,
		 struct hd_error *err);

/*
 * Replaces *tree, over which routing was refused with -ENOTSUP, by the next tree to try. Errors:
 * -ENOTSUP there is no further tree, and *tree stays as it is; -ENOMEM.
 */
int hd_tree_try_next(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		     struct hd_arena *arena, struct hd_tree *tree, struct hd_error *err);

/* Numbers connected components: component[switch_count]. Errors: -ENOMEM. Cost: O(links). */
int hd_tree_components(const struct hd_fabric *fabric, uint32_t *component);

#endif
