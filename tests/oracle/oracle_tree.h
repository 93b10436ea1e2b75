/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps, centres, ranks, directions and levels, slow and obvious. */
#ifndef ORACLE_TREE_H
#define ORACLE_TREE_H

#include <heddle/fabric/graph.h>

/* has[switch_count]: the switch has a path to the destination that climbs, then descends, whatever
 * the entries of other switches are. Cost: O(switches * links). */
void oracle_tree_legal(const struct hd_fabric *fabric, const uint8_t *up, uint32_t destination,
		       bool *has);

/* Steps from the nearest marked switch: steps[switch_count], HD_NONE without a path. */
void oracle_tree_steps(const struct hd_fabric *fabric, const bool *marked, uint32_t *steps);

/* The centre: among the switches that reach most others, the one with the shortest distance to its
 * farthest switch; the lowest index of several. */
uint32_t oracle_tree_centre(const struct hd_fabric *fabric);

/* Steps from the nearest root. In each component without a root the lowest-numbered switch becomes
 * one. */
void oracle_tree_ranks(const struct hd_fabric *fabric, bool *is_root, uint32_t *rank);

/* Directions by ranks: up towards the lower rank, between equals towards the lower index. */
void oracle_tree_direct(const struct hd_fabric *fabric, const uint32_t *rank, uint8_t *up);

/*
 * Levels of a tree, from the switches with at least T compute nodes (is_compute NULL: all hosts),
 * for the least T >= least for which no link joins two switches of one level. Returns T, or 0 if no
 * such T exists.
 */
uint32_t oracle_tree_levels(const struct hd_fabric *fabric, const bool *is_compute, uint32_t least,
			    uint32_t *level);

#endif
