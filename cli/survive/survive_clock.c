/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "survive_clock.h"

#include <time.h>

double survive_clock_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}
