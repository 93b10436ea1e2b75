/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns of ranks that lie in a grid, row by row: the last axis changes first. */
#ifndef KEY_PATTERN_GRID_H
#define KEY_PATTERN_GRID_H

#include "key_pattern_kinds.h"

/*
 * Cuts the ranks into a grid as evenly as they can be cut: the sizes with the lowest sum, descending.
 * Axes that the grid does not have get 0. O(ranks).
 */
void key_pattern_grid_cut(uint32_t ranks, unsigned axes, uint32_t size[KEY_PATTERN_AXES]);

/*
 * Each rank sends to its neighbour: the next one on the first axis, the one before, then the same on
 * the other axes. The last rank of an axis is followed by the first.
 */
void key_pattern_grid_stencil(struct key_pattern_build *build,
			      const struct key_pattern_arguments *with);

/* Rank r * columns + c sends to rank c * rows + r. */
void key_pattern_grid_transpose(struct key_pattern_build *build,
				const struct key_pattern_arguments *with);

#endif
