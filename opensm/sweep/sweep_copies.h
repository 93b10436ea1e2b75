/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of OpenSM's multicast tables. OpenSM has only one table for each switch. While it asks for trees, some rows
 * have the trees that come, and the others those that the switches hold. With OpenSM's lock held.
 */
#ifndef OPENSM_SWEEP_COPIES_H
#define OPENSM_SWEEP_COPIES_H

#include <heddle/fabric/mfts.h>
#include <stdbool.h>
#include <stdint.h>

struct osm_opensm;

#define SWEEP_MLIDS (HD_MLID_LAST - HD_MLID_FIRST + 1u)

/* What a switch does with a group. */
struct sweep_branch {
	uint64_t guid;
	struct hd_port_set ports;
};

/* The entries of a group, without those that have no ports. Zero-initialise before use. */
struct sweep_tree {
	struct sweep_branch *branches; /* [count] from malloc() */
	uint32_t count, room;
};

struct sweep_copies {
	struct sweep_tree trees[SWEEP_MLIDS];
};

/* The tree that OpenSM has for a group now. Errors: -ENOMEM. Cost: O(switches). */
int sweep_tree_read(struct osm_opensm *osm, uint32_t mlid, struct sweep_tree *tree);

/* Replaces what a switch does with the group. Errors: -ENOMEM. O(branches). */
int sweep_tree_put(struct sweep_tree *tree, uint64_t guid, const struct hd_port_set *ports);

/* All groups. Errors: -ENOMEM. Cost: O(switches * rows of their tables). */
int sweep_copies_read(struct sweep_copies *copies, struct osm_opensm *osm);

/* Adds the entries of a group at switches of the fabric; *room of those in `mfts`. Errors: -ENOMEM. */
int sweep_tree_add(const struct sweep_tree *tree, uint32_t mlid, const struct hd_fabric *fabric,
		   struct hd_mfts *mfts, uint32_t *room);

/* The order of the branches does not count. O(branches log branches). */
bool sweep_tree_equal(struct sweep_tree *one, struct sweep_tree *other);

void sweep_tree_release(struct sweep_tree *tree);

/* NULL is allowed. */
void sweep_copies_free(struct sweep_copies *copies);

#endif
