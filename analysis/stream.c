/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bounded numbers come from a multiplication. The few low halves that would bias them are rejected
 * (Lemire, "Fast random integer generation in an interval", 2019). The shuffle draws two numbers
 * from one chain of multiplications (Brackett-Rozinsky, Lemire, "Batched ranged random integer
 * generation", 2024).
 */
#include "stream.h"

#include <heddle/base/random.h>

__extension__ typedef unsigned __int128 wide;

struct stream stream_at(uint64_t seed, uint64_t pattern, uint32_t round)
{
	uint64_t state = hd_random_next(&seed) ^ pattern;

	state = hd_random_next(&state) ^ round;
	return (struct stream){hd_random_next(&state)};
}

uint32_t stream_below(struct stream *stream, uint32_t bound)
{
	wide product = (wide)hd_random_next(&stream->state) * bound;

	if ((uint64_t)product < bound) {
		uint64_t excess = -(uint64_t)bound % bound;
		while ((uint64_t)product < excess)
			product = (wide)hd_random_next(&stream->state) * bound;
	}
	return (uint32_t)(product >> 64);
}

/* Draws *high below `bound` and *low below bound - 1. */
static inline void draw_two(struct stream *stream, uint32_t bound, uint32_t *high, uint32_t *low)
{
	uint64_t both = (uint64_t)bound * (bound - 1), excess = 0;

	for (;;) {
		wide first = (wide)hd_random_next(&stream->state) * bound;
		wide second = (wide)(uint64_t)first * (bound - 1);
		*high = (uint32_t)(first >> 64);
		*low = (uint32_t)(second >> 64);
		if (__builtin_expect((uint64_t)second >= both, 1))
			return;
		if (!excess)
			excess = -both % both;
		if ((uint64_t)second >= excess)
			return;
	}
}

static inline void swap(uint32_t *items, uint32_t a, uint32_t b)
{
	uint32_t kept = items[a];

	items[a] = items[b];
	items[b] = kept;
}

void stream_shuffle(struct stream *stream, uint32_t *items, uint32_t count)
{
	for (; count > 2; count -= 2) {
		uint32_t high, low;
		draw_two(stream, count, &high, &low);
		swap(items, count - 1, high);
		swap(items, count - 2, low);
	}
	if (count == 2)
		swap(items, 1, stream_below(stream, 2));
}

void stream_permutation(struct stream *stream, uint32_t *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		items[i] = i;
	stream_shuffle(stream, items, count);
}
