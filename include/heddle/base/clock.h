/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock of adapters: how long something takes, and until when they wait. Pure code asks no clock. */
#ifndef HEDDLE_BASE_CLOCK_H
#define HEDDLE_BASE_CLOCK_H

#include <time.h>

/* Milliseconds of a clock that never goes back and is never set. For any thread. */
static inline double hd_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

#endif
