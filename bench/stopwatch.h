/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wall-clock time, and the figure that is reported for several runs. */
#ifndef BENCH_STOPWATCH_H
#define BENCH_STOPWATCH_H

#include <stddef.h>

/* Milliseconds of a clock that only goes forward. */
double stopwatch_now(void);

/* Median of values[0 .. count-1]. Sorts the values; count > 0. */
double stopwatch_median(double *values, size_t count);

#endif
