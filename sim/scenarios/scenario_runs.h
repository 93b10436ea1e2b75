/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What hd_scenario_runs points to. */
#ifndef SIM_SCENARIO_RUNS_H
#define SIM_SCENARIO_RUNS_H

#include "scenario_point.h"
#include "scenario_sweep.h"

struct scenario_expect {
	const char *name, *figure, *source, *note;
	const char **at; /* [at_count] labels that a point must have */
	uint32_t at_count;
	const char **values; /* [value_count] one for all, or one for each point; "-": none */
	uint32_t value_count;
	const char *relative_to; /* a label that replaces one of the point's; "" */
	const char *unit;
	double tolerance, scale;
	enum hd_judge judge;
	enum hd_statistic statistic;
};

struct scenario_runs {
	struct hd_scenario_runs shown; /* the first member */
	struct scenario_sweep sweep;
	struct scenario_point *ready; /* [point_count] */
	uint64_t *seeds;
	struct scenario_expect *expects; /* [expect_count] */
	uint32_t expect_count;
	struct hd_arena arena;
};

static inline const struct scenario_runs *scenario_runs_of(const struct hd_scenario_runs *runs)
{
	return (const struct scenario_runs *)(const void *)runs;
}

extern const struct hd_option scenario_expect_keys[];
extern const unsigned scenario_expect_key_count;

/* Reads all sections [expect NAME]. */
int scenario_expect_read(const struct hd_scenario *scenario, struct scenario_runs *runs,
			 struct hd_error *err);

#endif
