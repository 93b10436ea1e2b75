/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps apart the paths to the two ports of a dual-homed node (heddle/fabric/siblings.h), so that the loss of one switch
 * between does not cut the node off before the tables are repaired.
 *
 * The balance routes one destination after another. Once the tree of one port is chosen, each switch with hosts whose
 * path meets that to the other port takes the next hop that shares the fewest switches with it, by the balance among
 * several. Where the balance beyond the first link is equal, all switches take the same next hop if they can: with
 * different ones, two ports that would have to exchange their next hops at some switches block each other in later
 * passes. These even out what the detours cost. Hosts are the sources, so switches without hosts keep their next hops.
 */
#ifndef ENGINES_BALANCE_SIBLINGS_H
#define ENGINES_BALANCE_SIBLINGS_H

#include "balance_plan.h"

struct balance_siblings {
	const struct hd_fabric *fabric;
	uint16_t *lid; /* [lid_count] of the sibling; NULL: no node is dual-homed */
	uint32_t *item; /* [lid_count] place of a LID in the list of destinations, HD_NONE */
	const struct destinations *list;
	const uint8_t *chosen; /* [list->count * switch_count] trees */
	bool apart; /* some node has its ports at two switches */
};

/* What each part of a balance has of its own. */
struct balance_siblings_marks {
	uint32_t *path; /* [switch_count] number of the sibling's path that passed it last */
	uint32_t last; /* path */
};

/* Errors: -ENOMEM. Cost: that of hd_siblings_find(), and O(LIDs) if some node is dual-homed. */
int balance_siblings_find(const struct hd_fabric *fabric, const struct destinations *list,
			  const uint8_t *chosen, struct hd_arena *arena,
			  struct balance_siblings *out);

/*
 * Changes next hops of the tree of a destination, as the DAG allows. key[switch_count], load[isl_count]: the lesser one
 * is preferred, the key first, among next hops that share as few switches. before: NULL, or entries that stay where they
 * are candidates. Nothing changes if the destination has no sibling, or while that is not routed. Cost: O(sources * hops),
 * and O(candidates * hops) for each path that meets the other.
 */
void balance_siblings_part(const struct balance_siblings *siblings,
			   struct balance_siblings_marks *marks,
			   const struct balance_destination *to, const struct dag *dag,
			   const uint64_t *key, const uint32_t *load, const uint8_t *before,
			   uint8_t *tree);

#endif
