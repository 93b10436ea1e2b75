/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric seen as a fat tree: the level of each switch, and which links climb. Any fabric in which
 * each link joins neighbouring levels is such a tree. Leaves may have different numbers of hosts,
 * links may be parallel or missing, and hosts may be cabled to switches above the leaves.
 */
#ifndef HEDDLE_FABRIC_TREE_H
#define HEDDLE_FABRIC_TREE_H

#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_tree {
	uint32_t level_count;
	uint32_t
	    /* Each leaf has at least so many hosts; HD_NONE: the roots decide what is a leaf */
	    leaf_hosts;
	uint8_t *level; /* [switch_count], 0 = leaf */
	uint8_t *up; /* [isl_count], 1 where the link climbs */
	uint32_t *component; /* [switch_count], equal for switches with a path to each other */
};

/* What the policy says about the tree, beyond the cables. */
struct hd_tree_facts {
	const bool *is_root; /* [switch_count] the switches at the top; NULL: not known */
	const bool *is_compute; /* [host_count] hosts that make a switch a leaf; NULL: all */
};

/*
 * Finds the levels: downwards from facts->is_root if it is given, else upwards from the leaves.
 * Leaves are the switches with at least T hosts (T compute nodes, if those are given). T is the
 * smallest number, least_hosts or more, for which no link joins two switches of one level. The
 * caller finds out whether all leaves then have legal paths to each other. If not,
 * hd_tree_try_next() tries the next T. All memory is from the arena. Errors: -ENOTSUP the fabric is
 * not a tree, with the link that joins two switches of one level; -ENOMEM.
 */
int hd_tree_find(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		 uint32_t least_hosts, struct hd_arena *arena, struct hd_tree *out,
		 struct hd_error *err);

/*
 * Replaces *tree, which an engine refused with -ENOTSUP, by the next tree to try. Errors: -ENOTSUP
 * there is no other tree, and *tree stays as it is; -ENOMEM.
 */
int hd_tree_try_next(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		     struct hd_arena *arena, struct hd_tree *tree, struct hd_error *err);

#define HD_TREE_NO_LEVEL UINT8_MAX

/* A fabric without its stray cables: those that do not join neighbouring levels. */
struct hd_tree_pruned {
	/* its own isl_... arrays, all else is the original's; it is not freed, and
	 * hd_fabric_find_port() is for the original alone */
	struct hd_fabric fabric;
	uint32_t *original; /* [fabric.isl_count] number of the link in the original */
	/* [switch_count] HD_TREE_NO_LEVEL: no leaf and no root reaches the switch */
	uint8_t *level;
	uint32_t strays; /* cables that are left out */
};

/*
 * Leaves out the stray cables, so that hd_tree_find() can rank a fabric that it refuses. in_force:
 * levels[switch_count] that the switches have so far, HD_TREE_NO_LEVEL where none is known; then a
 * switch does not change its level because its last host is gone. NULL: of the possible leaves it
 * takes those with which the fewest cables are left out, and a switch above them gets the level that
 * most of its cables fit. All memory is from the arena. Errors: -ENOTSUP no cable is stray, or more
 * cables are stray than climb: that is no tree; -ENOMEM. Cost: O(links * levels) for each number of
 * hosts that a switch has, and as much again for each level that is corrected.
 */
int hd_tree_prune(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		  const uint8_t *in_force, struct hd_arena *arena, struct hd_tree_pruned *out);

/* Numbers connected components: component[switch_count]. Errors: -ENOMEM. Cost: O(links). */
int hd_tree_components(const struct hd_fabric *fabric, uint32_t *component);

#ifdef __cplusplus
}
#endif

#endif
