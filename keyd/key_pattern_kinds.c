/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_pattern_kinds.h"

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

/* Ranks in a grid, row by row: the last axis changes first */

/* The two sizes of so many ranks with the lowest sum. */
static void cut_in_two(uint32_t ranks, uint32_t size[2])
{
	uint32_t side = 1;

	for (uint32_t tried = 1; tried * tried <= ranks; tried++)
		if (ranks % tried == 0)
			side = tried;
	size[0] = ranks / side;
	size[1] = side;
}

static void cut_in_three(uint32_t ranks, uint32_t size[3])
{
	uint32_t least = UINT32_MAX;

	for (uint32_t last = 1; last * last * last <= ranks; last++) {
		uint32_t others[2];

		if (ranks % last)
			continue;
		cut_in_two(ranks / last, others);
		if (others[0] + others[1] + last > least)
			continue;
		least = others[0] + others[1] + last;
		size[0] = others[0];
		size[1] = others[1];
		size[2] = last;
	}
}

void key_pattern_kinds_cut(uint32_t ranks, unsigned axes, uint32_t size[KEY_PATTERN_AXES])
{
	size[0] = ranks;
	size[1] = size[2] = 0;
	if (axes == 2)
		cut_in_two(ranks, size);
	else if (axes == 3)
		cut_in_three(ranks, size);
}

/* One phase: each rank sends `step` further on an axis of `size`, on which neighbours are `stride`
 * ranks apart. */
static void add_axis_shift(struct key_pattern_build *build, uint32_t stride, uint32_t size,
			   uint32_t step)
{
	key_pattern_build_phase(build);
	for (uint32_t rank = 0; !build->rc && rank < build->pattern->ranks; rank++) {
		uint32_t place = rank / stride % size, to = (place + step) % size;

		key_pattern_build_flow(build, rank, rank - place * stride + to * stride);
	}
}

/* Each rank sends to its neighbour: the next one on the first axis, the one before, then the same on
 * the other axes. The last rank of an axis is followed by the first. */
static void make_stencil(struct key_pattern_build *build, const struct key_pattern_arguments *with)
{
	uint32_t stride = build->pattern->ranks;

	for (unsigned axis = 0; axis < KEY_PATTERN_AXES && with->size[axis]; axis++) {
		uint32_t size = with->size[axis];

		stride /= size;
		add_axis_shift(build, stride, size, 1);
		add_axis_shift(build, stride, size, size - 1);
	}
}

/* Rank r * columns + c sends to rank c * rows + r. */
static void make_transpose(struct key_pattern_build *build,
			   const struct key_pattern_arguments *with)
{
	uint32_t rows = with->size[0], columns = with->size[1];

	key_pattern_build_phase(build);
	for (uint32_t row = 0; row < rows; row++)
		for (uint32_t column = 0; column < columns; column++)
			key_pattern_build_flow(build, row * columns + column, column * rows + row);
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
    {KEY_PATTERN_PLAIN, 1, make_stencil},  {KEY_PATTERN_GRID, 2, make_stencil},
    {KEY_PATTERN_GRID, 3, make_stencil},   {KEY_PATTERN_PLAIN, 0, make_ring},
    {KEY_PATTERN_NUMBER, 0, make_shift},   {KEY_PATTERN_PLAIN, 0, make_alltoall},
    {KEY_PATTERN_GRID, 2, make_transpose}, {KEY_PATTERN_PLAIN, 0, make_halving_doubling},
    {KEY_PATTERN_SEED, 0, make_random},	   {KEY_PATTERN_PATH, 0, NULL},
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
