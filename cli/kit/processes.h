/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command as one of several processes that mpirun started and that share a run. Built
 * without MPI, or started without mpirun, it is alone.
 */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_processes {
	uint32_t part, parts; /* parts 1: alone */
};

/*
 * Joins the others where there are any; all but the first fall silent. False after a message:
 * mpirun started several, but there is no MPI in this build.
 */
bool cli_processes_begin(struct cli_processes *processes);

/* Leaves; to be called by whoever began. */
void cli_processes_end(struct cli_processes *processes);

/* True when `ready` is true in all of them: before a run, which needs them all. */
bool cli_processes_ready(const struct cli_processes *processes, bool ready);

/* hd_congestion_request's combine(). */
int cli_processes_combine(void *context, uint64_t *sums, size_t sum_count, uint64_t *minima,
			  size_t minimum_count);

/* Processors for each of those on this machine. */
unsigned cli_processes_threads(const struct cli_processes *processes);

#endif
