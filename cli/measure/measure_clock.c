/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "measure_clock.h"

#include <mpi.h>
#include <sched.h>

#define TRIES 32
#define TAG 1
#define LEAD_LEAST 50e-6
#define LEAD_MOST 0.1

/* Answers a rank that asks for the time. */
static void tell(const struct measure_clock *clock, int rank)
{
	for (int i = 0; i < TRIES; i++) {
		char question;
		MPI_Recv(&question, 1, MPI_CHAR, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		double answer[2] = {measure_clock_now(clock), clock->error};
		MPI_Send(answer, 2, MPI_DOUBLE, rank, TAG, MPI_COMM_WORLD);
	}
}

static void ask(struct measure_clock *clock, int rank)
{
	double fastest = 0;

	for (int i = 0; i < TRIES; i++) {
		char question = 0;
		double theirs[2], begin = MPI_Wtime();
		MPI_Send(&question, 1, MPI_CHAR, rank, TAG, MPI_COMM_WORLD);
		MPI_Recv(theirs, 2, MPI_DOUBLE, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		double took = MPI_Wtime() - begin;
		if (i && took >= fastest)
			continue;
		fastest = took;
		clock->offset = theirs[0] - (begin + took / 2);
		clock->error = theirs[1] + took / 2;
	}
}

/* How long it takes until all ranks know something. */
static double measure_lead(void)
{
	double most = 0;

	for (int i = 0; i < TRIES; i++) {
		double nothing = 0, begin = MPI_Wtime();
		MPI_Bcast(&nothing, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		double took = MPI_Wtime() - begin;
		most = i && took > most ? took : most;
	}
	MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	most = most < LEAD_LEAST ? LEAD_LEAST : most;
	return most > LEAD_MOST ? LEAD_MOST : most;
}

void measure_clock_set(struct measure_clock *clock, const struct measure_world *world)
{
	clock->offset = clock->error = 0;
	for (int known = 1; known < world->size; known *= 2) {
		if (world->rank < known && world->rank + known < world->size)
			tell(clock, world->rank + known);
		else if (world->rank >= known && world->rank < 2 * known)
			ask(clock, world->rank - known);
	}
	MPI_Allreduce(MPI_IN_PLACE, &clock->error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	clock->lead = measure_lead();
}

double measure_clock_now(const struct measure_clock *clock)
{
	return MPI_Wtime() + clock->offset;
}

bool measure_clock_start(const struct measure_clock *clock, const struct measure_world *world,
			 double *start)
{
	double at = world->rank ? 0 : measure_clock_now(clock) + clock->lead;

	MPI_Bcast(&at, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	bool early = measure_clock_now(clock) < at;
	while (measure_clock_now(clock) < at)
		sched_yield();
	*start = at;
	return early;
}
