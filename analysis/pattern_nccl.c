/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Flows of NCCL's collective operations between machines with one adapter (NIC) for each GPU. What
 * GPUs of one machine send each other goes by NVLink and is no flow here. Source: NCCL 2.30.7,
 * https://github.com/NVIDIA/nccl, the files and functions named below.
 *
 * - A ring of channel c enters and leaves a machine by adapter c: src/graph/connect.cc,
 *   connectRings(); src/graph/search.cc, ncclTopoSearchCheckNet(). With NCCL_CROSS_NIC=2, the
 *   default, rings may enter by one adapter and leave by another, but they alternate so that they
 *   never cross rails (connect.cc, ncclTopoPostset()): the flows are the same.
 * - Double binary trees of machines: src/graph/trees.cc, ncclGetBtree() and ncclGetDtree(). Each
 *   channel has both trees, on its adapter.
 * - All-to-all in the rounds of src/init.cc, ncclP2pSchedule(). With PXN, adapter b sends what is
 *   for GPU b of another machine: src/graph/search.cc, ncclTopoGetNetDev().
 */
#include "pattern_internal.h"

#include <errno.h>

static uint32_t adapter(const struct hd_pattern *pattern, uint32_t machine, uint32_t rail)
{
	return machine * pattern->adapters + rail;
}

/* ---- rings ---- */

static int prepare_nccl_ring(struct hd_pattern *pattern, const struct hd_options *options,
			     const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)options;
	(void)ranks;
	(void)err;
	pattern->round_max = pattern->ranks * pattern->adapters;
	pattern->single = true;
	return 0;
}

/* From each machine to the one `distance` further on, rail by rail. */
static uint32_t machines_shifted(const struct hd_pattern *pattern, uint32_t distance,
				 struct hd_flow *flows)
{
	uint32_t count = 0;

	for (uint32_t machine = 0; machine < pattern->ranks; machine++) {
		uint32_t to = (machine + distance) % pattern->ranks;
		for (uint32_t rail = 0; rail < pattern->adapters; rail++)
			pattern_add(flows, &count, adapter(pattern, machine, rail),
				    adapter(pattern, to, rail));
	}
	return count;
}

static uint32_t nccl_ring_round(const struct hd_pattern *pattern, uint32_t round,
				struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	(void)draw;
	return machines_shifted(pattern, 1, flows);
}

const struct hd_pattern_kind pattern_nccl_ring = {
    .name = "nccl-ring",
    .summary = "NCCL's rings: on each rail, every machine sends to the next one at once",
    .by_adapter = true,
    .prepare = prepare_nccl_ring,
    .round = nccl_ring_round,
};

/* ---- double binary tree ---- */

static const struct hd_option tree_options[] = {
    {.name = "phase",
     .summary =
	 "what flows at once: reduce towards the roots, broadcast from them, or both, as in an "
	 "all-reduce",
     .type = HD_OPTION_CHOICE,
     .fallback = "both",
     .choices = "both|reduce|broadcast"},
};

enum { PHASE_BOTH, PHASE_REDUCE, PHASE_BROADCAST };

static int prepare_nccl_tree(struct hd_pattern *pattern, const struct hd_options *options,
			     const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)ranks;
	(void)err;
	pattern->number[0] = pattern_number(options, "phase");
	pattern->round_max = 4 * pattern->ranks * pattern->adapters;
	return 0;
}

/* Parent of a node other than 0 in the binary tree whose leaves are the odd numbers: the lowest bit
 * that is set moves up by one; if there is no such node, it is cleared. */
static uint32_t parent_of(uint32_t node, uint32_t nodes)
{
	uint32_t bit = node & -node, up = (node ^ bit) | bit << 1;

	return up < nodes ? up : node ^ bit;
}

/* The machine at a place of the second tree, which is the first one mirrored, or moved on by one if
 * the number of machines is odd. */
static uint32_t second_tree(uint32_t place, uint32_t machines)
{
	return machines % 2 ? (place + 1) % machines : machines - 1 - place;
}

static void add_edge(const struct hd_pattern *pattern, uint32_t child, uint32_t parent,
		     struct hd_flow *flows, uint32_t *count)
{
	uint32_t phase = pattern->number[0];

	for (uint32_t rail = 0; phase != PHASE_BROADCAST && rail < pattern->adapters; rail++)
		pattern_add(flows, count, adapter(pattern, child, rail),
			    adapter(pattern, parent, rail));
	for (uint32_t rail = 0; phase != PHASE_REDUCE && rail < pattern->adapters; rail++)
		pattern_add(flows, count, adapter(pattern, parent, rail),
			    adapter(pattern, child, rail));
}

static uint32_t nccl_tree_round(const struct hd_pattern *pattern, uint32_t round,
				struct hd_draw *draw, struct hd_flow *flows)
{
	(void)round;
	(void)draw;
	uint32_t machines = pattern->ranks, count = 0;
	for (uint32_t node = 1; node < machines; node++) {
		uint32_t up = parent_of(node, machines);
		add_edge(pattern, node, up, flows, &count);
		add_edge(pattern, second_tree(node, machines), second_tree(up, machines), flows,
			 &count);
	}
	return count;
}

const struct hd_pattern_kind pattern_nccl_tree = {
    .name = "nccl-tree",
    .summary = "NCCL's double binary trees of machines, on each rail, all at once",
    PATTERN_OPTIONS(tree_options),
    .by_adapter = true,
    .prepare = prepare_nccl_tree,
    .round = nccl_tree_round,
};

/* ---- all-to-all ---- */

static const struct hd_option all_to_all_options[] = {
    {.name = "pxn",
     .summary = "the adapter of the destination's rail sends (PXN), so that nothing crosses rails; "
		"no: each GPU's own adapter sends to all rails",
     .type = HD_OPTION_BOOL,
     .fallback = "yes"},
};

static int prepare_nccl_all_to_all(struct hd_pattern *pattern, const struct hd_options *options,
				   const struct hd_ranks *ranks, struct hd_error *err)
{
	(void)ranks;
	(void)err;
	uint32_t pxn = pattern_number(options, "pxn");
	pattern->number[0] = pxn ? 1 : pattern->adapters; /* rounds for each distance */
	pattern->rounds = (pattern->ranks - 1) * pattern->number[0];
	pattern->round_max = pattern->ranks * pattern->adapters;
	pattern->single = true;
	return 0;
}

static uint32_t nccl_all_to_all_round(const struct hd_pattern *pattern, uint32_t round,
				      struct hd_draw *draw, struct hd_flow *flows)
{
	(void)draw;
	uint32_t turns = pattern->number[0], distance = round / turns + 1, step = round % turns;
	uint32_t count = machines_shifted(pattern, distance, flows);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t to = flows[i].destination, rail = to % pattern->adapters;
		flows[i].destination = to - rail + (rail + step) % pattern->adapters;
	}
	return count;
}

const struct hd_pattern_kind pattern_nccl_all_to_all = {
    .name = "nccl-all-to-all",
    .summary = "NCCL's all-to-all: machine m sends to m + k, until each has sent to all others",
    PATTERN_OPTIONS(all_to_all_options),
    .by_adapter = true,
    .prepare = prepare_nccl_all_to_all,
    .round = nccl_all_to_all_round,
};
