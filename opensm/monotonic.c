/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "monotonic.h"

#include <time.h>

double monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
