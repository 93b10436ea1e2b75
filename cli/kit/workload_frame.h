/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frame of the commands that send a workload: ebb, compare and survive. */
#ifndef CLI_WORKLOAD_FRAME_H
#define CLI_WORKLOAD_FRAME_H

#include "workload.h"

/* What is a command's own. Its job begins with a struct workload, and `job` is that. */
struct workload_command {
	const struct usage *usage; /* rows from WORKLOAD_ROWS on are its own */
	uint64_t count; /* patterns to draw when nobody says */
	arguments_take_fn *take; /* its own rows */
	/* Runs the job on what was typed: the operands. The exit status. */
	int (*run)(void *job, int count, char **operands);
	void (*release)(void *job); /* of what run() and take() made, but for the workload */
};

/* Begins as one of several processes, parses, runs and ends; the exit status. */
int workload_frame_run(const struct workload_command *command, void *job, int argc, char **argv);

#endif
