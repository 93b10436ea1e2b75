/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast trees in order. OpenSM asks the engine for the tree of one group after the other, in a sweep for those of
 * all, after a join or leave for those that change. When all are asked for, it sends the tables of all switches, block
 * by block. So when it has asked for the last one, the new trees are known, and nothing is sent yet: then the trees that
 * differ are written, in the order of repair_mfts.h of the room change. No packet comes to a switch twice, whatever the
 * switches have taken. OpenSM's own blocks change nothing then.
 *
 * Groups that have gone are left to OpenSM. Their ports are taken away, which leaves a part of a tree at any moment.
 *
 * WHAT SWITCHES HOLD. OpenSM has one table for a switch, and clears the row of a group before it asks for its tree. So
 * the rows are copied before: in a sweep when unicast is done, and then after each change. Switches of which OpenSM
 * knows nothing are asked (sweep_known.h). After a repair between sweeps the copies are out of date until the next sweep.
 */
#ifndef OPENSM_SWEEP_TREES_H
#define OPENSM_SWEEP_TREES_H

#include "sweep_copies.h"
#include "sweep_known.h"
#include "sweep_limits.h"

#include <stdatomic.h>

/* For the sweeper thread. Zero-initialise before use. */
struct sweep_trees {
	struct sweep_copies *held; /* what the switches hold; NULL: not known */
	struct sweep_known known; /* where they hold that indeed */
	bool asked[SWEEP_MLIDS]; /* since the last block was sent */
	bool sweeping; /* OpenSM asks for all groups */
	bool failed; /* the last sweep had errors: a switch may hold anything */
	atomic_bool stale; /* a repair has changed trees; for any thread */
};

/* OpenSM asks for all trees next. Without OpenSM's lock. */
void sweep_trees_begin(struct sweep_trees *trees, const struct part_context *context);

/* OpenSM has a tree. If it was the last one, they are written, and the log says so. With OpenSM's lock held
 * exclusively. */
void sweep_trees_built(struct sweep_trees *trees, uint32_t mlid, const struct part_context *context,
		       const struct sweep_settings *settings, struct sweep_memory *memory);

/* The sweep is complete. */
void sweep_trees_end(struct sweep_trees *trees, const struct part_context *context);

void sweep_trees_release(struct sweep_trees *trees);

#endif
