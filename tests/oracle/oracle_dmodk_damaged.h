/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dmodk on damaged trees by its definition, for one switch and one LID at a time. */
#ifndef ORACLE_DMODK_DAMAGED_H
#define ORACLE_DMODK_DAMAGED_H

#include <heddle/fabric/regular_tree.h>

/* What the switches of a tree can do for one destination switch. All [switch_count]. */
struct oracle_dmodk_damaged {
	const struct hd_regular_tree *tree;
	uint32_t to;
	bool *legal; /* a path climbs, then descends */
	bool *descends; /* or descends to such a switch */
	bool *climbs; /* or climbs to such a switch */
	uint8_t *rest; /* ports of all others, see dmodk_repair.c */
};

/* Finds them by repeated looks at all links. The tree must have a place for each switch. Freed with
 * oracle_dmodk_damaged_free(). Cost: O(switches * links). */
void oracle_dmodk_damaged_find(struct oracle_dmodk_damaged *oracle,
			       const struct hd_regular_tree *tree, uint32_t to);
void oracle_dmodk_damaged_free(struct oracle_dmodk_damaged *oracle);

/*
 * The entry of a switch, other than the destination switch, for a LID with that offset of the
 * destination switch (host HD_NONE) or of one of its hosts: the first cable in the order of
 * preference that leads on; HD_NO_PORT without one.
 */
uint8_t oracle_dmodk_damaged_port(const struct oracle_dmodk_damaged *oracle, uint32_t sw,
				  uint32_t host, uint32_t offset);

#endif
