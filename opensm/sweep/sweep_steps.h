/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sweep's forwarding tables in the steps of adaptive routing: the hook sweep_programs leads, and what it says is
 * written. Entries that are in none of its steps, as those for what is drained, are left.
 */
#ifndef OPENSM_SWEEP_STEPS_H
#define OPENSM_SWEEP_STEPS_H

#include <heddle/base/error.h>

struct hd_fabric;
struct hd_routes;
struct part_context;
struct writer_sweep;

/*
 * Calls the hook. `send`: ready to send to the switches of the fabric, whose tables it holds; `wanted`: those that they
 * are to get. NULL: OpenSM writes in an order of its own. With OpenSM's lock held exclusively.
 */
void sweep_steps_run(struct part_context *context, const struct hd_fabric *fabric,
		     const struct hd_routes *wanted, struct writer_sweep *send);

#endif
