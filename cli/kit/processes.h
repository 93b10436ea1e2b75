/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command as one of several processes that mpirun started and that share a run. If it is built
 * without MPI or started without mpirun, it is the only one.
 */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct processes {
	uint32_t part, parts; /* parts 1: the only one */
};

/*
 * Joins the other processes. All but the first print nothing from then on. False after a message:
 * mpirun started several processes, but this build has no MPI.
 */
bool processes_begin(struct processes *processes);

/* Leaves the other processes. */
void processes_end(struct processes *processes);

/* True if `ready` is true in all processes. All must call it. */
bool processes_ready(const struct processes *processes, bool ready);

/* hd_congestion_request's combine(). */
int processes_combine(void *context, uint64_t *sums, size_t sum_count, uint64_t *minima,
		      size_t minimum_count);

/* Processors for each process on this machine. */
unsigned processes_threads(const struct processes *processes);

#endif
