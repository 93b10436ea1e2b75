/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands `heddle ar ...` that work offline share: a fabric, its tables, and a plan. */
#ifndef CLI_AR_JOB_H
#define CLI_AR_JOB_H

#include "shared_arguments.h"

#include <heddle/ar_manager.h>
#include <heddle/ar_manager/site.h>
#include <limits.h>

#define AR_JOB_CONFIGURED UINT_MAX /* not typed: as the site says */

struct ar_job {
	struct table_source tables;
	const char *config_path; /* NULL: none */
	/* As typed: enum hd_ar_algorithm and enum hd_ar_state, or AR_JOB_CONFIGURED. */
	unsigned algorithm, mode;
	uint32_t group_cap; /* as typed; 0: as the site says */
	struct hd_ar_site site; /* what the configuration says, and what was typed instead */
	unsigned threads;
	int lmc;
	bool json, verbose;
	const char *folder; /* NULL: no files */
	const char *fabric_path;
	const char *name_map; /* NULL: none */
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan; /* NULL: refused */
	struct hd_ar_loop *loop; /* why it was refused */
	struct hd_error refusal; /* the same in words */
};

/* The rows that these commands have in common. */
#define AR_JOB_ARGUMENTS                                                                           \
	SHARED_ENGINE(struct ar_job, tables), AR_JOB_PLAN_ARGUMENTS(struct ar_job, )

/* `type` is or contains a struct ar_job; `member` is the path to it, with a dot after it. */
#define AR_JOB_PLAN_ARGUMENTS(type, member)                                                        \
	{0, "config", "FILE", "plan as the sections [ar...] of this heddle.conf say",              \
	 ARGUMENT_TEXT(type, member config_path)},                                                 \
	    {0, "algorithm", "auto|lag|tree|dfp",                                                  \
	     "how groups are formed (default: as FILE says, else auto)",                           \
	     ARGUMENT_CHOICE(type, member algorithm)},                                             \
	{                                                                                          \
		0, "group-cap", "N",                                                               \
		    "let no switch have more than N groups (1..4095, default: as FILE says)",      \
		    ARGUMENT_NUMBER(type, member group_cap, 1, HD_AR_GROUPS_MAX)                   \
	}

#define AR_JOB_DEFAULTS                                                                            \
	{                                                                                          \
		.lmc = LMC_ANY, .threads = hd_parallel_cores(), .algorithm = AR_JOB_CONFIGURED,    \
		.mode = AR_JOB_CONFIGURED                                                          \
	}

/* Reads the configuration, the fabric and its tables. Errors: those of the readers and the engine. */
int ar_job_load(struct ar_job *job, struct hd_error *err);

/* Makes the plan; capabilities [switch_count]. 0 and errors as ar_job_make(). */
int ar_job_plan(struct ar_job *job, const struct hd_ar_capability *capabilities,
		struct hd_error *err);

/* Does all of ar_job_load() and makes the plan. Switches that the configuration does not exclude
 * have all capabilities. 0 also where the plan is refused for a credit
 * loop: job->plan is then NULL. Errors: those of the readers, the engine and the planner. */
int ar_job_make(struct ar_job *job, struct hd_error *err);

void ar_job_release(struct ar_job *job);

#endif
