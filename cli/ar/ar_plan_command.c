/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle ar plan: what the switches would be told about adaptive routing. */
#include "ar_plan_report.h"
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "status.h"

static const struct argument arguments[] = {
    AR_JOB_ARGUMENTS,
    {0, "mode", "bounded|free",
     "when a flow may change its port (default: as FILE says, else bounded)",
     ARGUMENT_CHOICE(struct ar_job, mode)},
    {'o', "output", "FOLDER", "write heddle.far and heddle-ar-info.csv into FOLDER",
     ARGUMENT_TEXT(struct ar_job, folder)},
    SHARED_NAME_MAP(struct ar_job, name_map),
    SHARED_LMC(struct ar_job, lmc),
    SHARED_THREADS(struct ar_job, threads),
    SHARED_JSON(struct ar_job, json),
    SHARED_VERBOSE(struct ar_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle ar plan [OPTION]... FABRIC TABLES...\n"
		"   or: heddle ar plan [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC",
    .summary = "Plans adaptive routing for forwarding tables, and proves that it cannot deadlock.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: forwarding tables and service levels, in files or folders of files.\n"
	     "All switches are taken for such that have adaptive routing, but for those that the\n"
	     "configuration excludes.",
    .statuses = {"there is a plan without a credit loop",
		 "the plan is refused: its groups close a credit loop",
		 "bad input or usage, or the engine or algorithm refuses the fabric"},
};

static int report(struct ar_job *job)
{
	int status = job->plan ? STATUS_CLEAN : STATUS_FAULTS;
	struct hd_error err = {""};

	if (job->plan && job->folder && ar_plan_report_write(job, &err))
		return message_fail(&err);
	if (job->json)
		return json_value_print(ar_plan_report_json(job), status);
	ar_plan_report_print(job);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct ar_job *job = context;
	struct hd_error err = {""};
	int status = table_source_take_operands(&job->tables, &usage, operands, 0,
						"FABRIC and TABLES (with -e: FABRIC)");

	if (status)
		return status;
	job->fabric_path = operands->items[0];
	return ar_job_make(job, &err) ? message_fail(&err) : report(job);
}

int ar_plan(int argc, char **argv)
{
	struct ar_job job = AR_JOB_DEFAULTS;
	int status = arguments_run(&usage, argc, argv, &job, run);

	ar_job_release(&job);
	return status;
}
