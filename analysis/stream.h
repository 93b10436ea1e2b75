/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random streams by number. The stream of (seed, pattern, round) is the same in every thread and
 * process, so the work can be split in any way.
 */
#ifndef ANALYSIS_STREAM_H
#define ANALYSIS_STREAM_H

#include <stdint.h>

struct stream {
	uint64_t state; /* of hd_random_next() */
};

#define STREAM_MAPPING UINT32_MAX /* in place of a round */
#define STREAM_LIDS 0x80000000u /* added to a round */

struct stream stream_at(uint64_t seed, uint64_t pattern, uint32_t round);

/* 0 .. bound - 1, unbiased; bound > 0. */
uint32_t stream_below(struct stream *stream, uint32_t bound);

/* A uniformly drawn permutation of items, in place. */
void stream_shuffle(struct stream *stream, uint32_t *items, uint32_t count);

/* 0 .. count - 1 in random order. */
void stream_permutation(struct stream *stream, uint32_t *items, uint32_t count);

#endif
