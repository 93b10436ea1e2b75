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

struct excuse {
	struct hd_ar_graph *graph;
	const struct ar_state *states; /* [2] of the change at hand */
	const struct steps_order *order;
	const struct hd_go_on *go_on;
};

/*
 * As ar_graph_try() for the step in which others change forwarding tables. Where static ports alone have a loop, of the
 * fewest LIDs only the entries before or after count, and these are excused from now on. What is in force after the step is
 * proved, too. Errors: -ELOOP, with the loop in the graph; -ECANCELED, -ENOMEM. Cost: that of ar_graph_try(); after a loop
 * also O(switches * LIDs), and for each dependency that is left out O(links * radix + switches * LIDs of such adapters).
 */
int steps_excuse_tables(const struct excuse *excuse);

/* As ar_graph_try() for another step, 0 too. Excused LIDs are left out if static ports alone have a loop in it, and only
 * then. Errors and cost: as above. */
int steps_excuse_try(const struct excuse *excuse, uint32_t step);

/* A change begins: no LID is excused. */
void steps_excuse_none(struct hd_ar_graph *graph);

#endif
