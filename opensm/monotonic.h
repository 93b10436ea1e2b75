/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock by which the plugin measures how long something takes. */
#ifndef OPENSM_MONOTONIC_H
#define OPENSM_MONOTONIC_H

/* Milliseconds of a clock that never goes back. For any thread. */
double monotonic_ms(void);

#endif
