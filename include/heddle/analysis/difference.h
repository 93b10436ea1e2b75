/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares two runs of the same patterns, pattern by pattern. The influence of the drawn patterns
 * drops out, so far smaller differences show than between the two means.
 */
#ifndef HEDDLE_ANALYSIS_DIFFERENCE_H
#define HEDDLE_ANALYSIS_DIFFERENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_difference {
	/* Mean of (share in the second run - share in the first), over patterns; each counts
	 * alike. */
	double mean;
	double half_width; /* 99% confidence; 0 with a single pattern */
	uint64_t better, worse,
	    same; /* patterns in which the second share is larger, smaller, equal */
};

/* Compares means[count] of two requests (hd_congestion_request); count > 0. O(count). */
struct hd_difference hd_difference_of(const uint64_t *first, const uint64_t *second,
				      uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
