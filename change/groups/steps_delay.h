/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which destinations change later. New entries for one destination can close a loop with old entries for others, which
 * would be gone some steps later: as when a leaf by which paths of aggregation nodes turn gets a cable back.
 */
#ifndef CHANGE_STEPS_DELAY_H
#define CHANGE_STEPS_DELAY_H

#include "ar_graph.h"
#include "steps_order.h"

/*
 * After -ELOOP in an early step: delays the destinations that have got a dependency on the loop in this step, of the one
 * that the fewest have. Returns -EAGAIN; errors: -ELOOP there are none, or they are too late already, -ENOMEM. Cost:
 * O(loop * destinations).
 */
int steps_delay_loop(struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t step,
		     struct steps_order *order);

#endif
