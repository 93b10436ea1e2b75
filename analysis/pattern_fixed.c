/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns that follow from the number of ranks. */
#include "pattern_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- one round ---- */

/* One-round permutations: shift, complement, bit reversal, transpose, ring, pipeline. */

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

/* ---- neighbours ---- */

/* Stencils: ranks on a grid of one to three dimensions, each sends to all its neighbours. */

#define DIMENSIONS_MAX 3

static const struct hd_option neighbours_options[] = {
    {.name = "dimensions",
     .summary = "dimensions of the grid, which is as near a cube as the ranks allow",
     .type = HD_OPTION_INT,
     .fallback = "3",
     .minimum = 1,
     .maximum = DIMENSIONS_MAX},
    {.name = "grid",
     .summary = "the sides of the grid, in place of `dimensions`; auto: from the number of ranks",
     .type = HD_OPTION_STRING,
     .fallback = "auto"},
    {.name = "periodic",
     .summary = "the grid is closed at its ends, like a torus",
     .type = HD_OPTION_BOOL,
     .fallback = "yes"},
};

enum { SIDES, PERIODIC = DIMENSIONS_MAX };

/* Largest n with n^power <= value. */
static uint32_t root_of(uint32_t value, unsigned power)
{
	uint32_t root = 1;

	for (;; root++) {
		uint64_t product = 1;
		for (unsigned i = 0; i < power; i++)
			product *= root + 1;
		if (product > value)
			return root;
	}
}

/*
 * Considers the grids whose longest side is at most twice the shortest, if there are any. Takes the
 * one that leaves the fewest ranks idle; of several, the one nearest a cube.
 */
static void choose_sides(uint32_t ranks, unsigned dimensions, uint32_t *sides)
{
	uint32_t most = 0;

	for (uint32_t a = dimensions > 2 ? root_of(ranks, 3) : 1; a > 0; a--) {
		for (uint32_t b = dimensions > 1 ? root_of(ranks / a, 2) : 1; b >= a; b--) {
			uint32_t c = ranks / a / b;
			uint32_t shortest = dimensions > 2 ? a : dimensions > 1 ? b : c;
			if (a * b * c <= most || (most && c > 2 * shortest))
				continue;
			most = a * b * c;
			sides[0] = a;
			sides[1] = b;
			sides[2] = c;
		}
	}
}

static const struct hd_option grid_option = {.name = "grid",
					     .summary = "sides of the grid",
					     .type = HD_OPTION_INT_LIST,
					     .minimum = 1,
					     .maximum = UINT16_MAX};

static int read_grid(const char *text, uint32_t ranks, uint32_t *sides, struct hd_error *err)
{
	struct hd_options *options = hd_options_new(&grid_option, 1);

	if (!options)
		return hd_error_no_memory(err);
	int rc = hd_options_set(options, "grid", text, err);
	const struct hd_option_value *value = hd_options_get(options, "grid");
	uint64_t points = 1;
	if (!rc && value->count > DIMENSIONS_MAX)
		rc = hd_error_set(err, -EINVAL, "option 'grid': %u sides, expected %d or fewer",
				  value->count, DIMENSIONS_MAX);
	for (unsigned i = 0; !rc && i < DIMENSIONS_MAX; i++) {
		sides[i] = i < value->count ? (uint32_t)value->list[i] : 1;
		points *= sides[i];
	}
	if (!rc && points > ranks)
		rc = hd_error_set(err, -EINVAL,
				  "option 'grid': %s has %" PRIu64 " points for %" PRIu32 " ranks",
				  text, points, ranks);
	hd_options_free(options);
	return rc;
}

static int prepare_neighbours(struct hd_pattern *pattern, const struct hd_options *options,
			      const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)ranks;
	const struct hd_option_value *grid = hd_options_get(options, "grid");
	pattern->number[PERIODIC] = pattern_number(options, "periodic");
	pattern->round_max = 2 * DIMENSIONS_MAX * pattern->ranks;
	if (strcmp(grid->text, "auto") != 0)
		return read_grid(grid->text, pattern->ranks, &pattern->number[SIDES], err);
	choose_sides(pattern->ranks, pattern_number(options, "dimensions"),
		     &pattern->number[SIDES]);
	return 0;
}

