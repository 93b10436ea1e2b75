/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Spreads paths that are free of credit loops over more lanes than they need. */
#ifndef ENGINES_LANE_SPREAD_H
#define ENGINES_LANE_SPREAD_H

#include "lane_rounds.h"

/*
 * Divides the table's lanes, the fullest ones most, until all `available` lanes are in use; these
 * are more than the table has. Destinations of one lane take its parts round robin. A part of an
 * acyclic graph is acyclic. Cost: O(LIDs * switches with hosts).
 */
void lane_spread(const struct lane_assignment *assignment, struct lane_rounds_table *table,
		 unsigned available);

#endif
