/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notices when a process is lost. MPI does not: the others would wait in MPI_Allreduce() for ever,
 * unless mpirun ends them, and srun without --kill-on-bad-exit does not. Each process has a TCP
 * connection to the first one, which the kernel closes with the process. If a host is lost,
 * keepalive notices it after about MPI_WATCH_SILENCE seconds.
 */
#ifndef CLI_MPI_WATCH_H
#define CLI_MPI_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define MPI_WATCH_SILENCE 60

/* Connects all processes of MPI_COMM_WORLD, and starts a thread that watches. One that cannot be
 * connected is not watched. All processes must call it. `lost`, `bad`: see struct mpi_module. True
 * in all processes if all are connected: then mpi_watch_next() works. */
bool mpi_watch_begin(int rank, int size, void (*lost)(uint32_t part, const char *host), int bad);

/* The first process deals out numbers 0, 1, 2 ... to all from now on. The others need not call it. */
void mpi_watch_deal(void);

/* The next number, for this process alone. Several threads may call it. */
uint64_t mpi_watch_next(void);

/* The processes may end from now on. Call it when no process waits for another one any more. */
void mpi_watch_end(void);

#endif
