/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turns a pattern's flows between ranks into flows between hosts, by a mapping. */
#ifndef ANALYSIS_PATTERN_DRAWING_H
#define ANALYSIS_PATTERN_DRAWING_H

#include "pattern_internal.h"

#include <heddle/base/arena.h>

/* Each thread has one. */
struct pattern_drawing {
	const struct hd_pattern *pattern;
	const struct hd_ranks *ranks;
	enum hd_mapping mapping;
	uint64_t seed, index;
	struct hd_draw draw;
	const uint32_t *host; /* [ranks] host of each rank, in the present pattern */
	uint32_t *mapped; /* [ranks] where `host` points if the mapping is random */
};

/* 0 or -ENOMEM. All memory is from the arena. */
int pattern_drawing_init(struct pattern_drawing *drawing, const struct hd_pattern *pattern,
			 const struct hd_ranks *ranks, enum hd_mapping mapping, uint64_t seed,
			 struct hd_arena *arena);

/* Goes to the pattern with that number and draws its mapping. */
void pattern_drawing_begin(struct pattern_drawing *drawing, uint64_t index);

/* Writes the round's flows as host indices; returns their number. */
uint32_t pattern_drawing_round(struct pattern_drawing *drawing, uint32_t round,
			       struct hd_flow *flows);

#endif
