/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers that all families of patterns share. */
#ifndef ANALYSIS_PATTERN_INTERNAL_H
#define ANALYSIS_PATTERN_INTERNAL_H

#include "stream.h"

#include <heddle/analysis/pattern.h>

struct hd_draw {
	struct stream stream;
	uint32_t *order; /* [ranks] scratch */
};

static inline void pattern_add(struct hd_flow *flows, uint32_t *count, uint32_t source,
			       uint32_t destination)
{
	flows[*count] = (struct hd_flow){source, destination};
	*count += source != destination;
}

/* Value of an INT, BOOL or CHOICE option. */
static inline uint32_t pattern_number(const struct hd_options *options, const char *name)
{
	return (uint32_t)hd_options_get(options, name)->number;
}

/* Smallest n with 2^n >= value; value > 0. */
static inline uint32_t pattern_log2_up(uint32_t value)
{
	return value > 1 ? 32 - (uint32_t)__builtin_clz(value - 1) : 0;
}

/* Largest n with 2^n <= value; value > 0. */
static inline uint32_t pattern_log2_down(uint32_t value)
{
	return 31 - (uint32_t)__builtin_clz(value);
}

#define PATTERN_OPTIONS(table)                                                                     \
	.options = (table), .option_count = sizeof(table) / sizeof((table)[0])

extern const struct hd_pattern_kind pattern_bisect;
extern const struct hd_pattern_kind pattern_permutation;
extern const struct hd_pattern_kind pattern_uniform;
extern const struct hd_pattern_kind pattern_hot_spot;
extern const struct hd_pattern_kind pattern_incast;
extern const struct hd_pattern_kind pattern_shift;
extern const struct hd_pattern_kind pattern_complement;
extern const struct hd_pattern_kind pattern_bit_reversal;
extern const struct hd_pattern_kind pattern_transpose;
extern const struct hd_pattern_kind pattern_ring;
extern const struct hd_pattern_kind pattern_pipeline;
extern const struct hd_pattern_kind pattern_all_to_all;
extern const struct hd_pattern_kind pattern_pairwise;
extern const struct hd_pattern_kind pattern_recursive_doubling;
extern const struct hd_pattern_kind pattern_dissemination;
extern const struct hd_pattern_kind pattern_tree;
extern const struct hd_pattern_kind pattern_gather;
extern const struct hd_pattern_kind pattern_scatter;
extern const struct hd_pattern_kind pattern_neighbours;
extern const struct hd_pattern_kind pattern_nccl_ring;
extern const struct hd_pattern_kind pattern_nccl_tree;
extern const struct hd_pattern_kind pattern_nccl_all_to_all;
extern const struct hd_pattern_kind pattern_pairs;
extern const struct hd_pattern_kind pattern_ranks;
extern const struct hd_pattern_kind pattern_goal;

#endif
