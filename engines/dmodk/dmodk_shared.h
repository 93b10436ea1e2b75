/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Top switches that are shared by several positions. In a regular tree each top switch is cabled to
 * one switch of each subtree. Where it is cabled to several of them, it is split into as many top
 * switches, one for each position. The tree with these is regular, and D-mod-K has its closed form
 * there. Folding the tables gives those of the real switches: a packet to a host enters a real top
 * switch by one position, and leaves it by the position that D-mod-K names for the host.
 */
#ifndef ENGINES_DMODK_SHARED_H
#define ENGINES_DMODK_SHARED_H

#include <heddle/base/arena.h>
#include <heddle/fabric/routes.h>
#include <heddle/fabric/tree.h>

struct dmodk_shared {
	const struct hd_fabric *fabric;
	struct hd_fabric *split; /* without sideways cables; LIDs and hosts are the fabric's */
	uint32_t *real; /* [split->switch_count] switch of the fabric */
	uint32_t *position; /* [split->switch_count] of a part of a top switch, else 0 */
	/* switches of the split fabric: that of a switch; of a top switch its first part */
	uint32_t *part; /* [fabric->switch_count * positions]; HD_NONE: no such part */
	uint32_t positions;
	uint32_t top; /* level of the top switches */
	const uint8_t *level;
	struct hd_arena arena;
};

/* Splits the top switches of the levels. Released with dmodk_shared_release() in any case. Errors:
 * -ENOTSUP no top switch is shared, or GUIDs would meet; -ENOMEM. Cost: that of a build. */
int dmodk_shared_split(const struct hd_fabric *fabric, const struct hd_tree *levels,
		       struct dmodk_shared *out);

/* Folds tables of the split fabric, which must have labels. The labels of the result are those of
 * the split fabric. Errors: -ENOTSUP a host has no position, -ENOMEM. Cost: O(switches * LIDs). */
int dmodk_shared_fold(const struct dmodk_shared *shared, const struct hd_routes *routes,
		      struct hd_routes **out);

void dmodk_shared_release(struct dmodk_shared *shared);

#endif
