/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One-round permutations: shift, complement, bit reversal, transpose, ring, pipeline. */
#include "pattern_internal.h"

#include <errno.h>
#include <inttypes.h>

static int prepare_single(struct hd_pattern *pattern, const struct hd_options *options,
			  const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)options;
	(void)ranks;
	(void)err;
	pattern->single = true;
	return 0;
}

/* ---- shift, ring ---- */

static const struct hd_option shift_options[] = {
    {.name = "distance",
     .summary = "rank i sends to i + distance, modulo the number of ranks",
     .type = HD_OPTION_INT,
     .fallback = "1",
     .minimum = 1,
     .maximum = UINT16_MAX},
};

static int prepare_shift(struct hd_pattern *pattern, const struct hd_options *options,
			 const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)ranks;
	pattern->number[0] = pattern_number(options, "distance");
	pattern->single = true;
	if (pattern->number[0] % pattern->ranks)
		return 0;
	return hd_error_set(err, -EINVAL,
			    "option 'distance': %" PRIu32 " is a multiple of the %" PRIu32
			    " ranks, so each rank would send to itself",
			    pattern->number[0], pattern->ranks);
}

static int prepare_ring(struct hd_pattern *pattern, const struct hd_options *options,
			const struct hd_ranks *ranks, struct hd_error *err)
{
	pattern->number[0] = 1;
	return prepare_single(pattern, options, ranks, err);
}

static uint32_t shift_round(const struct hd_pattern *pattern, uint32_t round, struct hd_draw *draw,
			    struct hd_flow *flows)
{
	(void)round;
	(void)draw;
	uint32_t count = 0;
	for (uint32_t i = 0; i < pattern->ranks; i++)
		pattern_add(flows, &count, i, (i + pattern->number[0]) % pattern->ranks);
	return count;
}

const struct hd_pattern_kind pattern_shift = {
    .name = "shift",
    .summary = "rank i sends to i + distance",
    PATTERN_OPTIONS(shift_options),
    .prepare = prepare_shift,
    .round = shift_round,
};

const struct hd_pattern_kind pattern_ring = {
    .name = "ring",
    .summary = "each rank sends to the next, the last to the first",
    .prepare = prepare_ring,
    .round = shift_round,
};

/* ---- pipeline ---- */

static uint32_t pipeline_round(const struct hd_pattern *pattern, uint32_t round,
			       struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	(void)draw;
	for (uint32_t i = 0; i + 1 < pattern->ranks; i++)
		flows[i] = (struct hd_flow){i, i + 1};
	return pattern->ranks - 1;
}

const struct hd_pattern_kind pattern_pipeline = {
    .name = "pipeline",
    .summary = "each rank sends to the next, the last to nobody: a busy pipeline",
    .prepare = prepare_single,
    .round = pipeline_round,
};

/* ---- complement, bit reversal, transpose ---- */

static uint32_t complement_round(const struct hd_pattern *pattern, uint32_t round,
				 struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	(void)draw;
	uint32_t count = 0;
	for (uint32_t i = 0; i < pattern->ranks; i++)
		pattern_add(flows, &count, i, pattern->ranks - 1 - i);
	return count;
}

const struct hd_pattern_kind pattern_complement = {
    .name = "complement",
    .summary =
	"rank i sends to rank P - 1 - i of P ranks: the bit-wise complement if P is a power of two",
    .prepare = prepare_single,
    .round = complement_round,
};

static uint32_t reverse_bits(uint32_t value, uint32_t bits)
{
	uint32_t reversed = 0;

	for (uint32_t bit = 0; bit < bits; bit++)
		reversed |= (value >> bit & 1) << (bits - 1 - bit);
	return reversed;
}

static uint32_t bit_reversal_round(const struct hd_pattern *pattern, uint32_t round,
				   struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	(void)draw;
	uint32_t bits = pattern_log2_down(pattern->ranks), count = 0;
	for (uint32_t i = 0; i < 1u << bits; i++)
		pattern_add(flows, &count, i, reverse_bits(i, bits));
	return count;
}

const struct hd_pattern_kind pattern_bit_reversal = {
    .name = "bit-reversal",
    .summary = "rank i sends to i with its bits reversed; ranks beyond a power of two are idle",
    .prepare = prepare_single,
    .round = bit_reversal_round,
};

static int prepare_transpose(struct hd_pattern *pattern, const struct hd_options *options,
			     const struct hd_ranks *ranks, struct hd_error *err)
{
	uint32_t side = 1;

	while ((side + 1) * (side + 1) <= pattern->ranks)
		side++;
	pattern->number[0] = side;
	return prepare_single(pattern, options, ranks, err);
}

static uint32_t transpose_round(const struct hd_pattern *pattern, uint32_t round,
				struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	(void)draw;
	uint32_t side = pattern->number[0], count = 0;
	for (uint32_t i = 0; i < side * side; i++)
		pattern_add(flows, &count, i, i % side * side + i / side);
	return count;
}

const struct hd_pattern_kind pattern_transpose = {
    .name = "transpose",
    .summary = "ranks as a square matrix, row by row: (a, b) sends to (b, a); the rest is idle",
    .prepare = prepare_transpose,
    .round = transpose_round,
};
