/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repeatable random numbers, the same on every machine: splitmix64 (G. L. Steele, D. Lea,
 * C. H. Flood, "Fast splittable pseudorandom number generators", 2014).
 */
#ifndef HEDDLE_BASE_RANDOM_H
#define HEDDLE_BASE_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Advances *state and returns the next 64 random bits. Any state is a good start. Inline, since
 * patterns draw billions of numbers.
 */
static inline uint64_t hd_random_next(uint64_t *state)
{
	uint64_t mixed = (*state += UINT64_C(0x9E3779B97F4A7C15));

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
	return mixed ^ (mixed >> 31);
}

/* Advances *state and returns a number 0 .. bound - 1, each with the same chance; bound > 0. */
uint64_t hd_random_below(uint64_t *state, uint64_t bound);

#ifdef __cplusplus
}
#endif

#endif
