/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "monotonic.h"

#include <heddle/base/clock.h>

double monotonic_ms(void)
{
	return hd_clock_ms();
}

struct timespec monotonic_timespec(double milliseconds)
{
	const double seconds = milliseconds / 1000;
	struct timespec when = {.tv_sec = (time_t)seconds};

	when.tv_nsec = (long)((seconds - (double)when.tv_sec) * 1e9);
	return when;
}

void monotonic_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}
