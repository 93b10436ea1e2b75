/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock by which the plugin measures how long something takes, and waits. For any thread. */
#ifndef OPENSM_MONOTONIC_H
#define OPENSM_MONOTONIC_H

#include <pthread.h>
#include <time.h>

/* Milliseconds of a clock that never goes back. */
double monotonic_ms(void);

/* That time for pthread_cond_timedwait() with a condition of monotonic_condition(). Not negative. */
struct timespec monotonic_timespec(double milliseconds);

/* Initialises a condition whose waits end by this clock. */
void monotonic_condition(pthread_cond_t *condition);

#endif
