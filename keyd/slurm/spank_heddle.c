/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle_spank.so, a plugin for Slurm: jobs that are submitted with --routing-pattern get routing
 * keys from heddle-keyd.
 *
 *   srun, sbatch, salloc	check the pattern; put it into the job's control environment, where the
 *			prolog of slurmctld finds it (`heddle key place --slurm-prolog`)
 *   srun		before the tasks start: the node of each rank, the first request; at the end: done
 *   slurmstepd		asks for the key and sets the environment of the tasks
 *
 * No failure of heddle-keyd stops a job.
 */
#include "spank_pattern.h"
#include "spank_step.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

SPANK_PLUGIN(heddle_spank, 1)

#define CONTROL_NAME "HEDDLE_ROUTING_PATTERN"
#define USELESS_NAME "HEDDLE_NO_KEY" /* from srun to slurmstepd: keyd need not be asked */
#define JOB_NAME "SLURM_SPANK_" CONTROL_NAME /* Slurm's own, in a batch script and below salloc */

/* Slurm calls the callbacks of one process one after the other. */
static struct spank_settings settings;
static char pattern[SPANK_PATTERN_LONGEST + 1]; /* "": the option is not given */
static struct spank_step running; /* in srun */
static pid_t runner; /* the process that has begun it; 0: none */

/* In an allocation srun gets the option of sbatch or salloc again, from the environment. Its file may
 * be gone by now, and keyd has made the keys of the job's pattern already. */
static int keep_pattern(const char *text, const char *placed)
{
	if (strncmp(text, "file:", strlen("file:")) && strcmp(text, placed))
		slurm_spank_log(
		    "heddle: the steps of this job have its pattern '%s'; a step cannot "
		    "have another one",
		    placed);
	snprintf(pattern, sizeof(pattern), "%s", placed);
	return 0;
}

static int take_pattern(int value, const char *text, int remote)
{
	const char *placed = getenv("SLURM_JOB_ID") ? getenv(JOB_NAME) : NULL;
	char reason[512];

	(void)value;
	if (remote) { /* checked by srun; here it only says that the step wants a key */
		snprintf(pattern, sizeof(pattern), "%s", text);
		return 0;
	}
	if (placed && *placed)
		return keep_pattern(text, placed);
	if (!spank_pattern_check(text, pattern, reason, sizeof(reason)))
		return 0;
	slurm_error("--routing-pattern: %s", reason);
	return -1;
}

static struct spank_option option = {
    .name = "routing-pattern",
    .arginfo = "NAME[:ARGUMENTS]|file:PATH",
    .usage = "reserve InfiniBand routes for this traffic pattern ('heddle key make --patterns' "
	     "lists the patterns)",
    .has_arg = 1,
    .cb = take_pattern,
};

int slurm_spank_init(spank_t spank, int count, char **arguments)
{
	const char *wrong = spank_settings_read(count, arguments, &settings);
	spank_context_t context = spank_context();

	if (wrong)
		slurm_error("heddle_spank.so in plugstack.conf: '%s' is not one of keyd=ADDRESS, "
			    "timeout=1..60000 (milliseconds) and munge=SOCKET; it is ignored",
			    wrong);
	if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR || context == S_CTX_REMOTE)
		spank_option_register(spank, &option);
	return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments)
{
	(void)count, (void)arguments;
	if (*pattern && !spank_remote(spank) &&
	    spank_job_control_setenv(spank, CONTROL_NAME, pattern, 1) != ESPANK_SUCCESS)
		slurm_error("heddle: cannot pass --routing-pattern to the prolog; the job runs "
			    "without a routing key");
	return 0;
}

/* In srun: the step exists, and its tasks do not run yet. */
int slurm_spank_local_user_init(spank_t spank, int count, char **arguments)
{
	(void)count, (void)arguments;
	if (!*pattern)
		return 0;
	if (!spank_step_get(spank, &running) || !running.has_ranks)
		return 0;
	unsetenv(USELESS_NAME);
	if (spank_step_begin(&settings, &running))
		runner = getpid();
	else
		setenv(USELESS_NAME, "1", 1); /* srun exports its environment to the tasks */
	return 0;
}

/* A step gets the option from srun, whatever it exports. A batch script has the job's environment. */
static bool wants_key(spank_t spank)
{
	char first[2];

	return *pattern ||
	       spank_getenv(spank, JOB_NAME, first, sizeof(first)) != ESPANK_ENV_NOEXIST;
}

/* In slurmstepd, with the user's rights. */
int slurm_spank_user_init(spank_t spank, int count, char **arguments)
{
	char useless[2] = "";
	struct spank_step step;

	(void)count, (void)arguments;
	if (!wants_key(spank) || !spank_step_get(spank, &step))
		return 0;
	spank_getenv(spank, USELESS_NAME, useless, sizeof(useless));
	spank_step_join(spank, &settings, &step, !*useless);
	return 0;
}

int slurm_spank_exit(spank_t spank, int count, char **arguments)
{
	(void)spank, (void)count, (void)arguments;
	if (runner && runner == getpid() && spank_context() == S_CTX_LOCAL)
		spank_step_end(&settings, &running);
	runner = 0;
	return 0;
}
