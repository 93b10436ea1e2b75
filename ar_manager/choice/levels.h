/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The levels of a fabric that is a tree, or a tree but for some cables; and by them, which links climb. Tables have no
 * say in that, so a plan for tables from a file is that for the engine which made them.
 */
#ifndef AR_MANAGER_LEVELS_H
#define AR_MANAGER_LEVELS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/tree.h>

struct levels {
	const struct hd_fabric *fabric;
	const uint8_t *level; /* [switch_count] 0: leaf; HD_TREE_NO_LEVEL: cables lead to no leaf */
	uint32_t highest;
	uint32_t strays; /* cables that do not join neighbouring levels */
};

/*
 * Memory from the arena. Leaves are those of hd_tree_find(), or else of hd_tree_prune(). If more than a quarter of the
 * hosts would be above the leaves, all switches with hosts are leaves, if few cables are stray then. Errors: -ENOTSUP
 * the fabric is no tree, with a cable that shows it; -ENOMEM. Cost: that of hd_tree_prune().
 */
int levels_find(const struct hd_fabric *fabric, struct hd_arena *arena, struct levels *out,
		struct hd_error *err);

/* The first link that is stray, HD_NONE: none. O(links). */
uint32_t levels_first_stray(const struct levels *levels);

/* Directions of all links: up[isl_count], in memory of the arena, without a circle. If only stray cables join two
 * trees, the one with the most hosts is above the others. Errors: -ENOMEM. Cost: O(links * levels). */
int levels_directions(const struct levels *levels, struct hd_arena *arena, uint8_t **up);

/* Orders in which hosts should pass links, by number: [isl_count], in memory of the arena. The first is to climb, then
 * descend; the second to climb, then descend, then pass cables that are stray. Errors: -ENOMEM. O(links). */
int levels_order(const struct levels *levels, const uint8_t *up, struct hd_arena *arena,
		 uint8_t **order);
int levels_order_crossing(const struct levels *levels, struct hd_arena *arena, uint8_t **order);

#endif
