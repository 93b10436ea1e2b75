/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sweep's unicast tables in order: what sweep.h of the room change plans is written before OpenSM writes. All of it
 * is done by the sweeper thread, with OpenSM's lock held.
 */
#ifndef OPENSM_SWEEP_ORDER_H
#define OPENSM_SWEEP_ORDER_H

#include "sweep_limits.h"

struct hd_fabric;
struct hd_routes;

/* The tables that a sweep is to write. What is drained (drained.h) is in the fabric: packets use it until the last entry
 * has left it, so their dependencies count. */
struct sweep_goal {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes; /* in its shape */
};

struct sweep_outcome {
	uint64_t entries; /* that were written in order */
	uint64_t unproved; /* of these without a proof, and those that OpenSM writes */
};

/*
 * `levels`: tables of sweep_levels_find() for the goal, which get overwritten. Adaptive routing leads the steps if it is
 * on (sweep_steps.h). Says in the log what was done. For the hook `published`.
 */
struct sweep_outcome sweep_order_run(struct part_context *context,
				     const struct sweep_settings *settings,
				     const struct sweep_goal *goal, struct hd_routes *levels,
				     struct sweep_memory *memory);

#endif
