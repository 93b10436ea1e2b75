/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The labels that the switches of a regular tree once got, by GUID. They travel with the tables
 * that were made from them (struct hd_routes), so that a tree from which something is missing keeps
 * the labels of all that is left, and what comes back gets its old ones.
 */
#ifndef HEDDLE_FABRIC_TREE_LABELS_H
#define HEDDLE_FABRIC_TREE_LABELS_H

#include <heddle/base/arena.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

#endif
