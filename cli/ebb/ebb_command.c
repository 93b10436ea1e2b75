/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle ebb: effective bisection bandwidth, or that of any other pattern. */
#include "commands.h"
#include "ebb_report.h"
#include "fabric_source.h"
#include "gnuplot.h"
#include "json_value.h"
#include "message.h"
#include "progress.h"
#include "status.h"
#include "table_source.h"
#include "workload_frame.h"

#include <stdlib.h>
#include <string.h>

#define HOT_MAX 1000000
#define PATTERNS_MOST UINT64_C(1000000000) /* until a precision is reached */

static const struct argument arguments[] = {
    WORKLOAD_ARGUMENTS("10000"),
    {'e', "engine", "ENGINE", "compute the tables by this engine in place of reading them"},
    {'O', "option", "KEY=VALUE", "an option of the engine; may be repeated"},
    {0, "precision", "H",
     "stop when the 99% confidence interval is +-H or less, or after -n patterns"},
    {0, "hot", "K", "name the K links with the most flows"},
    {0, "plot", "FILE", "draw the histogram of patterns (.svg or .png; needs gnuplot)"},
};

enum { ENGINE = WORKLOAD_ROWS, OPTION, PRECISION, HOT, PLOT };

static const struct usage usage = {
    .synopsis = "heddle ebb [OPTION]... FABRIC TABLES...\n"
		"   or: heddle ebb [OPTION]... -e ENGINE FABRIC",
    .summary = "Tells what forwarding tables are worth: sends patterns along them, counts flows "
	       "on every\nlink and gives the bandwidth that routes are left with.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: files, or folders of files.\n"
	     "Exit status: 0 fine, 1 some routes are broken, 2 bad input.",
};

struct ebb_job {
	struct workload workload;
	struct table_source tables;
	const char *engine;
	char settings[1024]; /* engine's options, each after a colon */
	double precision;
	uint32_t hot;
	const char *plot;

	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct workload_on on;
	struct ebb_broken broken;
	struct hd_congestion_report *report;
};

/* ---- what was typed ---- */

static int take_setting(struct ebb_job *job, const char *value)
{
	size_t used = strlen(job->settings);

	if (used + strlen(value) + 2 > sizeof(job->settings))
		return message_error("option '-O': '%s' is too long", value);
	job->settings[used] = ':';
	strcpy(job->settings + used + 1, value);
	return 0;
}

static int take_precision(struct ebb_job *job, const char *value)
{
	char *end;

	job->precision = strtod(value, &end);
	if (end != value && !*end && job->precision > 0 && job->precision < 1)
		return 0;
	return message_error("option '--precision': '%s' is not a number between 0 and 1", value);
}

static int take_hot(struct ebb_job *job, const char *value)
{
	int64_t number;

	if (!arguments_number(&arguments[HOT], value, 0, HOT_MAX, &number))
		return STATUS_BAD;
	job->hot = (uint32_t)number;
	return 0;
}

static int take_plot(struct ebb_job *job, const char *value)
{
	job->plot = value;
	return gnuplot_can_draw(value)
		   ? 0
		   : message_error("option '--plot': '%s' ends neither in .svg nor in .png", value);
}

static int take(void *context, unsigned row, const char *value)
{
	struct ebb_job *job = context;

	switch (row) {
	case ENGINE:
		job->engine = value;
		return 0;
	case OPTION:
		return take_setting(job, value);
	case HOT:
		return take_hot(job, value);
	case PRECISION:
		return take_precision(job, value);
	default:
		return take_plot(job, value);
	}
}