static uint32_t neighbours_round(const struct hd_pattern *pattern, uint32_t round,
				 struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	(void)draw;
	const uint32_t *sides = &pattern->number[SIDES];
	uint32_t points = sides[0] * sides[1] * sides[2], count = 0;
	for (uint32_t rank = 0; rank < points; rank++) {
		uint32_t step = 1;
		for (unsigned i = 0; i < DIMENSIONS_MAX; step *= sides[i++]) {
			/* Flows of rank `rank` along one dimension. `place` is its coordinate, `step` the distance to the next rank. */
			uint32_t place = rank / step % sides[i];
			uint32_t side = sides[i];
			bool periodic = pattern->number[PERIODIC];
			if (place + 1 < side)
				pattern_add(flows, &count, rank, rank + step);
			else if (periodic && side > 2)
				pattern_add(flows, &count, rank, rank - (side - 1) * step);
			if (place > 0)
				pattern_add(flows, &count, rank, rank - step);
			else if (periodic && side > 2)
				pattern_add(flows, &count, rank, rank + (side - 1) * step);
		}
	}
	return count;
}

const struct hd_pattern_kind pattern_neighbours = {
    .name = "neighbours",
    .summary = "each rank of a grid sends to all its neighbours at once",
    PATTERN_OPTIONS(neighbours_options),
    .prepare = prepare_neighbours,
    .round = neighbours_round,
};

/* ---- collective operations ---- */

/*
 * Rounds of collective operations. Sources: Thakur, Rabenseifner, Gropp, "Optimization of
 * collective communication operations in MPICH", 2005; Hensgen, Finkel, Manber, "Two algorithms
 * for barrier synchronization", 1988 (dissemination).
 */

/* ---- dissemination ---- */

static int prepare_dissemination(struct hd_pattern *pattern, const struct hd_options *options,
				 const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)options;
	(void)ranks;
	(void)err;
	pattern->rounds = pattern_log2_up(pattern->ranks);
	pattern->single = true;
	return 0;
}

static uint32_t shifted(const struct hd_pattern *pattern, uint32_t distance, struct hd_flow *flows)
{
	for (uint32_t i = 0; i < pattern->ranks; i++) {
		uint32_t to = i + distance;
		flows[i] = (struct hd_flow){i, to >= pattern->ranks ? to - pattern->ranks : to};
	}
	return pattern->ranks;
}

static uint32_t dissemination_round(const struct hd_pattern *pattern, uint32_t round,
				    struct hd_draw *draw, struct hd_flow *flows)
{
	(void)draw;
	return shifted(pattern, 1u << round, flows);
}

const struct hd_pattern_kind pattern_dissemination = {
    .name = "dissemination",
    .summary = "round k: rank i sends to i + 2^k, as in Bruck's all-to-all and barriers",
    .prepare = prepare_dissemination,
    .round = dissemination_round,
};

/* ---- all-to-all, pairwise ---- */

static int prepare_all_to_all(struct hd_pattern *pattern, const struct hd_options *options,
			      const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)options;
	(void)ranks;
	(void)err;
	pattern->rounds = pattern->ranks - 1;
	pattern->single = true;
	return 0;
}

static uint32_t all_to_all_round(const struct hd_pattern *pattern, uint32_t round,
				 struct hd_draw *draw, struct hd_flow *flows)
{
	(void)draw;
	return shifted(pattern, round + 1, flows);
}

const struct hd_pattern_kind pattern_all_to_all = {
    .name = "all-to-all",
    .summary = "round k: rank i sends to i + k, until each rank has sent to all others",
    .prepare = prepare_all_to_all,
    .round = all_to_all_round,
};

static int prepare_pairwise(struct hd_pattern *pattern, const struct hd_options *options,
			    const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)options;
	(void)ranks;
	(void)err;
	pattern->rounds = (1u << pattern_log2_up(pattern->ranks)) - 1;
	pattern->single = true;
	return 0;
}

/* Flows between ranks whose numbers differ by `mask`, both ways. */
static uint32_t exchanged(uint32_t ranks, uint32_t mask, struct hd_flow *flows)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ranks; i++)
		if ((i ^ mask) < ranks)
			pattern_add(flows, &count, i, i ^ mask);
	return count;
}

static uint32_t pairwise_round(const struct hd_pattern *pattern, uint32_t round,
			       struct hd_draw *draw, struct hd_flow *flows)
{
	(void)draw;
	return exchanged(pattern->ranks, round + 1, flows);
}

