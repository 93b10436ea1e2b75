/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle check: proves that tables are right for a fabric. */
#include "check_report.h"
#include "commands.h"
#include "csv.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "plan_source.h"
#include "policy_arguments.h"
#include "progress.h"
#include "shared_arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* The report of heddle check as one line for Nagios, Icinga and other programs with their plugins. */

static enum nagios_status status_of(const struct check_view *view)
{
	if (!hd_check_clean(view->report) || (view->adaptive && !view->adaptive->clean))
		return NAGIOS_CRITICAL;
	return view->defects->count ? NAGIOS_WARNING : NAGIOS_OK;
}

static void print_number(uint64_t count, const char *one, const char *many)
{
	if (count)
		printf(", %" PRIu64 " %s", count, count == 1 ? one : many);
}

/*
 * Prints the line, with performance data. Returns the exit status: critical if a packet can be lost
 * or a credit loop can close, a warning if only the files have defects.
 */
static enum nagios_status check_nagios_print(const struct check_view *view)
{
	enum nagios_status status = status_of(view);

	message_nagios_begin(status);
	message_nagios_text(view->fabric_path);
	printf(": %" PRIu64 " paths checked", view->report->paths);
	const struct hd_check_report *report = view->report;
	print_number(report->no_route, "path without route", "paths without route");
	print_number(report->dead_end, "dead end", "dead ends");
	print_number(report->loop, "loop", "loops");
	print_number(report->credit_loops, "lane with a credit loop", "lanes with credit loops");
	print_number(view->defects->count, "defect of the files", "defects of the files");
	if (view->adaptive && !view->adaptive->clean)
		fputs(", the plan of adaptive routing is wrong", stdout);
	/* LABEL=VALUE;WARNING;CRITICAL;LEAST: a limit of 0 says that any larger value is one. */
	printf(" | no_route=%" PRIu64 ";;0;0 dead_ends=%" PRIu64 ";;0;0 loops=%" PRIu64
	       ";;0;0 credit_loops=%" PRIu32 ";;0;0 defects=%" PRIu64 ";0;;0",
	       report->no_route, report->dead_end, report->loop, report->credit_loops,
	       view->defects->count);
	printf(" paths=%" PRIu64 ";;;0 hosts=%" PRIu32 ";;;0 switches=%" PRIu32
	       ";;;0 largest_load=%" PRIu64 ";;;0 longest_path=%" PRIu32 ";;;0\n",
	       report->paths, view->fabric->host_count, view->fabric->switch_count,
	       report->flows_max, report->max_hops);
	return status;
}

#define FAULTS_MAX 1000000
#define DEFECTS_SHOWN 20 /* as many as faults */

struct check_job {
	struct table_source tables;
	struct policy_arguments policy;
	struct hd_check_options options;
	const char *plan_path; /* NULL: forwarding tables alone */
	int lmc;
	bool json, csv, nagios, verbose;
};

