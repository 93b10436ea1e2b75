/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands share that ask the switches of a fabric: by MADs to their LIDs. */
#ifndef CLI_AR_LIVE_H
#define CLI_AR_LIVE_H

#include "ar_job.h"

#include <heddle/ar_manager/link.h>

struct hd_umad_port;

struct ar_live {
	struct ar_job job;
	const char *device; /* NULL: any */
	int32_t port_number; /* 0: any */
	int64_t timeout_ms;
	bool raw;
	const char *output; /* NULL: no file */
	struct hd_umad_port *port;
	struct hd_ar_link *link;
};

/* The rows that these commands have in common. */
#define AR_LIVE_ARGUMENTS                                                                          \
	SHARED_ENGINE(struct ar_live, job.tables), AR_JOB_PLAN_ARGUMENTS(struct ar_live, job.),    \
	    {0, "device", "NAME", "send by this adapter, such as mlx5_0 (default: any)",           \
	     ARGUMENT_TEXT(struct ar_live, device)},                                               \
	    {0, "port", "N", "send by this port of the adapter (1..255, default: any)",            \
	     ARGUMENT_NUMBER(struct ar_live, port_number, 1, 255)},                                \
	{                                                                                          \
		0, "timeout", "MS", "wait so long for the first answer (1..10000, default 200)",   \
		    ARGUMENT_NUMBER(struct ar_live, timeout_ms, 1, 10000)                          \
	}

#define AR_LIVE_DEFAULTS                                                                           \
	{                                                                                          \
		.job = AR_JOB_DEFAULTS, .timeout_ms = 200                                          \
	}

/*
 * Reads the fabric and its tables, asks the switches what they can do, makes the plan for that, and
 * reads what the switches hold. 0 also where the plan is refused: live->job.plan is then NULL.
 * Errors: those of ar_job_load() and of the port.
 */
int ar_live_read(struct ar_live *live, struct hd_error *err);

void ar_live_release(struct ar_live *live);

/* What is known of switch number `sw` of the fabric. */
struct hd_ar_switch_report ar_live_report(const struct ar_live *live, uint32_t sw);

#endif
