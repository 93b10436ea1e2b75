/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/random.h>

#include <assert.h>

uint64_t hd_random_next(uint64_t *state)
{
	uint64_t mixed = (*state += UINT64_C(0x9E3779B97F4A7C15));

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
	return mixed ^ (mixed >> 31);
}

uint64_t hd_random_below(uint64_t *state, uint64_t bound)
{
	assert(bound > 0);
	/* The 2^64 mod bound lowest values are thrown away: what is left divides evenly. */
	uint64_t excess = -bound % bound, drawn;
	do
		drawn = hd_random_next(state);
	while (drawn < excess);
	return drawn % bound;
}
