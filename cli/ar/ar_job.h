/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands `heddle ar ...` that work offline share: a fabric, its tables, and a plan. */
#ifndef CLI_AR_JOB_H
#define CLI_AR_JOB_H

#include "shared_arguments.h"

#include <heddle/ar_manager.h>

struct ar_job {
	struct table_source tables;
	enum hd_ar_algorithm algorithm;
	enum hd_ar_state mode; /* BOUNDED or FREE */
	uint32_t group_cap;
	unsigned threads;
	int lmc;
	bool json, verbose;
	const char *folder; /* NULL: no files */
	const char *fabric_path;
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan; /* NULL: refused */
	struct hd_ar_loop *loop; /* why it was refused */
	struct hd_error refusal; /* the same in words */
};

/* The rows that these commands have in common. */
#define AR_JOB_ARGUMENTS                                                                           \
	SHARED_ENGINE(struct ar_job, tables),                                                      \
	    {0, "algorithm", "auto|lag|tree|dfp", "how groups are formed (default auto)",          \
	     ARGUMENT_CHOICE(struct ar_job, algorithm)},                                           \
	{                                                                                          \
		0, "group-cap", "N", "let no switch have more than N groups (1..4095)",            \
		    ARGUMENT_NUMBER(struct ar_job, group_cap, 1, HD_AR_GROUPS_MAX)                 \
	}

/* Reads the fabric and its tables. Errors: those of the readers and the engine. */
int ar_job_load(struct ar_job *job, struct hd_error *err);

/* Makes the plan; capabilities [switch_count], or NULL: all full. 0 and errors as ar_job_make(). */
int ar_job_plan(struct ar_job *job, const struct hd_ar_capability *capabilities,
		struct hd_error *err);

/* Reads the fabric and its tables and makes the plan. 0 also where the plan is refused for a credit
 * loop: job->plan is then NULL. Errors: those of the readers, the engine and the planner. */
int ar_job_make(struct ar_job *job, struct hd_error *err);

void ar_job_release(struct ar_job *job);

#endif
