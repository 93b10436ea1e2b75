/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "measure_world.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
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
