/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A subnet as a regular tree: without its routers and without its stray cables. */
#ifndef IR_ROUTER_LOCAL_TREE_H
#define IR_ROUTER_LOCAL_TREE_H

#include <heddle/fabric/regular_tree.h>

struct local_tree {
	/* a copy without the cables of routers; node and port indices are those of the original */
	struct hd_fabric *bare;
	struct hd_tree levels;
	struct hd_tree_pruned pruned; /* what `tree` refers to if there are stray cables */
	struct hd_regular_tree tree;
	struct hd_arena arena;
};

/* Labels the subnet. 0, HD_TREE_IRREGULAR (it is no regular tree), or -ENOMEM. Released in any
 * case with local_tree_release(). Cost: that of a build of the fabric. */
int local_tree_make(const struct hd_fabric *fabric, struct local_tree *out);
void local_tree_release(struct local_tree *tree);

#endif
