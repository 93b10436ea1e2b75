/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "measure_world.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

void measure_world_begin(struct measure_world *world)
{
	int provided, nowhere;

	*world = (struct measure_world){.own_stderr = -1};
	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &world->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &world->size);
	if (!world->rank)
		return;
	world->own_stderr = dup(STDERR_FILENO);
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nowhere < 0 || dup2(nowhere, STDERR_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
		MPI_Abort(MPI_COMM_WORLD, EIO);
	close(nowhere);
}

void measure_world_speak(struct measure_world *world)
{
	if (world->own_stderr < 0)
		return;
	fflush(stderr);
	dup2(world->own_stderr, STDERR_FILENO);
	close(world->own_stderr);
	world->own_stderr = -1;
}

void measure_world_share(void *bytes, int count)
{
	MPI_Bcast(bytes, count, MPI_BYTE, 0, MPI_COMM_WORLD);
}

int measure_world_agree(int status)
{
	MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return status;
}

void measure_world_names(const struct measure_world *world, char *names)
{
	char name[MPI_MAX_PROCESSOR_NAME + MEASURE_NAME_SIZE] = "";
	int length;

	MPI_Get_processor_name(name, &length);
	name[MEASURE_NAME_SIZE - 1] = '\0';
	MPI_Gather(name, MEASURE_NAME_SIZE, MPI_CHAR, world->rank ? NULL : names, MEASURE_NAME_SIZE,
		   MPI_CHAR, 0, MPI_COMM_WORLD);
}

void measure_world_end(struct measure_world *world)
{
	measure_world_speak(world);
	fflush(stdout);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
}

#define TRIES 32
#define TAG 1
#define LEAD_LEAST 50e-6
#define LEAD_MOST 0.1

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

void measure_clock_set(struct measure_clock *clock, const struct measure_world *world)
{
	clock->offset = clock->error = 0;
	for (int known = 1; known < world->size; known *= 2) {
		if (world->rank < known && world->rank + known < world->size) {
			/* Answers a rank that asks for the time. */
			int rank = world->rank + known;
			for (int i = 0; i < TRIES; i++) {
				char question;
				MPI_Recv(&question, 1, MPI_CHAR, rank, TAG, MPI_COMM_WORLD,
					 MPI_STATUS_IGNORE);
				double answer[2] = {measure_clock_now(clock), clock->error};
				MPI_Send(answer, 2, MPI_DOUBLE, rank, TAG, MPI_COMM_WORLD);
			}
		} else if (world->rank >= known && world->rank < 2 * known)
			ask(clock, world->rank - known);
	}
	MPI_Allreduce(MPI_IN_PLACE, &clock->error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	/* How long it takes until all ranks know something. */
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
	clock->lead = (most > LEAD_MOST ? LEAD_MOST : most);
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
