/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes that are free of credit loops over more lanes than that takes. */
#ifndef ENGINES_LANE_SPREAD_H
#define ENGINES_LANE_SPREAD_H

#include "lane_rounds.h"

/*
 * Divides the table's lanes, the fullest ones most, until all that are available are in use; they
 * are more than the table has. Destinations of one lane take its parts in turn: part of an acyclic
 * graph is acyclic. Cost: O(LIDs * switches with hosts).
 */
void lane_spread(const struct lane_assignment *assignment, struct lane_rounds_table *table,
		 unsigned available);

#endif
