/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Search for a cycle in the channel dependency graph of one virtual lane. */
#ifndef FABRIC_CHECK_LOOP_H
#define FABRIC_CHECK_LOOP_H

#include "check_lanes.h"

/*
 * Length of a cycle in the lane's graph, 0 when there is none; its links go to `cycle`
 * [isl_count]. Short rather than the shortest: the shortest of those through the links of the
 * first one met. Errors: -ENOMEM. Cost: O(links * radix), at most 64 times that for a cycle.
 */
int check_loop_find(const struct check_lanes *lanes, unsigned lane, uint32_t *cycle,
		    uint32_t *length);

#endif
