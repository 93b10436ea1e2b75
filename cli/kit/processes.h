/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command as one of several processes that mpirun or srun started and that share a run. MPI is
 * in the module heddle-mpi.so, which is loaded only then; see mpi_module.h.
 */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct processes {
	uint32_t part, parts; /* parts 1: the only one */
	unsigned threads; /* processors of this host for each of its processes */
};

/*
 * Joins the other processes. All but the first print nothing from then on. If one of them is lost
 * later, all others end with STATUS_BAD, after a message of one. False after a message: several
 * were started, but they cannot find each other.
 */
bool processes_begin(struct processes *processes);

/* Leaves the other processes, when the first has printed all. */
void processes_end(struct processes *processes);

/* True if `ready` is true in all processes. All must call it. */
bool processes_ready(const struct processes *processes, bool ready);

/*
 * Tells all processes whether a step failed in any of them. All must call it, with the result of the
 * step and, if that is not 0, its reason. Returns rc of this process; if that is 0 and others failed,
 * -ECANCELED with the reason of the first of these.
 */
int processes_agree(const struct processes *processes, int rc, struct hd_error *err);

/*
 * Deals out numbers 0, 1, 2 ... of which each goes to one process: processes_deal() begins with 0.
 * All must call it. Several threads may call processes_next().
 */
void processes_deal(const struct processes *processes);
uint64_t processes_next(const struct processes *processes);

/* hd_congestion_request's combine(). */
int processes_combine(void *context, uint64_t *sums, size_t sum_count, uint64_t *minima,
		      size_t minimum_count);

/* What the message about a lost process says of finished work: the file that keeps it. The text must
 * stay. */
void processes_keep(const char *path);

#endif
