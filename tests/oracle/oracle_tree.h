/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps, centres, ranks, directions and levels, slow and obvious. */
#ifndef ORACLE_TREE_H
#define ORACLE_TREE_H

#include <heddle/fabric/graph.h>

/* Whether each switch has any path to the destination that climbs, then descends, whatever other
 * switches forward: has[switch_count]. Cost: O(switches * links). */
void oracle_tree_legal(const struct hd_fabric *fabric, const uint8_t *up, uint32_t destination,
		       bool *has);

/* Steps from the nearest marked switch: steps[switch_count], HD_NONE without a path. */
void oracle_tree_steps(const struct hd_fabric *fabric, const bool *marked, uint32_t *steps);

/* Of the switches that reach most others, the one whose farthest is nearest; ties by index. */
uint32_t oracle_tree_centre(const struct hd_fabric *fabric);

/* Steps from the nearest root. In each component without a root the lowest-numbered switch becomes
 * one. */
void oracle_tree_ranks(const struct hd_fabric *fabric, bool *is_root, uint32_t *rank);

/* Directions by ranks: up towards the lower rank, between equals towards the lower index. */
void oracle_tree_direct(const struct hd_fabric *fabric, const uint32_t *rank, uint8_t *up);

/*
 * Levels of a tree, from the switches with at least T compute nodes (is_compute NULL: all hosts),
 * for the least T >= least for which no link joins two switches of one level. Returns T; 0: there
 * is none.
 */
uint32_t oracle_tree_levels(const struct hd_fabric *fabric, const bool *is_compute, uint32_t least,
			    uint32_t *level);

#endif
