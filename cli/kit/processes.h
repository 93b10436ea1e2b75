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

struct processes {
	uint32_t part, parts; /* parts 1: alone */
};

/*
 * Joins the others where there are any; all but the first fall silent. False after a message:
 * mpirun started several, but there is no MPI in this build.
 */
bool processes_begin(struct processes *processes);

/* Leaves; to be called by whoever began. */
void processes_end(struct processes *processes);

/* True when `ready` is true in all of them: before a run, which needs them all. */
bool processes_ready(const struct processes *processes, bool ready);

/* hd_congestion_request's combine(). */
int processes_combine(void *context, uint64_t *sums, size_t sum_count, uint64_t *minima,
		      size_t minimum_count);

/* Processors for each of those on this machine. */
unsigned processes_threads(const struct processes *processes);

#endif
