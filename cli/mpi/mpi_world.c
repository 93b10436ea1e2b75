/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "mpi_module.h"
#include "mpi_watch.h"

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Some libraries of MPI count in 32 bits. */
#define WORDS_AT_ONCE ((size_t)1 << 28)

#define NAP_SHORTEST 10000 /* ns */
#define NAP_LONGEST 1000000

/* A launcher may have given each process processors of its own, or all the same. */
static unsigned processors_for_each(void)
{
	cpu_set_t set;
	MPI_Comm here;
	int processes = 1;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
	MPI_Comm_size(here, &processes);
	MPI_Allreduce(MPI_IN_PLACE, &set, sizeof(set), MPI_BYTE, MPI_BOR, here);
	MPI_Comm_free(&here);
	unsigned each = (unsigned)CPU_COUNT(&set) / (unsigned)processes;
	return each ? each : 1;
}

/* Open MPI knows srun's processes only by PMIx. It would say so itself, in thirty lines of each process. */
static bool is_left_alone(void)
{
#ifdef OPEN_MPI
	return getenv("SLURM_STEP_NUM_TASKS") && getenv("PMI_RANK") && !getenv("PMIX_RANK");
#else
	return false;
#endif
}

/* Without a connection to each process, numbers are dealt out in turn before anybody asks. */
static struct {
	bool all_connected;
	uint64_t part, parts;
	atomic_uint_least64_t own; /* numbers that this process has had */
} dealt;

static void deal(void)
{
	dealt.own = 0;
	mpi_watch_deal();
}

static uint64_t next(void)
{
	return dealt.all_connected ? mpi_watch_next()
				   : atomic_fetch_add(&dealt.own, 1) * dealt.parts + dealt.part;
}

/* A process that is lost before it is watched would keep the others in MPI_Init(), too. */

#define START_SECONDS 300 /* Slurm's own patience with PMIx */

static atomic_bool joined;

static struct {
	void (*lost)(uint32_t part, const char *host);
	int bad;
} at_start;

static void *wait_for_start(void *nothing)
{
	for (unsigned left = START_SECONDS; left;)
		left = sleep(left);
	if (!joined) {
		at_start.lost(0, NULL);
		_exit(at_start.bad);
	}
	return nothing;
}

static int begin(struct mpi_module_world *world, void (*lost)(uint32_t part, const char *host),
		 int bad, struct hd_error *err)
{
	int rank, size, provided;

	if (is_left_alone())
		return hd_error_set(err, -ENOTSUP,
				    "Open MPI needs PMIx to join the processes of srun: use srun "
				    "--mpi=pmix");
	pthread_t thread;
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	at_start.lost = lost;
	at_start.bad = bad;
	if (!pthread_create(&thread, NULL, wait_for_start, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
		return hd_error_set(err, -EIO, "MPI cannot begin");
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	*world = (struct mpi_module_world){
	    .part = (uint32_t)rank, .parts = (uint32_t)size, .threads = processors_for_each()};
	dealt.all_connected = size > 1 && mpi_watch_begin(rank, size, lost, bad);
	dealt.part = (uint64_t)rank;
	dealt.parts = (uint64_t)size;
	joined = true;
	return 0;
}

/* MPI waits by looking all the time, which takes a processor from threads and processes that work. */
static int wait_for(MPI_Request *request)
{
	struct timespec nap = {.tv_nsec = NAP_SHORTEST};
	int rc, done = 0;

	while ((rc = MPI_Test(request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done) {
		nanosleep(&nap, NULL);
		nap.tv_nsec = 2 * nap.tv_nsec < NAP_LONGEST ? 2 * nap.tv_nsec : NAP_LONGEST;
	}
	return rc;
}

/* When one process ends with a status that is not 0, mpirun ends all others. So nobody ends before
 * the first process has printed its report. */
static void end(void)
{
	MPI_Request request;

	if (MPI_Ibarrier(MPI_COMM_WORLD, &request) == MPI_SUCCESS)
		wait_for(&request);
	mpi_watch_end();
	MPI_Finalize();
}

static int reduce(uint64_t *words, size_t count, MPI_Op operation)
{
	MPI_Request request;

	for (size_t done = 0; done < count;) {
		size_t part = count - done < WORDS_AT_ONCE ? count - done : WORDS_AT_ONCE;
		if (MPI_Iallreduce(MPI_IN_PLACE, words + done, (int)part, MPI_UINT64_T, operation,
				   MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
		    wait_for(&request) != MPI_SUCCESS)
			return -EIO;
		done += part;
	}
	return 0;
}

static int add_up(uint64_t *words, size_t count)
{
	return reduce(words, count, MPI_SUM);
}

static int least(uint64_t *words, size_t count)
{
	return reduce(words, count, MPI_MIN);
}

extern const struct mpi_module hd_mpi_module __attribute__((visibility("default")));
const struct mpi_module hd_mpi_module = {.version = HEDDLE_VERSION,
					 .begin = begin,
					 .end = end,
					 .add_up = add_up,
					 .least = least,
					 .deal = deal,
					 .next = next};
