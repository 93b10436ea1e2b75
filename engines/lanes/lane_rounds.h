/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rounds of lane assignment, and the best of them. */
#ifndef ENGINES_LANE_ROUNDS_H
#define ENGINES_LANE_ROUNDS_H

#include "lane_assignment.h"

#include <heddle/engines/lanes.h>

struct lane_rounds_table {
	uint8_t *lane; /* [switch_count * stride] like the routes' */
	unsigned lanes; /* in use, at least 1 */
};

static inline size_t lane_rounds_table_size(const struct lane_assignment *assignment)
{
	return (size_t)assignment->routes->switch_count * assignment->routes->stride;
}

/* The largest number of lanes in a first round from which later rounds may get down to `available`:
 * they take a third away at best. The search always goes as far as InfiniBand's own limit, so that
 * the message can say how many lanes are needed. */
static inline unsigned lane_rounds_most(unsigned available)
{
	unsigned hopeful = (3 * available + 2) / 2;

	return hopeful > HD_LANES_MAX ? hopeful : HD_LANES_MAX;
}

/*
 * Assigns afresh, on as few lanes as a bounded search finds. The search is longer while more than
 * `available` are needed. It ends as soon as more than lane_rounds_most() are: table->lanes is then
 * one more than that, and the lanes mean nothing. Errors: -ENOMEM.
 */
int lane_rounds_fresh(struct lane_assignment *assignment, unsigned available,
		      struct lane_rounds_table *table);

/* Paths stay on their lanes of `previous` wherever they can. Errors: those of a round. */
int lane_rounds_keep(struct lane_assignment *assignment, const struct hd_routes *previous,
		     struct lane_rounds_table *table);

#endif
