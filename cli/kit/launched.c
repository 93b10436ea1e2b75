/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "launched.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first of these variables that is set; the last name is NULL. */
static const char *first_of(const char *const *names)
{
	const char *text = NULL;

	while (!text && *names)
		text = getenv(*names++);
	return text;
}

static unsigned number_of(const char *const *names, unsigned otherwise)
{
	const char *text = first_of(names);
	unsigned long number = text ? strtoul(text, NULL, 10) : otherwise;

	return number <= UINT_MAX ? (unsigned)number : otherwise;
}

/* Linux gives a thread's name 16 bytes; "(slurmstepd)" is in the second field of the file. */
static bool slurmstepd_is_parent(void)
{
	char path[64], name[32] = "";

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)getppid());
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		*name = '\0';
	fclose(file);
	return !strncmp(name, "slurmstepd", strlen("slurmstepd"));
}

/* With --mpi=pmix, pmi2 or none. SLURM_STEP_NUM_TASKS is there only in processes that srun started. */
static struct launched by_slurm(void)
{
	static const char *const tasks[] = {"SLURM_STEP_NUM_TASKS", NULL};
	static const char *const local[] = {"SLURM_LOCALID", NULL};
	static const char *const pmi[] = {"PMIX_RANK", "PMI_RANK", NULL};
	struct launched launched = {.by = NULL, .count = 1};
	unsigned count = number_of(tasks, 1);
	bool strangers = !first_of(pmi);

	if (count <= 1 || (strangers && !slurmstepd_is_parent()))
		return launched;
	launched.by = "srun";
	launched.count = count;
	launched.local = number_of(local, 0);
	launched.strangers = strangers;
	return launched;
}

struct launched launched_read(void)
{
	/* mpirun starts its daemons by srun in a job of Slurm, so its own variables come first. */
	if (!getenv("OMPI_COMM_WORLD_SIZE") && getenv("SLURM_STEP_NUM_TASKS"))
		return by_slurm();
	/* Open MPI's mpirun sets the first names, MPICH's the second; PMIX_RANK alone is of a launcher that tells
	 * the number only through PMIx. */
	static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
	static const char *const local[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", NULL};
	struct launched launched = {.by = NULL, .count = 1};
	unsigned count = number_of(sizes, getenv("PMIX_RANK") ? 0 : 1);
	if (count == 1)
		return launched;
	launched.by = "mpirun";
	launched.count = count;
	launched.local = number_of(local, 0);
	return launched;
}
