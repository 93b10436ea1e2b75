/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ANALYSIS_CONGESTION_REPORT_H
#define ANALYSIS_CONGESTION_REPORT_H

#include "tally.h"

/* The tally in words that mean something. `reciprocal`: the histogram has all shares, 1/pi; links
 * count flows in units of 1/parts. NULL: no memory. */
struct hd_congestion_report *congestion_report_new(const struct tally *tally, bool reciprocal,
						   uint32_t parts);

#endif
