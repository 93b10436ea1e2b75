/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ranks that MPI started, of which the first one talks to the user. */
#ifndef CLI_MEASURE_WORLD_H
#define CLI_MEASURE_WORLD_H

#include <stdbool.h>

#define MEASURE_NAME_SIZE 256 /* of a host */

struct measure_world {
	int rank, size;
	int own_stderr; /* of a rank that is silent; -1: none */
};

/* Begins MPI. All ranks but the first are silent from now on. */
void measure_world_begin(struct measure_world *world);

/* Gives the other ranks their standard error back, for what the MPI library says. Call it once the
 * command line is read: all ranks would complain about that. */
void measure_world_speak(struct measure_world *world);

/* Gives all ranks what the first one has. All must call it. */
void measure_world_share(void *bytes, int count);

/* The largest status of all ranks. All must call it. */
int measure_world_agree(int status);

/* The name of each rank's host, for the first rank: names[size * MEASURE_NAME_SIZE], one after the
 * other. `names` may be NULL for the others. All must call it. */
void measure_world_names(const struct measure_world *world, char *names);

/* Waits for all ranks, and ends MPI. When one rank ends with a status that is not 0, mpirun ends
 * all others, so the first must have printed its report by then. */
void measure_world_end(struct measure_world *world);

#endif
