/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One labelling of a regular tree: what its steps hand to each other. */
#ifndef FABRIC_TREE_LABELLING_H
#define FABRIC_TREE_LABELLING_H

#include <heddle/fabric/regular_tree.h>

/*
 * Connected components of the levels 0 .. l (subtrees) or l .. top (groups), for each l. A
 * component that has no switch of level l is not listed.
 */
struct tree_components {
	uint32_t *of; /* [switch_count] component of the switch's own level */
	uint32_t *begin, *end; /* per level: its components, in the order of their first switches */
	/* [count] a subtree's: the subtree that contains it; a group's: the group, one level down,
	 * that contains it; HD_NONE: nothing does */
	uint32_t *container;
};

struct tree_labelling {
	struct hd_regular_tree *tree;
	uint8_t *level; /* tree->level */
	uint8_t
	    *up; /* [isl_count] 1 climbs to the next level, 0 descends to it; else TREE_NO_SIDE */
	const struct hd_tree_labels *earlier; /* NULL: none */
	const struct hd_tree_label **known; /* [switch_count] earlier label, or NULL */
	struct hd_arena *arena;
	uint32_t *by_level; /* switches by level, then by index */
	uint32_t *level_base; /* [level_count + 1] */
	struct tree_components subtrees, groups;
};

/*
 * Numbers the groups from level 0 up: tree->group, above and parents. Components that can be pieces
 * of one group get one number. Groups above one group are numbered by their switches in the
 * subtree that has most of them; if nothing is missing, by their first switches. 0,
 * HD_TREE_IRREGULAR, or -ENOMEM.
 */
int tree_groups_number(struct tree_labelling *labelling);

/*
 * Takes over labels->earlier: the shape of the tree, the labels of known switches, and what follows
 * from them for the others. Needs the components. 0, HD_TREE_IRREGULAR, or -ENOMEM.
 */
int tree_recall(struct tree_labelling *labelling);

/* Whether enough of what the completed tree has is present: its shape is then no guess. */
bool tree_mostly_present(uint64_t present, uint64_t completed);

/* Fills in tree->at from the numbers. 0, HD_TREE_IRREGULAR: too many switches are missing. -ENOMEM.
 */
int tree_slots_fill(struct tree_labelling *labelling);

/* Fills in parallel links, ports and host slots. 0, HD_TREE_IRREGULAR, or -ENOMEM. */
int tree_ports_fill(struct tree_labelling *labelling);

#endif
