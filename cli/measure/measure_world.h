/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ranks that MPI started, of which the first one talks to the user. */
#ifndef CLI_MEASURE_WORLD_H
#define CLI_MEASURE_WORLD_H

#include <stdbool.h>

/* ---- ranks ---- */

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

/* ---- one clock ---- */

/*
 * One clock for all ranks, so that they can start at the same time. A rank learns how far its own
 * clock is from that of the first rank by messages back and forth with a rank that knows it
 * already, along a binomial tree. Of several tries the fastest counts: there the error is half of
 * the time that the messages took, or less.
 */

struct measure_clock {
	double offset; /* seconds from MPI_Wtime() of this rank to that of the first one */
	double error; /* seconds by which the clock of any rank is wrong, at most */
	double lead; /* seconds that a message to all ranks takes at most, and some more */
};

/* Sets the clock. All ranks must call it. Cost: O(log ranks) rounds of messages. */
void measure_clock_set(struct measure_clock *clock, const struct measure_world *world);

/* The time on the clock of the first rank, in seconds. */
double measure_clock_now(const struct measure_clock *clock);

/*
 * Returns in all ranks at one time, which *start is on the clock. False in a rank that learnt of it
 * too late. All ranks must call it.
 */
bool measure_clock_start(const struct measure_clock *clock, const struct measure_world *world,
			 double *start);

#endif
