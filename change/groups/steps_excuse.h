/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loops without adaptive routing. While forwarding tables change, those of before and after can close a credit loop, and
 * no choice of groups mends that: a spine that gets a cable back has still a path that turns at a leaf, and another one
 * already sends by the cable. Aggregation nodes have such paths. Packets to a few of them are left out then.
 */
#ifndef CHANGE_STEPS_EXCUSE_H
#define CHANGE_STEPS_EXCUSE_H

#include "ar_graph.h"
#include "steps_order.h"

/*
 * After -ELOOP in the step in which forwarding tables change: finds LIDs without groups by which static ports alone have
 * loops. Of these only the entries before or after count in this step, which is to be tried again. Errors: -ELOOP
 * static ports have a loop without such LIDs, -ECANCELED, -ENOMEM. Cost: O(switches * LIDs), and for each dependency that is
 * left out O(links * radix + switches * such LIDs).
 */
int steps_excuse(struct hd_ar_graph *graph, const struct ar_state states[2],
		 const struct steps_order *order, const struct hd_go_on *go_on);

/* All entries count again. With `excused`, those LIDs stay without proof until their last entries have changed. */
void steps_excuse_end(struct hd_ar_graph *graph, bool excused);

/* A change begins: no LID is excused. */
void steps_excuse_none(struct hd_ar_graph *graph);

#endif
