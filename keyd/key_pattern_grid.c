/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_pattern_grid.h"

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

void key_pattern_grid_cut(uint32_t ranks, unsigned axes, uint32_t size[KEY_PATTERN_AXES])
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
static void add_shift(struct key_pattern_build *build, uint32_t stride, uint32_t size,
		      uint32_t step)
{
	key_pattern_build_phase(build);
	for (uint32_t rank = 0; !build->rc && rank < build->pattern->ranks; rank++) {
		uint32_t place = rank / stride % size, to = (place + step) % size;

		key_pattern_build_flow(build, rank, rank - place * stride + to * stride);
	}
}

void key_pattern_grid_stencil(struct key_pattern_build *build,
			      const struct key_pattern_arguments *with)
{
	uint32_t stride = build->pattern->ranks;

	for (unsigned axis = 0; axis < KEY_PATTERN_AXES && with->size[axis]; axis++) {
		uint32_t size = with->size[axis];

		stride /= size;
		add_shift(build, stride, size, 1);
		add_shift(build, stride, size, size - 1);
	}
}

void key_pattern_grid_transpose(struct key_pattern_build *build,
				const struct key_pattern_arguments *with)
{
	uint32_t rows = with->size[0], columns = with->size[1];

	key_pattern_build_phase(build);
	for (uint32_t row = 0; row < rows; row++)
		for (uint32_t column = 0; column < columns; column++)
			key_pattern_build_flow(build, row * columns + column, column * rows + row);
}
