/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Repeatable random numbers (splitmix64), the same on every machine. */
#ifndef HEDDLE_BASE_RANDOM_H
#define HEDDLE_BASE_RANDOM_H

#include <stdint.h>

/* The next number of the sequence that `state` stands for; any start is good. */
uint64_t hd_random_next(uint64_t *state);

/* 0 .. bound-1, unbiased; bound > 0. */
uint64_t hd_random_below(uint64_t *state, uint64_t bound);

#endif
