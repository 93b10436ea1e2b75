/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle check: are these tables right for this fabric? */
#include "arguments.h"
#include "check_report.h"
#include "commands.h"
#include "fabric_source.h"
#include "json_value.h"
#include "message.h"
#include "progress.h"
#include "status.h"

#define FAULTS_MAX 1000000

static const struct argument arguments[] = {
    {0, "json", NULL, "print JSON"},
    {0, "threads", "T", "threads (1..64); default: one a processor"},
    {0, "lmc", "N", "the LMC the tables were made for, where the fabric has another (0..7)"},
    {0, "switch-traffic", NULL, "count paths between switches as data traffic"},
    {0, "max-faults", "N", "faults shown with their paths (default 20)"},
    {'v', "verbose", NULL, "show what the readers remark"},
};

enum { JSON, THREADS, LMC, SWITCH_TRAFFIC, MAX_FAULTS, VERBOSE };

static const struct usage usage = {
    .synopsis = "heddle check [OPTION]... FABRIC TABLES...",
    .summary = "Proves forwarding tables right for a fabric, or shows where they are wrong.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: forwarding tables and service levels, in files or folders of files.\n"
	     "Exit status: 0 clean, 1 faults found, 2 bad input.",
};

struct check_job {
	struct hd_check_options options;
	int lmc;
	bool json, verbose;
};

static int take_number(struct check_job *job, unsigned row, const char *value)
{
	static const int64_t most[] = {
	    [THREADS] = HD_THREADS_MAX, [LMC] = HD_LMC_INFINIBAND, [MAX_FAULTS] = FAULTS_MAX};
	int64_t number;

	if (!arguments_number(&arguments[row], value, row != LMC, most[row], &number))
		return STATUS_BAD;
	if (row == THREADS)
		job->options.threads = (unsigned)number;
	else if (row == LMC)
		job->lmc = (int)number;
	else
		job->options.max_faults = (uint32_t)number;
	return 0;
}

static int take(void *context, unsigned row, const char *value)
{
	struct check_job *job = context;

	switch (row) {
	case JSON:
		job->json = true;
		return 0;
	case SWITCH_TRAFFIC:
		job->options.switch_traffic = true;
		return 0;
	case VERBOSE:
		job->verbose = true;
		return 0;
	default:
		return take_number(job, row, value);
	}
}

static int report_on(const struct check_job *job, const struct check_view *view)
{
	int status = hd_check_clean(view->report) ? STATUS_CLEAN : STATUS_FAULTS;

	if (job->json)
		return json_value_print(check_json(view), status);
	check_report_print(view);
	return status;
}

static int run_job(const struct check_job *job, char **paths, int count)
{
	struct hd_log log = message_log(job->verbose);
	struct hd_fabric *fabric = NULL;
	struct hd_routes *routes = NULL;
	struct hd_check_report *report = NULL;
	struct hd_error err = {""};
	int rc = fabric_source_load(paths[0], job->lmc, &log, &fabric, &err);

	if (!rc) {
		progress_begin("reading tables");
		rc = hd_routes_read((const char *const *)paths + 1, (size_t)count - 1, fabric, &log,
				    &routes, &err);
		progress_end();
	}
	if (!rc) {
		progress_begin("checking");
		rc = hd_check(fabric, routes, &job->options, &report, &err);
		progress_end();
	}
	int status = rc ? message_fail(&err)
			: report_on(job, &(struct check_view){paths[0], fabric, routes, report});
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	return status;
}

int check_command(int argc, char **argv)
{
	struct check_job job = {.lmc = LMC_ANY, .options = {.threads = hd_parallel_cores()}};
	int operands;
	enum arguments_parsed parsed = arguments_parse(&usage, argc, argv, take, &job, &operands);

	if (parsed != ARGUMENTS_PARSED)
		return parsed == ARGUMENTS_REFUSED ? STATUS_BAD : STATUS_CLEAN;
	if (argc - operands < 2)
		return message_error("expected FABRIC and TABLES, got %d of them; usage: %s",
				     argc - operands, usage.synopsis);
	return run_job(&job, argv + operands, argc - operands);
}
