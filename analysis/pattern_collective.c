/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rounds of collective operations. Sources: Thakur, Rabenseifner, Gropp, "Optimization of
 * collective communication operations in MPICH", 2005; Hensgen, Finkel, Manber, "Two algorithms
 * for barrier synchronization", 1988 (dissemination).
 */
#include "pattern_internal.h"

#include <errno.h>
#include <inttypes.h>

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