/* What the operands after FABRIC and -e say of the tables. */
static int take_tables(struct ebb_job *job, int count, char **operands)
{
	char text[1200];

	if (count < 1 || (job->engine ? count != 1 : count == 1))
		return message_error("expected %s, got %d; usage: %s",
				     job->engine ? "FABRIC alone beside -e" : "FABRIC and TABLES",
				     count, usage.synopsis);
	if (job->settings[0] && !job->engine)
		return message_error("option '-O' is for an engine, and there is no -e");
	job->tables.paths = (const char *const *)operands + 1;
	job->tables.path_count = (size_t)count - 1;
	snprintf(job->tables.name, sizeof(job->tables.name), "%s%s", count > 1 ? operands[1] : "",
		 count > 2 ? " ..." : "");
	snprintf(text, sizeof(text), "%s%s", job->engine ? job->engine : "", job->settings);
	return job->engine ? table_source_take_engine(&job->tables, text) : 0;
}

/* ---- the run ---- */

static int load(struct ebb_job *job, const char *path, struct hd_error *err)
{
	struct hd_log log = message_log(job->workload.verbose);
	int rc = fabric_source_load(path, job->workload.lmc, &log, &job->fabric, err);

	if (!rc)
		rc = table_source_make(&job->tables, job->fabric, NULL, job->workload.threads, &log,
				       &job->routes, err);
	if (!rc)
		rc = workload_place(&job->workload, job->fabric, &job->on, err);
	if (!rc)
		rc = hd_broken_routes(job->routes, job->on.ranks, job->workload.threads,
				      job->broken.routes, job->broken.list, EBB_BROKEN_SHOWN,
				      &job->broken.listed, err);
	return rc;
}

static int count_flows(struct ebb_job *job, struct hd_error *err)
{
	struct hd_congestion_request request =
	    workload_request(&job->workload, &job->on, job->routes);

	request.precision = job->precision;
	request.link_flows = job->hot > 0;
	return workload_run(&request, job->workload.pattern_text, &job->report, err);
}

static int draw(const struct ebb_job *job, const char *path, struct hd_error *err)
{
	char title[400];

	snprintf(title, sizeof(title), "%s: %s, %s", job->workload.pattern_text, path,
		 job->tables.name);
	return job->plot ? gnuplot_histogram(job->plot, title, workload_share_name(&job->workload),
					     job->report, err)
			 : 0;
}

static int tell(const struct ebb_job *job, const char *path)
{
	const struct ebb_view view = {.fabric_path = path,
				      .tables_name = job->tables.name,
				      .workload = &job->workload,
				      .on = &job->on,
				      .report = job->report,
				      .broken = &job->broken,
				      .hot = job->hot};
	int status = ebb_broken_total(&job->broken) ? STATUS_FAULTS : STATUS_CLEAN;

	if (job->workload.json)
		return json_value_print(ebb_json(&view), status);
	ebb_print(&view);
	return status;
}

static int run_job(struct ebb_job *job, const char *path)
{
	const struct processes *processes = job->workload.processes;
	struct hd_error err = {"another process could not begin"};
	int rc = load(job, path, &err);

	if (!processes_ready(processes, !rc))
		return message_fail(&err);
	rc = count_flows(job, &err);
	if (!rc && processes->part == 0)
		rc = draw(job, path, &err);
	if (rc)
		return message_fail(&err);
	return tell(job, path);
}

static int run(void *context, int count, char **operands)
{
	struct ebb_job *job = context;

	if (job->precision > 0 && !job->workload.count_given)
		job->workload.count = PATTERNS_MOST;
	int status = take_tables(job, count, operands);
	if (!status)
		status = workload_refuse_output(&job->workload, &arguments[PLOT], job->plot,
						operands, count);
	return status ? status : run_job(job, operands[0]);
}

static void release(void *context)
{
	struct ebb_job *job = context;

	hd_congestion_report_free(job->report);
	workload_on_release(&job->on);
	hd_routes_free(job->routes);
	hd_fabric_free(job->fabric);
	table_source_release(&job->tables);
}

int ebb_command(int argc, char **argv)
{
	static const struct workload_command command = {
	    .usage = &usage, .count = 10000, .take = take, .run = run, .release = release};
	struct ebb_job job = {.hot = 0};

	return workload_frame_run(&command, &job, argc, argv);
}
