/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/parallel.h>

#include <time.h>

void hd_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec++;
	pthread_cond_clockwait(condition, lock, CLOCK_MONOTONIC, &end);
}
