/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stencils: ranks on a grid of one to three dimensions, each sends to all its neighbours. */
#include "pattern_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

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

/* Flows of rank `rank` along one dimension. `place` is its coordinate, `step` the distance to the
 * next rank. */
static void along(uint32_t rank, uint32_t place, uint32_t side, uint32_t step, bool periodic,
		  struct hd_flow *flows, uint32_t *count)
{
	if (place + 1 < side)
		pattern_add(flows, count, rank, rank + step);
	else if (periodic && side > 2)
		pattern_add(flows, count, rank, rank - (side - 1) * step);
	if (place > 0)
		pattern_add(flows, count, rank, rank - step);
	else if (periodic && side > 2)
		pattern_add(flows, count, rank, rank + (side - 1) * step);
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
		for (unsigned i = 0; i < DIMENSIONS_MAX; step *= sides[i++])
			along(rank, rank / step % sides[i], sides[i], step,
			      pattern->number[PERIODIC], flows, &count);
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
