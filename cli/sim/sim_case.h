/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One scenario from file to figures, for both commands. */
#ifndef CLI_SIM_CASE_H
#define CLI_SIM_CASE_H

#include "sim_view.h"

struct sim_words {
	const char **items;
	uint32_t count;
};

/* What both commands can be told. */
struct sim_options {
	struct sim_words assignments; /* -O */
	uint64_t seed;
	bool seed_given, quick, verbose;
	unsigned threads;
	const char *state;
	struct processes *processes;
};

struct sim_case {
	const char *name; /* for reports */
	struct hd_scenario *scenario;
	struct hd_scenario_runs *runs;
	struct sim_runs job;
	struct sim_view view;
};

/* Reads the file, with its section [quick] if the options say so. */
int sim_case_read(struct sim_case *one, const struct sim_options *options, const char *path,
		  struct hd_error *err);

/* Puts -O over it. */
int sim_case_assign(struct sim_case *one, const struct sim_options *options, struct hd_error *err);

/* Checks all of it, runs, and makes the view. All processes must call it. */
int sim_case_run(struct sim_case *one, const struct sim_options *options, struct hd_error *err);
void sim_case_release(struct sim_case *one);

#endif
