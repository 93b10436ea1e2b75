/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "processes.h"
#include "catalogue.h"
#include "launched.h"
#include "message.h"
#include "mpi_module.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <heddle/base/parallel.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE_FILE "mpi/heddle-mpi.so"
#define ALONE "; or let each process work alone by HEDDLE_MPI=off in its environment"

/* A process has one world, as in MPI. It outlives struct processes: a thread watches the others. */
static const struct mpi_module *module;
static struct mpi_module_world world = {.parts = 1};
static const char *volatile kept; /* a file, for a message */
static int own_stderr = -1; /* of a process that is silent */

/* The first process has a message. If it is the one that was lost, all others have: mpirun ends them at
 * the first bad status, so one of them alone could have no time for it. */
static void tell_of_lost(uint32_t part, const char *host)
{
	if (part == 0 && own_stderr >= 0)
		dup2(own_stderr, STDERR_FILENO);
	if (part == 0 || world.part == 0)
		message_error(
		    "process %" PRIu32 " of %" PRIu32 " on %s was lost, so the others end%s%s%s",
		    part, world.parts, host, kept ? "; finished work is kept in " : "",
		    kept ? kept : "", kept ? ": the same command goes on from there" : "");
	fflush(stderr);
}

void processes_keep(const char *path)
{
	kept = path;
}

/* One process of each host has a message and the status: a module may be missing on one of them. The
 * others end well, because mpirun ends all at the first bad status, also one with a message to print. */
static void leave_to_first(const struct launched *launched)
{
	if (launched->local != 0)
		_exit(STATUS_CLEAN);
}

static bool refuse(const struct launched *launched, const char *path, const char *reason)
{
	leave_to_first(launched);
	message_error("%s started %u processes of heddle, which share their work by MPI, but %s: "
		      "%s. Install the package heddle-mpi on each host" ALONE,
		      launched->by, launched->count, path, reason);
	return false;
}

static bool load(const struct launched *launched)
{
	const char *path = getenv("HEDDLE_MPI_MODULE");
	char shipped[PATH_MAX + sizeof(MODULE_FILE)];

	if (!path) {
		catalogue_module_path(MODULE_FILE, shipped, sizeof(shipped));
		path = shipped;
	}
	if (access(path, F_OK))
		return refuse(launched, path, strerror(errno));
	/* Open MPI loads modules of its own, which look for its symbols. */
	void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!handle)
		return refuse(launched, "it cannot be loaded", dlerror());
	module = dlsym(handle, MPI_MODULE_SYMBOL);
	if (!module)
		return refuse(launched, path, "it has no " MPI_MODULE_SYMBOL);
	if (strcmp(module->version, HEDDLE_VERSION) != 0)
		return refuse(launched, path,
			      "it is of another version than heddle " HEDDLE_VERSION);
	return true;
}

static bool join(const struct launched *launched)
{
	struct hd_error err = {""};

	if (module->begin(&world, tell_of_lost, STATUS_BAD, &err)) {
		leave_to_first(launched);
		message_fail(&err);
		return false;
	}
	if (launched->count == 0 || launched->count == world.parts)
		return true;
	module->end();
	leave_to_first(launched);
	message_error("%s started %u processes of heddle, but its MPI library found %" PRIu32
		      ": it does not understand this launcher; use srun --mpi=pmix, or the "
		      "mpirun of the same MPI" ALONE,
		      launched->by, launched->count, world.parts);
	return false;
}

/* What a process says after all others are lost still goes to the first standard error. */
static bool be_silent(void)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	return nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 &&
	       dup2(nowhere, STDERR_FILENO) >= 0;
}

bool processes_begin(struct processes *processes)
{
	const char *wanted = getenv("HEDDLE_MPI");
	const bool off = wanted && !strcmp(wanted, "off");
	const struct launched launched = launched_read();

	*processes = (struct processes){.parts = 1, .threads = hd_parallel_cores()};
	if (wanted && !off) {
		leave_to_first(&launched);
		message_error("HEDDLE_MPI in the environment is '%s', but it can only be off",
			      wanted);
		return false;
	}
	if (off || launched.count == 1)
		return true;
	if (launched.strangers) {
		/* Processes without PMI do not know of each other, and each would do all of the work. */
		leave_to_first(&launched);
		message_error(
		    "srun started %u processes of heddle without PMIx, so they cannot share their "
		    "work: use srun --mpi=pmix" ALONE,
		    launched.count);
		return false;
	}
	if (!load(&launched) || !join(&launched))
		return false;
	*processes =
	    (struct processes){.part = world.part, .parts = world.parts, .threads = world.threads};
	if (world.part && !be_silent()) {
		message_error("process %" PRIu32 " cannot open /dev/null", world.part);
		_exit(STATUS_BAD); /* the others notice */
	}
	return true;
}

void processes_end(struct processes *processes)
{
	if (module) {
		fflush(stdout);
		module->end();
	}
	module = NULL;
	processes->parts = 1;
}

bool processes_ready(const struct processes *processes, bool ready)
{
	uint64_t failed = !ready;

	return processes->parts > 1 ? !module->add_up(&failed, 1) && !failed : ready;
}

#define ERROR_WORDS (sizeof(struct hd_error) / sizeof(uint64_t))

int processes_agree(const struct processes *processes, int rc, struct hd_error *err)
{
	uint64_t words[ERROR_WORDS] = {0}, first = rc ? processes->part : UINT64_MAX;
	struct hd_error reason;

	if (processes->parts <= 1)
		return rc;
	if (module->least(&first, 1))
		return rc ? rc
			  : hd_error_set(err, -EIO, "the processes cannot exchange their status");
	if (first == UINT64_MAX)
		return 0;
	if (first == processes->part)
		memcpy(words, err, sizeof(words));
	int exchanged = module->add_up(words, ERROR_WORDS);
	if (rc)
		return rc;
	memcpy(&reason, words, sizeof(words));
	return hd_error_set(err, -ECANCELED, "process %" PRIu64 " of %" PRIu32 ": %s", first,
			    processes->parts, exchanged ? "failed" : reason.text);
}

static atomic_uint_least64_t next_alone;

/* Nobody may have a number before all have begun. */
void processes_deal(const struct processes *processes)
{
	next_alone = 0;
	if (processes->parts > 1)
		module->deal();
	processes_ready(processes, true);
}

uint64_t processes_next(const struct processes *processes)
{
	return processes->parts > 1 ? module->next() : atomic_fetch_add(&next_alone, 1);
}

int processes_combine(void *context, uint64_t *sums, size_t sum_count, uint64_t *minima,
		      size_t minimum_count)
{
	(void)context;
	if (!module)
		return -ENOSYS;
	int rc = module->add_up(sums, sum_count);
	return rc ? rc : module->least(minima, minimum_count);
}
