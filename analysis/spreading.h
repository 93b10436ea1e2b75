/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A round whose flows each divide evenly over all LIDs of their destination. */
#ifndef ANALYSIS_SPREADING_H
#define ANALYSIS_SPREADING_H

#include "counting.h"

/* Parts that every flow divides into: the most LIDs that a host has. */
uint32_t spreading_parts(const struct paths *paths);

/*
 * Does for the first `count` of counting->flows what counting_run() does, in units of
 * 1/counting->parts: loads, and the congestion of each flow, which is that of its slowest part.
 * A flow of which some part does not arrive is broken. The hosts' cables are not counted.
 */
void spreading_run(struct counting *counting, uint32_t count);

#endif
