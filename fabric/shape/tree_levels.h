/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Levels of switches, before it is known whether they are those of a tree. */
#ifndef FABRIC_TREE_LEVELS_H
#define FABRIC_TREE_LEVELS_H

#include <heddle/fabric/tree.h>

#define TREE_NO_LEVEL HD_TREE_NO_LEVEL

struct tree_levels {
	const struct hd_fabric *fabric;
	const struct hd_tree_facts *facts;
	uint8_t *level; /* [switch_count] TREE_NO_LEVEL: no leaf and no root reaches the switch */
	uint32_t *queue; /* [switch_count] */
	uint32_t highest;
	uint32_t leaf_hosts;
};

/* The hosts of a switch that make it a leaf. */
uint32_t tree_hosts_on(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		       uint32_t sw);

/* The smallest host count of a switch that is greater than `above`, or UINT32_MAX. */
uint32_t tree_next_threshold(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
			     uint32_t above);

/* Levels by steps from the switches with so many hosts, and levels->highest. */
void tree_levels_from_hosts(struct tree_levels *levels, uint32_t threshold);

/* Levels by steps from levels->facts->is_root, counted from the leaves; and levels->highest. */
void tree_levels_from_roots(struct tree_levels *levels);

#endif
