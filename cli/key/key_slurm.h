/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands as prolog and epilog of slurmctld. Slurm puts a job back into the queue, without
 * limit, if its prolog fails. So these commands succeed within their time-out whatever happens, and
 * say in the log what did.
 */
#ifndef CLI_KEY_SLURM_H
#define CLI_KEY_SLURM_H

#include <heddle/keyd/key_pattern.h>
#include <stdbool.h>
#include <sys/types.h>

/* A job as the environment of prolog and epilog describes it. */
struct key_slurm_job {
	const char *id; /* SLURM_JOB_ID */
	const char *hosts; /* SLURM_JOB_NODELIST */
	const char *pattern; /* SPANK_HEDDLE_ROUTING_PATTERN */
	int64_t uid; /* SLURM_JOB_UID; -1: not given */
};

/* Whether the option is on the command line, also if something else there is wrong. */
bool key_slurm_asked(int argc, char **argv, const char *option);

/* From now on the process ends with success after so many milliseconds. */
void key_slurm_limit(unsigned timeout_ms);

/* Whether the job wants keys; if not, there is nothing to do. */
bool key_slurm_job(struct key_slurm_job *out);

/* Writes a message to syslog and to standard error, which slurmctld may log. */
void key_slurm_log(const char *format, ...) HD_PRINTF(1, 2);

/* hd_key_pattern_new() with a file that is read with the rights of this user, not of the prolog. */
int key_slurm_pattern(const char *text, int64_t uid, struct hd_key_pattern **out,
		      struct hd_error *err);

#endif
