/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What hd_scenario_runs points to. */
#ifndef SIM_SCENARIO_RUNS_H
#define SIM_SCENARIO_RUNS_H

#include "scenario_point.h"
#include "scenario_sweep.h"

#include <string.h>

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
	bool counters; /* records have what each port has sent */
	struct scenario_expect *expects; /* [expect_count] */
	uint32_t expect_count;
	struct hd_arena arena;
};

static inline const struct scenario_runs *scenario_runs_of(const struct hd_scenario_runs *runs)
{
	return (const struct scenario_runs *)(const void *)runs;
}

/* Of [scenario] and [expect]. */
extern const struct hd_option scenario_title_keys[];
extern const unsigned scenario_title_key_count;
extern const struct hd_option scenario_expect_keys[];
extern const unsigned scenario_expect_key_count;

static inline bool scenario_runs_has_label(const struct hd_scenario_point *point, const char *label)
{
	for (uint32_t i = 0; i < point->label_count; i++)
		if (!strcmp(point->labels[i], label))
			return true;
	return false;
}

/* Whether the expectation is about that point. */
static inline bool scenario_runs_match(const struct scenario_expect *expect,
				       const struct hd_scenario_point *point)
{
	for (uint32_t i = 0; i < expect->at_count; i++)
		if (!scenario_runs_has_label(point, expect->at[i]))
			return false;
	return true;
}

#endif
