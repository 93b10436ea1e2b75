/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two runs of the same patterns compared pattern by pattern: what the drawn patterns have in
 * common drops out, so that far smaller differences show than between the two means.
 */
#ifndef HEDDLE_ANALYSIS_DIFFERENCE_H
#define HEDDLE_ANALYSIS_DIFFERENCE_H

#include <stdint.h>

struct hd_difference {
	/* Of the second run's share to the first's, over patterns, each of which counts alike. */
	double mean;
	double half_width; /* 99% confidence; 0 with a single pattern */
	uint64_t better, worse, same; /* patterns in which the second has more, less, as much */
};

/* Of means[count] as hd_congestion_request has them; count > 0. O(count). */
struct hd_difference hd_difference_of(const uint64_t *first, const uint64_t *second,
				      uint64_t count);

#endif
