/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle compare: the same patterns through several tables. */
#include "commands.h"
#include "compare_report.h"
#include "fabric_source.h"
#include "json_value.h"
#include "message.h"
#include "output.h"
#include "status.h"
#include "table_source.h"
#include "workload_frame.h"

#include <stdlib.h>
#include <string.h>

#define SIDES_MAX 16
#define WORSE_MAX 100000

static const struct argument arguments[] = {
    WORKLOAD_ARGUMENTS("10000"),
    {0, "hot", "K", "name up to K links that get worse (default 10)"},
    {0, "html", "FILE", "write a report for a browser, one file"},
};

enum { HOT = WORKLOAD_ROWS, HTML };

static const struct usage usage = {
    .synopsis = "heddle compare [OPTION]... FABRIC A B [C]...",
    .summary = "Sends the same patterns through several tables and tells how they differ from A.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "A, B, C: a file or folder of tables, or engine:NAME[:KEY=VALUE]...\n"
	     "Exit status: 0 fine, 1 some routes are broken, 2 bad input.",
};

struct side {
	struct table_source tables;
	struct hd_routes *routes;
	struct hd_congestion_report *report;
	uint64_t *means; /* [patterns] */
};

struct compare_job {
	struct workload workload;
	uint32_t hot;
	const char *html;

	struct hd_fabric *fabric;
	struct workload_on on;
	struct side side[SIDES_MAX];
	struct compare_side shown[SIDES_MAX];
	unsigned count;
};

static int take(void *context, unsigned row, const char *value)
{
	struct compare_job *job = context;
	int64_t number;

	if (row == HTML) {
		job->html = value;
		return 0;
	}
	if (!arguments_number(&arguments[HOT], value, 0, WORSE_MAX, &number))
		return STATUS_BAD;
	job->hot = (uint32_t)number;
	return 0;
}

/* ---- the runs ---- */

static int load_side(struct compare_job *job, unsigned i, const struct hd_log *log,
		     struct hd_error *err)
{
	struct side *side = &job->side[i];
	struct compare_side *shown = &job->shown[i];
	int rc = table_source_make(&side->tables, job->fabric, NULL, job->workload.threads, log,
				   &side->routes, err);

	side->means = calloc((size_t)job->on.count, sizeof(*side->means));
	shown->worse = calloc((size_t)job->hot + 1, sizeof(*shown->worse));
	shown->name = side->tables.name;
	if (!rc && (!side->means || !shown->worse))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = hd_broken_routes(side->routes, job->on.ranks, job->workload.threads,
				      shown->broken.routes, shown->broken.list, EBB_BROKEN_SHOWN,
				      &shown->broken.listed, err);
	return rc;
}

static int load(struct compare_job *job, const char *path, struct hd_error *err)
{
	struct hd_log log = message_log(job->workload.verbose);
	int rc = fabric_source_load(path, job->workload.lmc, &log, &job->fabric, err);

	if (!rc)
		rc = workload_place(&job->workload, job->fabric, &job->on, err);
	for (unsigned i = 0; !rc && i < job->count; i++)
		rc = load_side(job, i, &log, err);
	return rc;
}

static int run_sides(struct compare_job *job, struct hd_error *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < job->count; i++) {
		struct side *side = &job->side[i];
		struct hd_congestion_request request =
		    workload_request(&job->workload, &job->on, side->routes);
		request.link_flows = true;
		request.means = side->means;
		rc = workload_run(&request, side->tables.name, &side->report, err);
		if (rc)
			hd_error_prefix(err, rc, "%s", side->tables.name);
		job->shown[i].report = side->report;
	}
	return rc;
}

/* ---- differences ---- */

static double gain(const struct compare_job *job, unsigned i, uint32_t link)
{
	return compare_flows(&job->shown[i], link) - compare_flows(&job->shown[0], link);
}

/* The links that gained most, by insertion: there are few to keep. */
static void find_worse_links(struct compare_job *job, unsigned i)
{
	struct compare_side *shown = &job->shown[i];
	uint32_t links = job->fabric->isl_count, *worse = shown->worse, count = 0;

	for (uint32_t link = 0; job->hot && link < links; link++) {
		double more = gain(job, i, link);
		if (more <= 0 || (count == job->hot && more <= gain(job, i, worse[count - 1])))
			continue;
		uint32_t place = count < job->hot ? count++ : count - 1;
		for (; place > 0 && more > gain(job, i, worse[place - 1]); place--)
			worse[place] = worse[place - 1];
		worse[place] = link;
	}
	shown->worse_count = count;
}

/* ---- the report ---- */

static int write_html(const struct compare_view *view, const char *path, struct hd_error *err)
{
	struct output output;
	int rc = output_open(&output, path, err);

	if (rc)
		return rc;
	compare_html(view, output.stream);
	return output_close(&output, 0, err);
}

static int tell(const struct compare_job *job, const char *path)
{
	const struct compare_view view = {.fabric_path = path,
					  .workload = &job->workload,
					  .on = &job->on,
					  .sides = job->shown,
					  .count = job->count};
	struct hd_error err = {""};
	int status = STATUS_CLEAN;

	for (unsigned i = 0; i < job->count; i++)
		if (ebb_broken_total(&job->shown[i].broken))
			status = STATUS_FAULTS;
	if (job->html && job->workload.processes->part == 0 && write_html(&view, job->html, &err))
		return message_fail(&err);
	if (job->workload.json)
		return json_value_print(compare_json(&view), status);
	compare_print(&view);
	return status;
}

static int run_job(struct compare_job *job, const char *path)
{
	struct hd_error err = {"another process could not begin"};
	int rc = load(job, path, &err);

	if (!processes_ready(job->workload.processes, !rc) || run_sides(job, &err))
		return message_fail(&err);
	for (unsigned i = 1; i < job->count; i++) {
		job->shown[i].difference =
		    hd_difference_of(job->side[0].means, job->side[i].means, job->on.count);
		find_worse_links(job, i);
	}
	return tell(job, path);
}

static void release(void *context)
{
	struct compare_job *job = context;

	for (unsigned i = 0; i < job->count; i++) {
		hd_congestion_report_free(job->side[i].report);
		hd_routes_free(job->side[i].routes);
		table_source_release(&job->side[i].tables);
		free(job->side[i].means);
		free(job->shown[i].worse);
	}
	workload_on_release(&job->on);
	hd_fabric_free(job->fabric);
}

static int take_sides(struct compare_job *job, int count, char **operands)
{
	if (count < 2 || count > SIDES_MAX)
		return message_error("expected 2 to %d tables to compare, got %d; usage: %s",
				     SIDES_MAX, count < 0 ? 0 : count, usage.synopsis);
	for (; job->count < (unsigned)count; job->count++)
		if (table_source_take_source(&job->side[job->count].tables,
					     (const char *const *)operands + job->count))
			return STATUS_BAD;
	return 0;
}

static int run(void *context, int count, char **operands)
{
	struct compare_job *job = context;
	int status = take_sides(job, count - 1, operands + 1);

	if (!status)
		status = workload_refuse_output(&job->workload, &arguments[HTML], job->html,
						operands, count);
	return status ? status : run_job(job, operands[0]);
}

int compare_command(int argc, char **argv)
{
	static const struct workload_command command = {
	    .usage = &usage, .count = 10000, .take = take, .run = run, .release = release};
	struct compare_job job = {.hot = 10};

	return workload_frame_run(&command, &job, argc, argv);
}
