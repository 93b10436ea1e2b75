/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rounds in which each flow divides evenly over all LIDs of its destination. */
#ifndef ANALYSIS_SPREADING_H
#define ANALYSIS_SPREADING_H

#include "counting.h"

/* How many parts every flow has: the largest number of LIDs of any host. */
uint32_t spreading_parts(const struct paths *paths);

/*
 * Like counting_run() for the first `count` of counting->flows, in units of 1/counting->parts. The
 * congestion of a flow is that of its slowest part. A flow is broken if any part does not arrive.
 * The hosts' cables are not counted.
 */
void spreading_run(struct counting *counting, uint32_t count);

#endif
