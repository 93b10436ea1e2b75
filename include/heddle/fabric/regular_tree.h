/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
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
#ifndef HEDDLE_FABRIC_REGULAR_TREE_H
#define HEDDLE_FABRIC_REGULAR_TREE_H

#include <heddle/base/arena.h>
#include <heddle/fabric/tree.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

/* ---- trees ---- */

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
