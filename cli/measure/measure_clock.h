/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One clock for all ranks, so that they can start at the same time. A rank learns how far its own
 * clock is from that of the first rank by messages back and forth with a rank that knows it
 * already, along a binomial tree. Of several tries the fastest counts: there the error is half of
 * the time that the messages took, or less.
 */
#ifndef CLI_MEASURE_CLOCK_H
#define CLI_MEASURE_CLOCK_H

#include "measure_world.h"

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
