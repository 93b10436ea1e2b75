/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random streams by number: the stream of (seed, pattern, round) is the same whoever draws it,
 * so that work can be split in any way.
 */
#ifndef ANALYSIS_STREAM_H
#define ANALYSIS_STREAM_H

#include <stdint.h>

struct stream {
	uint64_t state;
};

#define STREAM_MAPPING UINT32_MAX /* in place of a round */
#define STREAM_LIDS 0x80000000u /* added to a round */

struct stream stream_at(uint64_t seed, uint64_t pattern, uint32_t round);

/* splitmix64 (Steele, Lea, Flood, 2014): one multiplication chain a number, any start is good. */
static inline uint64_t stream_next(struct stream *stream)
{
	uint64_t mixed = (stream->state += UINT64_C(0x9E3779B97F4A7C15));

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
	return mixed ^ (mixed >> 31);
}

/* 0 .. bound - 1, unbiased; bound > 0. */
uint32_t stream_below(struct stream *stream, uint32_t bound);

/* A uniformly drawn permutation of items, in place. */
void stream_shuffle(struct stream *stream, uint32_t *items, uint32_t count);

/* 0 .. count - 1 in random order. */
void stream_permutation(struct stream *stream, uint32_t *items, uint32_t count);

#endif
