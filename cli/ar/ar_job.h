/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands `heddle ar ...` share: a fabric, its tables and a plan, and for those that
 * ask the switches, what these hold. */
#ifndef CLI_AR_JOB_H
#define CLI_AR_JOB_H

#include "ar_recovery.h"
#include "shared_arguments.h"

#include <heddle/ar_manager.h>
#include <heddle/ar_manager/link.h>
#include <heddle/ar_manager/site.h>
#include <jansson.h>
#include <limits.h>

/* ---- offline ---- */

/* What the commands `heddle ar ...` that work offline share: a fabric, its tables, and a plan. */

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
	struct hd_ar_notes notes; /* why not more entries are adaptive */
	struct ar_recovery recovery; /* only heddle ar plan computes it */
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
		.mode = AR_JOB_CONFIGURED, .recovery = {                                           \
			.sampled = AR_RECOVERY_SAMPLED,                                            \
			.seed = 1                                                                  \
		}                                                                                  \
	}

/* Does all of ar_job_load() and makes the plan. Switches that the configuration does not exclude
 * have all capabilities. 0 also where the plan is refused for a credit
 * loop: job->plan is then NULL. Errors: those of the readers, the engine and the planner. */
int ar_job_make(struct ar_job *job, struct hd_error *err);

void ar_job_release(struct ar_job *job);

/* ---- plans ---- */

/* A plan for people, for programs, and as files. */

/* Prints the plan, or why it was refused. */
void ar_plan_report_print(const struct ar_job *job);

/* The same as a value; NULL: no memory. */
json_t *ar_plan_report_json(const struct ar_job *job);

/* ---- switches that are asked ---- */

/* What the commands share that ask the switches of a fabric: by MADs to their LIDs. */

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

/* ---- reports of what the switches hold ---- */

/* What heddle ar status and heddle ar diff print. */

/* ---- what differs ---- */

/*
 * Where a switch differs from the plan: in what its entries do. The numbers of groups do not count,
 * since they depend on what the switch held before.
 */

/* What an entry does. */
struct ar_effect {
	bool known; /* false: it could not be read */
	enum hd_ar_state state;
	uint8_t port; /* static port */
	uint16_t group; /* its number in the switch; HD_AR_NO_GROUP: static */
	struct hd_port_set ports; /* of the group; empty: static */
};

/* What the switch does with a LID by one of its tables; AR that is off makes all entries unknown. */
struct ar_effect ar_differences_held(const struct hd_ar_switch_report *report, uint32_t table,
				     uint32_t lid);

/* The ports of a sub-group that the switch holds for one of its tables, empty where it has no such
 * one, and those of all sub-groups of a group; report->held is not NULL. */
struct hd_port_set ar_differences_sub_group(const struct hd_ar_switch_report *report,
					    uint32_t table, uint32_t group, uint32_t sub);
struct hd_port_set ar_differences_group(const struct hd_ar_switch_report *report, uint32_t table,
					uint32_t group);

/* ---- the report ---- */

/* Entries of all switches that differ from the plan. */
uint64_t ar_status_report_differences(const struct ar_live *live);

/* Whether it is not known what a switch holds; how many switches there are of that kind. */
bool ar_status_report_is_unread(const struct ar_live *live, uint32_t sw);
uint32_t ar_status_report_unread(const struct ar_live *live);

/* A table of the switches; with live->raw their attributes as they travel, too. */
void ar_status_report_print(const struct ar_live *live);

/* The same as JSON. */
json_t *ar_status_report_json(const struct ar_live *live);

/* One line for each difference; or as JSON. */
void ar_status_report_print_differences(const struct ar_live *live);
json_t *ar_status_report_differences_json(const struct ar_live *live);

#endif
