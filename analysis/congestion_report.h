/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ANALYSIS_CONGESTION_REPORT_H
#define ANALYSIS_CONGESTION_REPORT_H

#include "tally.h"

/* Turns a tally into a report. `reciprocal`: the histogram has all shares, because each is 1/pi.
 * The tally counts a link's flows in units of 1/parts. NULL: no memory. */
struct hd_congestion_report *congestion_report_new(const struct tally *tally, bool reciprocal,
						   uint32_t parts);

#endif
