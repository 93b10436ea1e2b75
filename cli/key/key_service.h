/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands share that speak to heddle-keyd. */
#ifndef CLI_KEY_SERVICE_H
#define CLI_KEY_SERVICE_H

#include "arguments.h"

#include <heddle/keyd/key_pattern.h>
#include <heddle/keyd_client.h>
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* ---- heddle-keyd ---- */

struct key_service {
	const char *socket, *host; /* NULL: the default */
	uint32_t timeout_ms; /* 0: the default */
};

#define KEY_SERVICE_TIMEOUT_MS 5000u

#define KEY_SERVICE_ARGUMENTS(type, member)                                                        \
	{'s', "socket", "PATH",                                                                    \
	 "the unix socket of heddle-keyd (default: $HEDDLE_KEYD, then " HD_KEY_CLIENT_SOCKET ")",  \
	 ARGUMENT_TEXT(type, member.socket)},                                                      \
	    {0, "host", "HOST:PORT", "ask heddle-keyd over the network, with a MUNGE credential",  \
	     ARGUMENT_TEXT(type, member.host)},                                                    \
	{                                                                                          \
		0, "timeout", "MS",                                                                \
		    "wait at most so many milliseconds for an answer (1..60000, default 5000)",    \
		    ARGUMENT_NUMBER(type, member.timeout_ms, 1, 60000)                             \
	}

#define KEY_SERVICE_JOB(type, member)                                                              \
	{                                                                                          \
		'j', "job", "ID", "the job (default: $HEDDLE_JOB, then $SLURM_JOB_ID)",            \
		    ARGUMENT_TEXT(type, member)                                                    \
	}

/* The client that the options ask for. 0, or STATUS_BAD after a message. */
int key_service_open(const struct key_service *service, struct hd_key_client **out);

/* The job that the option or the environment names. 0, or STATUS_BAD after a message. */
int key_service_job(const char **job);

/* Prints why a call failed. Returns STATUS_BAD. */
int key_service_fail(const struct hd_key_client_problem *problem);

/* Flows with their LID offsets: a list of [source, destination, offset]. NULL: no memory. */
json_t *key_service_paths(const struct hd_key_client_path *paths, size_t count);

/* ---- Slurm ---- */

/*
 * The commands as prolog and epilog of slurmctld. Slurm puts a job back into the queue, without
 * limit, if its prolog fails. So these commands succeed within their time-out whatever happens, and
 * say in the log what did.
 */

/* A job as the environment of prolog and epilog describes it. */
struct key_slurm_job {
	const char *id; /* SLURM_JOB_ID */
	const char *hosts; /* SLURM_JOB_NODELIST */
	const char *pattern; /* SPANK_HEDDLE_ROUTING_PATTERN */
	const char
	    *flows; /* SPANK_HEDDLE_ROUTING_FLOWS: what the user's own process has read; or NULL */
	int64_t uid; /* SLURM_JOB_UID; -1: not given, or no number */
};

/* Whether the option is on the command line, also if something else there is wrong. */
bool key_slurm_asked(int argc, char **argv, const char *option);

/* From now on the process ends with success after so many milliseconds. */
void key_slurm_limit(unsigned timeout_ms);

/* Whether the job wants keys; if not, there is nothing to do. */
bool key_slurm_job(struct key_slurm_job *out);

/* Writes a message to syslog and to standard error, which slurmctld may log. */
void key_slurm_log(const char *format, ...) HD_PRINTF(1, 2);

/* Logs that memory is short, for need_end. Returns STATUS_CLEAN: the job must not fail. */
int key_slurm_no_memory(void);

/*
 * hd_key_pattern_new() for "file:PATH" of a job's user, who may not have the prolog read a file that
 * he may not read. As root, the file is read with the rights of the user. Any other prolog reads only
 * a file that the user owns or that all users may read, the same for searching its folders, and
 * follows no symbolic link. Errors: also -EPERM uid is no user's, -EACCES such a file is refused.
 */
int key_slurm_pattern(const char *text, int64_t uid, struct hd_key_pattern **out,
		      struct hd_error *err);

#endif
