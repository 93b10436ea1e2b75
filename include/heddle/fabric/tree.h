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
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

/* ---- labels ---- */

/*
 * The labels that the switches of a regular tree once got, by GUID. They travel with the tables
 * that were made from them (struct hd_routes), so that a tree from which something is missing keeps
 * the labels of all that is left, and what comes back gets its old ones.
 */

#define HD_TREE_FANOUT 256u /* entries a switch in the port tables */

/* One switch; see struct hd_regular_tree. */
struct hd_tree_label {
	uint64_t guid;
	uint32_t level, first_leaf, group, ordinal;
	uint8_t up_port[HD_TREE_FANOUT];
	uint8_t down_port[HD_TREE_FANOUT]; /* of a leaf: the port of each host slot */
};

/* Immutable once they are made, and shared by all who hold them. */
struct hd_tree_labels {
	struct hd_arena arena; /* all that the pointers point to */
	atomic_uint holders;
	uint32_t level_count, hosts, next_ordinal;
	bool whole; /* made when no switch and no cable was missing, and no place has been added */
	uint32_t *children, *parents, *parent_links; /* per level */
	uint32_t count;
	struct hd_tree_label *items; /* by ascending GUID; switches that are missing, too */
};

/* One holder more; returns labels. NULL is allowed. */
struct hd_tree_labels *hd_tree_labels_hold(struct hd_tree_labels *labels);

/* One holder less; the last one frees them. NULL is allowed. */
void hd_tree_labels_release(struct hd_tree_labels *labels);

/* ---- regular trees ---- */

/*
 * Regular fat trees: XGFT(h; m1..mh; w1..wh), and the same with parallel links (RLFT, PGFT). They
 * are recognised in a fabric whose levels are known, and labelled so that D-mod-K has a closed
 * form. Cables, switches and hosts may be missing: the labels are those of the completed tree, in
 * which they are present. Sources: Öhring et al., generalized fat trees (1995); Zahavi, D-Mod-K
 * routing (2010).
 *
 * A switch of level l has two numbers. Its block says which of the subtrees of height l it is in.
 * Its group says which of the switches above the same leaves it is. The completed tree has one
 * switch for each level, block and group.
 */

struct hd_regular_tree {
	const struct hd_fabric *fabric;
	uint32_t level_count;
	const uint8_t *level;
	/* per level: children and parents of each switch, and parallel links to each of those */
	uint32_t *children, *child_links, *parents, *parent_links;
	uint32_t *leaves; /* leaf switches below a switch of the level (1 at level 0) */
	uint32_t *above; /* groups of the level: product of parents below */
	uint32_t hosts; /* of each leaf */
	/* per switch; HD_NONE: the switch is cabled so badly that it has no place in the tree */
	uint32_t *first_leaf; /* number of the first leaf below it */
	uint32_t *group;
	uint32_t *ordinal; /* a number that spreads paths to the switch's own LIDs */
	uint32_t *host_slot; /* [host_count] number of the host on its leaf; one that came later
			      * may have a number beyond `hosts` */
	/* ports of each switch, HD_NO_PORT where the cable is missing; a cable is in both tables
	 * or in none */
	uint8_t *down_port; /* [sw * HD_TREE_FANOUT + child * child_links + i]: port to the child-th
			       child */
	uint8_t *up_port; /* [sw * HD_TREE_FANOUT + i * parents + parent] */
	/* per level: the switch of each block and group, [block * above + group], HD_NONE where
	 * it is missing */
	uint32_t **at;
	bool intact; /* no switch and no cable is missing */
};

/* What hd_regular_tree_label() returns for a tree that has no labels. */
#define HD_TREE_IRREGULAR 1

/*
 * Labels the fabric as a regular tree. 0 and *out, in memory of the arena. HD_TREE_IRREGULAR when
 * the tree is not regular, or when so much is missing that its shape is a guess: hosts above the
 * leaves, two switches with the same labels, more than a quarter of the switches, cables or hosts
 * of the completed tree missing. Errors: -ENOMEM. Cost: O(links log radix).
 */
int hd_regular_tree_label(const struct hd_fabric *fabric, const struct hd_tree *tree,
			  struct hd_arena *arena, struct hd_regular_tree *out);

/*
 * The same with the labels of an earlier time: switches that had some keep them, however much is
 * missing. Others get labels of switches that are missing, or new ones beyond the last subtree of
 * the top. tree: NULL if hd_tree_find() found none. HD_TREE_IRREGULAR: the fabric does not fit the
 * earlier tree.
 */
int hd_regular_tree_label_again(const struct hd_fabric *fabric, const struct hd_tree *tree,
				const struct hd_tree_labels *labels, struct hd_arena *arena,
				struct hd_regular_tree *out);

/*
 * The labels of the tree, to be kept for a later time, together with earlier ones (NULL: none) of
 * switches and cables that are missing now. Where nothing is new *out is `earlier`, held once
 * more. *out is released with hd_tree_labels_release(). Errors: -ENOMEM. Cost: O(switches *
 * radix).
 */
int hd_regular_tree_labels(const struct hd_regular_tree *tree, struct hd_tree_labels *earlier,
			   struct hd_tree_labels **out);

static inline uint32_t hd_regular_tree_top(const struct hd_regular_tree *tree)
{
	return tree->level_count - 1;
}

/* Number of subtrees whose tops are of that level. */
static inline uint32_t hd_regular_tree_blocks(const struct hd_regular_tree *tree, uint32_t level)
{
	return tree->leaves[tree->level_count - 1] / tree->leaves[level];
}

#endif
