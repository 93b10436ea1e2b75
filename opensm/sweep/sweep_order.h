/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sweep's unicast tables in order: what sweep.h of the room change plans is written before OpenSM writes. All of it
 * is done by the sweeper thread, with OpenSM's lock held.
 */
#ifndef OPENSM_SWEEP_ORDER_H
#define OPENSM_SWEEP_ORDER_H

#include "sweep_limits.h"

struct hd_routes;

/*
 * `levels`: tables of sweep_levels_find() for the published routing, which get overwritten. Says in the
 * log what was done. For the hook `published`.
 */
void sweep_order_run(const struct part_context *context, const struct sweep_settings *settings,
		     struct hd_routes *levels, struct sweep_memory *memory);

#endif