const struct hd_pattern_kind pattern_pairwise = {
    .name = "pairwise",
    .summary = "round k: ranks i and i xor k exchange, until each rank has met all others",
    .prepare = prepare_pairwise,
    .round = pairwise_round,
};

/* ---- recursive doubling ---- */

enum { DOUBLING_CORE, DOUBLING_STEPS, DOUBLING_REST };

static int prepare_doubling(struct hd_pattern *pattern, const struct hd_options *options,
			    const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)options;
	(void)ranks;
	(void)err;
	uint32_t steps = pattern_log2_down(pattern->ranks), core = 1u << steps;
	pattern->number[DOUBLING_CORE] = core;
	pattern->number[DOUBLING_STEPS] = steps;
	pattern->number[DOUBLING_REST] = pattern->ranks - core;
	pattern->rounds = steps + (pattern->ranks > core ? 2 : 0);
	pattern->single = true;
	return 0;
}

/* Each rank beyond the power of two gives its part to a rank below it, and gets the result back. */
static uint32_t doubling_round(const struct hd_pattern *pattern, uint32_t round,
			       struct hd_draw *draw, struct hd_flow *flows)
{
	(void)draw;
	uint32_t core = pattern->number[DOUBLING_CORE], rest = pattern->number[DOUBLING_REST];
	uint32_t count = 0;
	if (rest && (round == 0 || round + 1 == pattern->rounds)) {
		for (uint32_t i = 0; i < rest; i++)
			pattern_add(flows, &count, round ? i : core + i, round ? core + i : i);
		return count;
	}
	return exchanged(core, 1u << (rest ? round - 1 : round), flows);
}

const struct hd_pattern_kind pattern_recursive_doubling = {
    .name = "recursive-doubling",
    .summary = "round k: ranks i and i xor 2^k exchange; ranks beyond a power of two send before "
	       "and receive after",
    .prepare = prepare_doubling,
    .round = doubling_round,
};

/* ---- tree ---- */

static uint32_t tree_round(const struct hd_pattern *pattern, uint32_t round, struct hd_draw *draw,
			   struct hd_flow *flows)
{
	(void)draw;
	uint32_t reached = 1u << round, count = 0;
	for (uint32_t i = 0; i < reached && i + reached < pattern->ranks; i++)
		pattern_add(flows, &count, i, i + reached);
	return count;
}

const struct hd_pattern_kind pattern_tree = {
    .name = "tree",
    .summary = "binomial broadcast: round k: the 2^k ranks reached so far each send to one more",
    .prepare = prepare_dissemination,
    .round = tree_round,
};

/* ---- gather, scatter ---- */

static const struct hd_option root_options[] = {
    {.name = "root",
     .summary = "the rank that gathers or scatters",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = UINT16_MAX},
};

static int prepare_root(struct hd_pattern *pattern, const struct hd_options *options,
			const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)ranks;
	pattern->number[0] = pattern_number(options, "root");
	if (pattern->number[0] < pattern->ranks)
		return 0;
	return hd_error_set(err, -EINVAL,
			    "option 'root': rank %" PRIu32 " is out of range, expected 0..%" PRIu32,
			    pattern->number[0], pattern->ranks - 1);
}

static uint32_t gather_round(const struct hd_pattern *pattern, uint32_t round, struct hd_draw *draw,
			     struct hd_flow *flows)
{
	(void)round;
	(void)draw;
	uint32_t count = 0;
	for (uint32_t i = 0; i < pattern->ranks; i++)
		pattern_add(flows, &count, i, pattern->number[0]);
	return count;
}

static uint32_t scatter_round(const struct hd_pattern *pattern, uint32_t round,
			      struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	(void)draw;
	uint32_t count = 0;
	for (uint32_t i = 0; i < pattern->ranks; i++)
		pattern_add(flows, &count, pattern->number[0], i);
	return count;
}

const struct hd_pattern_kind pattern_gather = {
    .name = "gather",
    .summary = "all ranks send to one at once",
    PATTERN_OPTIONS(root_options),
    .prepare = prepare_root,
    .round = gather_round,
};

const struct hd_pattern_kind pattern_scatter = {
    .name = "scatter",
    .summary = "one rank sends to all others at once",
    PATTERN_OPTIONS(root_options),
    .prepare = prepare_root,
    .round = scatter_round,
};
