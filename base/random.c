/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/random.h>

#include <assert.h>

uint64_t hd_random_below(uint64_t *state, uint64_t bound)
{
	assert(bound > 0);
	/* The lowest (2^64 mod bound) values are thrown away, so the rest divides evenly by
	 * bound. */
	uint64_t excess = -bound % bound, drawn;
	do
		drawn = hd_random_next(state);
	while (drawn < excess);
	return drawn % bound;
}
