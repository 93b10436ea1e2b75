/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Regular fat trees: XGFT(h; m1..mh; w1..wh), and the same with parallel links (RLFT, PGFT). They
 * are recognised in a fabric whose levels are known, and labelled so that D-mod-K has a closed
 * form. Sources: Öhring et al., generalized fat trees (1995); Zahavi, D-Mod-K routing (2010).
 */
#ifndef HEDDLE_FABRIC_REGULAR_TREE_H
#define HEDDLE_FABRIC_REGULAR_TREE_H

#include <heddle/fabric/tree.h>

#define HD_TREE_FANOUT 256u /* entries a switch in the port tables */

struct hd_regular_tree {
	const struct hd_fabric *fabric;
	uint32_t level_count;
	const uint8_t *level;
	/* per level: children and parents of each switch, and parallel links to each of those */
	uint32_t *children, *child_links, *parents, *parent_links;
	uint32_t *leaves; /* leaf switches below a switch of that level (1 at level 0) */
	uint32_t *above; /* switches of that level above one leaf: product of parents below */
	/* per switch */
	uint32_t *first_leaf; /* number of the first leaf below it */
	uint32_t *group; /* its number among the switches above the same leaves (b digits) */
	uint8_t *down_port; /* [sw * HD_TREE_FANOUT + child * child_links + i]: port to the child-th
			       child */
	uint8_t *up_port; /* [sw * HD_TREE_FANOUT + i * parents + parent] */
	/* per level and group: the group, one level down, of the switches below */
	uint32_t **group_below;
	/* per level and group: its position among the parents of the switches below */
	uint32_t **digit;
};

/* hd_regular_tree_label() returns this for a tree that is not regular. */
#define HD_TREE_IRREGULAR 1

/*
 * Labels the fabric as a regular tree. 0 and *out, in memory of the arena. HD_TREE_IRREGULAR when
 * the tree is not regular: hosts above the leaves, leaves with different numbers of hosts, a link
 * or switch missing, subtrees that are not blocks of leaves, or parents that are not grouped alike.
 * Errors: -ENOMEM. Cost: O(links log radix).
 */
int hd_regular_tree_label(const struct hd_fabric *fabric, const struct hd_tree *tree,
			  struct hd_arena *arena, struct hd_regular_tree *out);

#endif
