/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "processes.h"
#include "message.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef HEDDLE_MPI
#include <mpi.h>
#endif

/* Variables that the mpirun of Open MPI or MPICH sets for its processes. */
static unsigned from_environment(const char *open_mpi, const char *mpich)
{
	const char *text = getenv(open_mpi);

	if (!text)
		text = getenv(mpich);
	unsigned long number = text ? strtoul(text, NULL, 10) : 1;
	return number > 0 && number <= UINT32_MAX ? (unsigned)number : 1;
}

static unsigned started_processes(void)
{
	return from_environment("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
}

unsigned processes_threads(const struct processes *processes)
{
	unsigned here = processes->parts > 1
			    ? from_environment("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
			    : 1;
	unsigned threads = hd_parallel_cores() / here;

	return threads ? threads : 1;
}

#ifdef HEDDLE_MPI

#define WORDS_AT_ONCE ((size_t)1 << 28)

bool processes_begin(struct processes *processes)
{
	int rank, size, provided;

	*processes = (struct processes){.parts = 1};
	if (started_processes() == 1)
		return true;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	*processes = (struct processes){.part = (uint32_t)rank, .parts = (uint32_t)size};
	if (rank && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
		MPI_Abort(MPI_COMM_WORLD, EIO);
	return true;
}

/* When one process ends with a status that is not 0, mpirun ends all others. The first process must
 * have printed its report by then. */
void processes_end(struct processes *processes)
{
	if (processes->parts > 1) {
		fflush(stdout);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Finalize();
	}
	processes->parts = 1;
}

bool processes_ready(const struct processes *processes, bool ready)
{
	int all = ready;

	if (processes->parts > 1)
		MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	return all;
}

static int reduce(uint64_t *words, size_t count, MPI_Op operation)
{
	for (size_t done = 0; done < count;) {
		size_t part = count - done < WORDS_AT_ONCE ? count - done : WORDS_AT_ONCE;
		if (MPI_Allreduce(MPI_IN_PLACE, words + done, (int)part, MPI_UINT64_T, operation,
				  MPI_COMM_WORLD) != MPI_SUCCESS)
			return -EIO;
		done += part;
	}
	return 0;
}

int processes_combine(void *context, uint64_t *sums, size_t sum_count, uint64_t *minima,
		      size_t minimum_count)
{
	(void)context;
	int rc = reduce(sums, sum_count, MPI_SUM);
	return rc ? rc : reduce(minima, minimum_count, MPI_MIN);
}

#else

bool processes_begin(struct processes *processes)
{
	*processes = (struct processes){.parts = 1};
	if (started_processes() == 1)
		return true;
	message_error("mpirun started %u processes, but this heddle is built without MPI (cmake "
		      "-DHEDDLE_MPI=ON)",
		      started_processes());
	return false;
}

void processes_end(struct processes *processes)
{
	(void)processes;
}

bool processes_ready(const struct processes *processes, bool ready)
{
	(void)processes;
	return ready;
}

int processes_combine(void *context, uint64_t *sums, size_t sum_count, uint64_t *minima,
		      size_t minimum_count)
{
	(void)context;
	(void)sums;
	(void)sum_count;
	(void)minima;
	(void)minimum_count;
	return -ENOSYS;
}

#endif
