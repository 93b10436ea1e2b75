/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Switches in groups, for pictures of large fabrics: the pods of a tree, the islands of a
 * Dragonfly+, the planes of spines. Where a fabric has no such parts, or too many, neighbours in
 * the order of their names share a group.
 */
#ifndef CLI_SWITCH_GROUPS_H
#define CLI_SWITCH_GROUPS_H

#include <heddle/base/arena.h>
#include <heddle/fabric.h>

struct switch_group {
	uint32_t level; /* hops from the nearest switch with hosts */
	uint32_t switches;
	uint32_t first, last; /* of its switches, in the order of their names */
};

struct switch_groups {
	uint32_t count;
	struct switch_group *groups; /* [count], by level, then by the name of the first */
	uint32_t *of; /* [switch_count]: the group of each switch */
	uint32_t levels;
};

/*
 * At most `most` groups, or one for each level if there are more levels. Everything belongs to the
 * arena. O(levels * links + switches log switches).
 */
void switch_groups_make(const struct hd_fabric *fabric, uint32_t most, struct hd_arena *arena,
			struct switch_groups *out);

/* Levels of switches: as hd_fabric_levels(), but 0 for a switch that no path joins to a host.
 * [switch_count], of the arena. */
uint32_t *switch_groups_levels(const struct hd_fabric *fabric, struct hd_arena *arena,
			       uint32_t *levels);

#endif
