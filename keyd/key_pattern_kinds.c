/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_pattern_kinds.h"

#include "key_pattern_grid.h"

#include <heddle/base/random.h>
#include <stdlib.h>

static void add_shift(struct key_pattern_build *build, uint32_t step)
{
	uint32_t ranks = build->pattern->ranks;

	key_pattern_build_phase(build);
	for (uint32_t rank = 0; !build->rc && rank < ranks; rank++)
		key_pattern_build_flow(build, rank, (rank + step) % ranks);
}

static void make_ring(struct key_pattern_build *build, const struct key_pattern_arguments *with)
{
	(void)with;
	add_shift(build, 1);
}

static void make_shift(struct key_pattern_build *build, const struct key_pattern_arguments *with)
{
	add_shift(build, with->number);
}

static void make_alltoall(struct key_pattern_build *build, const struct key_pattern_arguments *with)
{
	(void)with;
	for (uint32_t step = 1; !build->rc && step < build->pattern->ranks; step++)
		add_shift(build, step);
}

/* The first `ranks` ranks, a power of two, exchange with the rank at a distance of `apart`. */
static void add_exchange(struct key_pattern_build *build, uint32_t ranks, uint32_t apart)
{
	key_pattern_build_phase(build);
	for (uint32_t rank = 0; !build->rc && rank < ranks; rank++)
		key_pattern_build_flow(build, rank, rank ^ apart);
}

/* The ranks beyond a power of two give their part to the first ranks before, and get the result
 * from them behind. */
static void add_beyond(struct key_pattern_build *build, uint32_t power, bool before)
{
	if (power == build->pattern->ranks)
		return;
	key_pattern_build_phase(build);
	for (uint32_t rank = power; !build->rc && rank < build->pattern->ranks; rank++)
		key_pattern_build_flow(build, before ? rank : rank - power,
				       before ? rank - power : rank);
}

static void make_halving_doubling(struct key_pattern_build *build,
				  const struct key_pattern_arguments *with)
{
	uint32_t power = 1;

	(void)with;
	while (power * 2 <= build->pattern->ranks)
		power *= 2;
	add_beyond(build, power, true);
	for (uint32_t apart = power / 2; apart; apart /= 2)
		add_exchange(build, power, apart);
	for (uint32_t apart = 1; apart < power; apart *= 2)
		add_exchange(build, power, apart);
	add_beyond(build, power, false);
}

static void make_random(struct key_pattern_build *build, const struct key_pattern_arguments *with)
{
	uint32_t ranks = build->pattern->ranks, *to = malloc(ranks * sizeof(*to));
	uint64_t random = with->number;

	if (!to) {
		build->rc = hd_error_no_memory(build->err);
		return;
	}
	for (uint32_t rank = 0; rank < ranks; rank++) { /* Fisher and Yates, inside out */
		uint32_t other = (uint32_t)hd_random_below(&random, rank + 1);

		to[rank] = to[other];
		to[other] = rank;
	}
	key_pattern_build_phase(build);
	for (uint32_t rank = 0; rank < ranks; rank++)
		key_pattern_build_flow(build, rank, to[rank]);
	free(to);
}

static const struct hd_key_pattern_kind names[] = {
    {"stencil1d", "", "neighbours on a closed line: forwards, backwards"},
    {"stencil2d", "[ROWSxCOLUMNS]", "neighbours in a periodic grid: each axis forwards, backwards"},
    {"stencil3d", "[XxYxZ]", "neighbours in a periodic grid of three axes"},
    {"ring", "", "each rank to the next one, the last to the first"},
    {"shift", "N", "each rank to the one N ranks further"},
    {"alltoall", "", "each rank to all others: phase N is the shift by N"},
    {"transpose", "[ROWSxCOLUMNS]", "row and column of a grid change places"},
    {"halving-doubling", "", "an allreduce: exchanges at N/2, N/4, ... 1, 1, 2, ... N/2"},
    {"random", "[SEED]", "one random permutation; without a seed: seed 0"},
    {"file", "PATH", "phases and flows from a file"},
};

#define KINDS ((unsigned)(sizeof(names) / sizeof(names[0])))

static const struct key_pattern_kind kinds[] = {
    {KEY_PATTERN_PLAIN, 1, key_pattern_grid_stencil},
    {KEY_PATTERN_GRID, 2, key_pattern_grid_stencil},
    {KEY_PATTERN_GRID, 3, key_pattern_grid_stencil},
    {KEY_PATTERN_PLAIN, 0, make_ring},
    {KEY_PATTERN_NUMBER, 0, make_shift},
    {KEY_PATTERN_PLAIN, 0, make_alltoall},
    {KEY_PATTERN_GRID, 2, key_pattern_grid_transpose},
    {KEY_PATTERN_PLAIN, 0, make_halving_doubling},
    {KEY_PATTERN_SEED, 0, make_random},
    {KEY_PATTERN_PATH, 0, NULL},
};

_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == KINDS, "each name has a kind");

const struct hd_key_pattern_kind *hd_key_pattern_kinds(unsigned *count)
{
	*count = KINDS;
	return names;
}

const struct key_pattern_kind *key_pattern_kinds_of(unsigned index)
{
	return &kinds[index];
}
