/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands share that speak to heddle-keyd. */
#ifndef CLI_KEY_SERVICE_H
#define CLI_KEY_SERVICE_H

#include "arguments.h"

#include <heddle/keyd_client.h>

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

#endif
