/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends random bisections through the live network, and measures the bandwidth of each pair.
 * Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
 * routing in high-performance networks", 2008, section 3.2.3.
 */
#ifndef CLI_MEASURE_TRAFFIC_H
#define CLI_MEASURE_TRAFFIC_H

#include "measure_world.h"

#include <heddle/base/error.h>
#include <stdint.h>

struct measure_plan {
	uint64_t patterns; /* 1 .. */
	uint32_t packets, bytes; /* packets of a pair, and bytes of each, 1 .. */
	uint32_t bins; /* of the histogram, 1 .. */
	uint64_t seed;
	double full; /* full bandwidth of a pair in bytes a second; 0: measured, by pairs alone */
};

/* A share is the bandwidth of a pair as a share of full bandwidth. */
struct measure_result {
	uint64_t pairs; /* of all patterns */
	uint64_t *counts; /* [bins] pairs by share; the last bin has those of 1 and more, too */
	double *means; /* [patterns] mean share of each */
	double mean, half_width; /* of all, and half of the 99% confidence interval */
	double least, most; /* bytes a second of a pair */
	double full; /* bytes a second */
	uint32_t alone; /* pairs by which `full` was measured; 0: it was given */
	double alone_least, alone_most; /* bytes a second of these */
	uint64_t late; /* starts that a rank missed */
	double clock_error; /* seconds by which a clock was wrong, at most */
};

/*
 * Runs the plan. All ranks must call it; only the first gets a result, which is freed with
 * measure_traffic_free(). It returns the same in all ranks: 0, or -ENOMEM in some rank. Calls
 * progress(context, patterns done) in the first rank after each pattern.
 */
int measure_traffic_run(const struct measure_world *world, const struct measure_plan *plan,
			void (*progress)(void *context, uint64_t done), void *context,
			struct measure_result *result, struct hd_error *err);

void measure_traffic_free(struct measure_result *result);

#endif