static const struct argument arguments[] = {
    SHARED_ENGINE(struct check_job, tables),
    {0, "switch-traffic", NULL, "count paths between switches as data traffic",
     ARGUMENT_FLAG(struct check_job, options.switch_traffic)},
    {0, "plan", "FILE", "prove this plan of adaptive routing too (.far file)",
     ARGUMENT_TEXT(struct check_job, plan_path)},
    {0, "max-faults", "N", "show N faults with their paths (default 20)",
     ARGUMENT_NUMBER(struct check_job, options.max_faults, 1, FAULTS_MAX)},
    POLICY_ARGUMENTS(struct check_job, policy),
    SHARED_LMC(struct check_job, lmc),
    SHARED_THREADS(struct check_job, options.threads),
    SHARED_JSON(struct check_job, json),
    {0, "csv", NULL, "print the load of each link as a table for spreadsheets",
     ARGUMENT_FLAG(struct check_job, csv)},
    {0, "nagios", NULL, "print one line for Nagios, and end with its statuses",
     ARGUMENT_FLAG(struct check_job, nagios)},
    SHARED_VERBOSE(struct check_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle check [OPTION]... FABRIC TABLES...\n"
		"   or: heddle check [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC",
    .summary =
	"Proves that forwarding tables are right for a fabric, or shows where they are wrong.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: forwarding tables and service levels, in files or folders of files.\n"
	     "With --nagios the exit status is 0 OK, 1 WARNING, 2 CRITICAL or 3 UNKNOWN.",
    .statuses = {"nothing is wrong", "faults were found",
		 "bad input or usage, or the engine refuses the fabric"},
};

static int report_on(const struct check_job *job, const struct check_view *view)
{
	int status = check_report_clean(view) ? STATUS_CLEAN : STATUS_FAULTS;

	if (job->nagios)
		return (int)check_nagios_print(view);
	if (job->json)
		return json_value_print(check_json(view), status);
	if (job->csv)
		check_csv(view);
	else
		check_report_print(view);
	return status;
}

static int run_job(struct check_job *job, const char *path)
{
	struct hd_log log = message_log(job->verbose);
	struct hd_fabric *fabric = NULL;
	struct hd_routes *routes = NULL;
	struct hd_check_report *report = NULL;
	struct hd_table_defects defects = {0};
	struct check_adaptive adaptive = {0};
	struct hd_siblings_report siblings = {0};
	struct hd_error err = {""};
	int rc = policy_arguments_load(&job->policy, path, job->lmc, &log, &fabric, &err);

	if (!rc) {
		const struct table_request request = {.fabric = fabric,
						      .policy = &job->policy.policy,
						      .threads = job->options.threads,
						      .log = &log,
						      .defects = &defects};
		rc = table_source_make(&job->tables, &request, &routes, &err);
	}
	if (!rc) {
		progress_begin("checking");
		rc = hd_check(fabric, routes, &job->options, &report, &err);
		progress_end();
	}
	if (!rc && hd_siblings_check(fabric, routes, &siblings))
		rc = hd_error_no_memory(&err);
	if (!rc && job->plan_path) {
		/* Faults of the plan's entries and a credit loop are results, no errors. */
		struct hd_ar_plan *plan = NULL;
		rc = plan_source_read(job->plan_path, fabric, &plan, &err);
		if (!rc) {
			const struct hd_ar_proof_request request = {.fabric = fabric,
								    .routes = routes,
								    .plan = plan,
								    .threads =
									job->options.threads};
			rc = hd_ar_plan_check(plan, fabric, routes, NULL, &adaptive.wrong, &err);
			if (rc == -EINVAL)
				rc = -ELOOP;
			else if (!rc)
				rc = hd_ar_prove(&request, &adaptive.proof, NULL, &err);
			adaptive.clean = !rc;
			adaptive.entries = plan->entries;
			adaptive.adaptive = plan->adaptive;
			if (rc == -ELOOP) {
				snprintf(adaptive.reason, sizeof(adaptive.reason), "%s", err.text);
				rc = 0;
			}
		}
		hd_ar_plan_free(plan);
	}
	size_t shown = job->options.max_faults ? job->options.max_faults : DEFECTS_SHOWN;
	const struct check_view view = {
	    path,    fabric, routes, report, &defects, shown, job->plan_path ? &adaptive : NULL,
	    siblings};
	int status = rc ? (job->nagios ? (int)message_nagios_unknown(err.text) : message_fail(&err))
			: report_on(job, &view);
	hd_table_defects_release(&defects);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct check_job *job = context;
	int status = table_source_take_operands(&job->tables, &usage, operands, 0,
						"FABRIC and TABLES (with -e: FABRIC)");

	if (job->nagios)
		need_end = message_nagios_no_memory;
	if (!status)
		status = policy_arguments_refuse(&job->policy, job->tables.engine);
	if (!status)
		status = csv_refuse(job->csv, job->json);
	if (!status && job->nagios && (job->json || job->csv))
		status = message_error("--nagios cannot be used with --json or --csv");
	if (!status)
		return run_job(job, operands->items[0]);
	return job->nagios ? (int)message_nagios_unknown("bad usage; standard error has the reason")
			   : status;
}

int check_command(int argc, char **argv)
{
	struct check_job job = {.lmc = LMC_ANY, .options = {.threads = hd_parallel_cores()}};
	int status = arguments_run(&usage, argc, argv, &job, run);

	policy_arguments_release(&job.policy);
	table_source_release(&job.tables);
	return status;
}
