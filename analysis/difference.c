/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/analysis/difference.h>

#include "tally.h"

#include <math.h>

static double gain(const uint64_t *first, const uint64_t *second, uint64_t pattern)
{
	return ((double)second[pattern] - (double)first[pattern]) / (double)HD_SHARE_ONE;
}

/* Goes through the patterns twice. A difference of sums of squares would lose all digits if the
 * differences are nearly equal. */
struct hd_difference hd_difference_of(const uint64_t *first, const uint64_t *second, uint64_t count)
{
	struct hd_difference found = {0};
	double sum = 0, squares = 0;

	for (uint64_t i = 0; i < count; i++) {
		found.better += second[i] > first[i];
		found.worse += second[i] < first[i];
		found.same += second[i] == first[i];
		sum += gain(first, second, i);
	}
	found.mean = sum / (double)count;
	for (uint64_t i = 0; i < count; i++) {
		double off = gain(first, second, i) - found.mean;
		squares += off * off;
	}
	if (count > 1)
		found.half_width =
		    NORMAL_QUANTILE_99 * sqrt(squares / (double)(count - 1) / (double)count);
	return found;
}
