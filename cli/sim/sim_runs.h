/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The runs of a scenario: over threads and processes, with progress, kept in a file, ended by
 * SIGINT. */
#ifndef CLI_SIM_RUNS_H
#define CLI_SIM_RUNS_H

#include "processes.h"

#include <heddle/sim/scenario.h>

struct sim_runs {
	const struct hd_scenario_runs *runs;
	const char *title; /* for progress */
	const char *state; /* a file that keeps finished runs; NULL: none */
	const struct processes *processes;
	unsigned threads;
	/* After sim_runs_do(): */
	struct hd_record **records; /* [runs->count] NULL: the run has not begun */
	uint32_t finished, kept; /* runs that are complete; of these, read from the file */
	bool interrupted;
};

/*
 * Does all runs that the file does not have. Another process may fail: then all do. Errors: those of
 * hd_scenario_run() and of the file; -ESTALE the file is of other runs.
 */
int sim_runs_do(struct sim_runs *job, struct hd_error *err);
void sim_runs_release(struct sim_runs *job);

/* From now on, SIGINT and SIGTERM end the runs, and a second one the process. */
void sim_runs_catch_signals(void);

/* Whether such a signal has come. */
bool sim_runs_interrupted(void);

#endif
