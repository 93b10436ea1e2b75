/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rounds of assignment routes on lanes, and the best of them. */
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

/* Lanes in one round from which others may get down to `available`: rounds take a third away at
 * best. What InfiniBand has at all is always looked at, to say how many would do. */
static inline unsigned lane_rounds_most(unsigned available)
{
	unsigned hopeful = (3 * available + 2) / 2;

	return hopeful > HD_LANES_MAX ? hopeful : HD_LANES_MAX;
}

/*
 * From nothing, as few lanes as a bounded search finds; it is longer while more than `available`
 * are needed. It is given up as soon as more than lane_rounds_most() are: table->lanes is then one
 * more than that, and the lanes mean nothing. Errors: -ENOMEM.
 */
int lane_rounds_fresh(struct lane_assignment *assignment, unsigned available,
		      struct lane_rounds_table *table);

/* Lanes of `previous` stay wherever they can. Errors: those of a round. */
int lane_rounds_keep(struct lane_assignment *assignment, const struct hd_routes *previous,
		     struct lane_rounds_table *table);

#endif
