/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frame of the commands that send a workload: ebb, compare and survive. */
#ifndef CLI_WORKLOAD_FRAME_H
#define CLI_WORKLOAD_FRAME_H

#include "workload.h"

/* What differs between the commands. A command's job begins with a struct workload, to which `job`
 * points. */
struct workload_command {
	const struct usage *usage;
	uint64_t count; /* patterns to draw by default */
	arguments_run_fn *run;
	void (*release)(void *job); /* releases everything but the workload */
};

/* Begins as one of several processes, reads the command line, runs and ends. The exit status. */
int workload_frame_run(const struct workload_command *command, void *job, int argc, char **argv);

#endif
