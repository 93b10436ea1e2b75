/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sweeps. [sweep NAME] has lines TARGET = VALUE | VALUE | ..., all of the same length: step i takes
 * value i of each line. Several sweeps are multiplied, the last one fastest. The key `labels` names
 * the steps; without it they have the values of the first line.
 */
#ifndef SIM_SCENARIO_SWEEP_H
#define SIM_SCENARIO_SWEEP_H

#include "scenario_text.h"

struct scenario_sweep {
	uint32_t point_count, sweep_count;
	const char **names; /* [sweep_count] */
	struct hd_scenario_point *points; /* [point_count] */
	struct hd_scenario **scenarios; /* [point_count] with the values of the point in place */
};

/* Errors: -EINVAL lines of different lengths, an unknown target; -ERANGE more than
 * HD_SCENARIO_RUNS_MAX points; -ENOMEM. Labels and names belong to `arena`. */
int scenario_sweep_expand(const struct hd_scenario *scenario, struct hd_arena *arena,
			  struct scenario_sweep *out, struct hd_error *err);
void scenario_sweep_release(struct scenario_sweep *sweep);

/* Whether all lines of all sweeps have as many values as they should, and targets that a sweep can
 * change. Errors: -EINVAL, -ENOMEM. */
int scenario_sweep_check(const struct hd_scenario *scenario, struct hd_error *err);

/* Refuses SECTION.KEY of which all points have the same value. Errors: -EINVAL. */
int scenario_sweep_check_target(const char *target, struct hd_error *err);

/* The pieces of "a | b | c", without blanks around them; they belong to `arena`. NULL: no memory. */
const char **scenario_sweep_split(const char *text, struct hd_arena *arena, uint32_t *count);

#endif
