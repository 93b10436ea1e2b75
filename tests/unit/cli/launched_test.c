/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who started a process, and how many of it, is read from the variables of launchers. */
#include "launched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const known[] = {
    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_SIZE",  "PMI_RANK",
    "MPI_LOCALRANKID",	    "SLURM_STEP_NUM_TASKS",	  "PMIX_RANK", "SLURM_LOCALID"};

/* "NAME=VALUE NAME=VALUE" are all variables of launchers that are set. */
static struct launched with(const char *variables)
{
	char text[200], *save = NULL;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		unsetenv(known[i]);
	strcpy(text, variables);
	for (char *at = strtok_r(text, " ", &save); at; at = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(at, '=');
		*equals = '\0';
		setenv(at, equals + 1, 1);
	}
	return launched_read();
}

static void check(const char *variables, const char *by, unsigned count, unsigned local)
{
	struct launched launched = with(variables);

	assert_int_equal(launched.count, count);
	assert_int_equal(launched.local, local);
	assert_false(launched.strangers);
	if (by)
		assert_string_equal(launched.by, by);
	else
		assert_null(launched.by);
}

static void launchers_are_known(void **state)
{
	(void)state;
	check("OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=3 PMIX_RANK=3", "mpirun", 4, 3);
	check("PMI_SIZE=2 PMI_RANK=1 MPI_LOCALRANKID=1", "mpirun", 2, 1);
	check("SLURM_STEP_NUM_TASKS=8 SLURM_LOCALID=2 PMIX_RANK=6", "srun", 8, 2);
	check("SLURM_STEP_NUM_TASKS=8 SLURM_LOCALID=2 PMI_RANK=6 PMI_SIZE=8", "srun", 8, 2);
	/* only MPI knows how many */
	check("PMIX_RANK=1", "mpirun", 0, 0);
	/* mpirun in a job of Slurm, whose daemon srun started */
	check("OMPI_COMM_WORLD_SIZE=4 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=1", "mpirun", 4, 0);
}

static void alone_is_alone(void **state)
{
	(void)state;
	check("", NULL, 1, 0);
	check("OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0", NULL, 1, 0);
	check("SLURM_STEP_NUM_TASKS=1 PMIX_RANK=0", NULL, 1, 0);
	/* a script of srun started it, since slurmstepd is not its parent */
	check("SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID=1", NULL, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(launchers_are_known),
					   cmocka_unit_test(alone_is_alone)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
