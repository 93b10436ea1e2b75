/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of algorithms. */
#ifndef AR_MANAGER_ALGORITHMS_H
#define AR_MANAGER_ALGORITHMS_H

#include "planner.h"

#define ALGORITHMS_COUNT 3u

/* In the order in which AUTO tries them. */
extern const struct planner_algorithm *const algorithms_all[ALGORITHMS_COUNT];

#endif
