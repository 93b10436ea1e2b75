/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle sim: packets through the tables. */
#include "catalogue.h"
#include "commands.h"
#include "csv.h"
#include "gnuplot.h"
#include "html.h"
#include "interrupt.h"
#include "json_value.h"
#include "message.h"
#include "output.h"
#include "sim_arguments.h"
#include "sim_question.h"
#include "sim_view.h"

#include <heddle/sim/scenario.h>
#include <heddle/sim/workload.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a scenario may say. */

static unsigned section_count(void)
{
	struct hd_scenario_section section;
	unsigned count = 0;

	while (hd_scenario_section(count, &section))
		count++;
	return count;
}

static struct catalogue_entry section_entry(unsigned index)
{
	struct hd_scenario_section section = {.count = 0};

	hd_scenario_section(index, &section);
	return (struct catalogue_entry){section.name, section.summary, section.keys, section.count};
}

static unsigned kind_count(void)
{
	unsigned count;

	hd_traffic_kinds(&count);
	return count;
}

static struct catalogue_entry kind_entry(unsigned index)
{
	unsigned count;
	const struct hd_traffic_kind *kind = hd_traffic_kinds(&count)[index];

	return (struct catalogue_entry){kind->name, kind->summary, kind->options,
					kind->option_count};
}

static const struct catalogue sections = {"section", section_count, section_entry};

static const struct catalogue kinds = {"kind of traffic", kind_count, kind_entry};

static int print(const struct catalogue *catalogue, bool json)
{
	if (json)
		return json_value_print(catalogue_json(catalogue, NULL), STATUS_CLEAN);
	catalogue_print(catalogue, NULL);
	return STATUS_CLEAN;
}

#define HOT_MAX 100000

struct sim_job {
	struct sim_options options;
	struct sim_question question;
	struct sim_case one;
	uint32_t hot;
	const char *html, *plot, *figure;
	char title[SIM_QUESTION_TITLE];
	bool json, csv, all, keys, kinds;
};

static const struct argument arguments[] = {
    SIM_ARGUMENTS(struct sim_job, options),
    {0, "state", "FILE", "keep finished runs, and go on where a run before was ended",
     ARGUMENT_TEXT(struct sim_job, options.state)},
    {0, "counters", "FILE", "write the counters of all ports after the only run, for heddle why",
     ARGUMENT_TEXT(struct sim_job, options.counters)},
    {0, "html", "FILE", "write a report for a browser, one file",
     ARGUMENT_TEXT(struct sim_job, html)},
    {0, "plot", "FILE", "draw a figure against the sweeps (.svg or .png, by gnuplot)",
     ARGUMENT_BY(gnuplot_take_path, struct sim_job, plot)},
    {0, "figure", "NAME", "with --plot: this figure, by its name in --csv and --json",
     ARGUMENT_TEXT(struct sim_job, figure)},
    {0, "hot", "K", "name the K busiest links of each point (default 5)",
     ARGUMENT_NUMBER(struct sim_job, hot, 0, HOT_MAX)},
    {0, "all", NULL, "print the figures of each flow, ring and rank, too",
     ARGUMENT_FLAG(struct sim_job, all)},
    {0, "keys", NULL, "list the sections of scenarios and their keys, and end",
     ARGUMENT_FLAG(struct sim_job, keys)},
    {0, "kinds", NULL, "list the kinds of traffic and their keys, and end",
     ARGUMENT_FLAG(struct sim_job, kinds)},
    SIM_QUESTION_ARGUMENTS(struct sim_job, question),
    SHARED_JSON(struct sim_job, json),
    SHARED_CSV(struct sim_job, csv),
};

static const struct usage usage = {
    .synopsis =
	"heddle sim [OPTION]... SCENARIO\n"
	"   or: heddle sim [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC [TABLES]...\n"
	"   or: heddle sim [OPTION]... --fabric FILE [-e NAME[:KEY=VALUE,...]]... [TABLES]...",
    .summary = "Sends packets through forwarding tables: simulates a scenario, or one kind of "
	       "traffic\nunder several tables.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "SCENARIO: a file, or the name of one that comes with heddle. TABLES: files or "
	     "folders of\ntables. SIGINT ends the runs; the report then says so.",
    .statuses = {"all runs are complete", "packets met a deadlock, or the runs were ended early",
		 "bad input or usage"},
};

static int write_html(const struct sim_job *job, struct hd_error *err)
{
	const char *title = job->one.view.title;
	struct output output;
	int rc = output_open(&output, job->html, err);

	if (rc)
		return rc;
	html_begin(output.stream, title);
	fputs("<h1>", output.stream);
	html_text(output.stream, title);
	fputs("</h1>\n", output.stream);
	sim_html_section(&job->one.view, "sim", "h2", output.stream);
	html_end(output.stream);
	return output_close(&output, 0, err);
}

/* STATUS_BAD after a message if a file could not be written; the report is printed all the same,
 * because the runs may have been long. */
static int write_files(const struct sim_job *job)
{
	struct hd_error err;
	int status = 0;

	if (job->options.processes->part != 0)
		return 0;
	if (job->html && write_html(job, &err))
		status = message_fail(&err);
	if (job->options.counters &&
	    sim_counters_write(&job->one.view, job->options.counters, &err))
		status = message_fail(&err);
	if (job->plot && sim_plot_figure(&job->one.view, job->figure, job->plot, &err))
		status = message_fail(&err);
	return status;
}

static int show(struct sim_job *job)
{
	struct sim_view *view = &job->one.view;
	int status = write_files(job);

	if (!status)
		status = sim_view_status(view);
	if (job->json)
		return json_value_print(sim_report_json(view, job->one.name), status);
	if (job->csv) {
		struct csv csv = csv_begin(stdout, SIM_REPORT_CSV_COLUMNS);
		sim_report_csv(view, job->one.name, &csv);
	} else {
		sim_report_print(view);
	}
	return status;
}

/* STATUS_BAD after a message if an output would replace a file that the scenario names. */
static int refuse_to_replace(void *context, const char *input)
{
	const struct sim_job *job = context;
	int status = output_refuse("html", job->html, &input, 1);

	if (!status)
		status = output_refuse("plot", job->plot, &input, 1);
	if (!status)
		status = output_refuse("counters", job->options.counters, &input, 1);
	return status ? status : output_refuse("state", job->options.state, &input, 1);
}

static int run_case(struct sim_job *job, const char *path, const char *name)
{
	struct hd_error err = {""};
	int rc;

	job->one.name = name;
	job->one.view.hot = job->hot;
	job->one.view.all = job->all;
	job->one.view.asked = job->question.fabric;
	rc = sim_case_read(&job->one, &job->options, path, &err);
	if (!rc && job->question.fabric)
		rc = sim_question_apply(&job->question, job->one.scenario, &err);
	if (!rc)
		rc = sim_case_assign(&job->one, &job->options, &err);
	int status = rc ? 0 : hd_scenario_visit_paths(job->one.scenario, refuse_to_replace, job);
	if (status < 0)
		status = message_no_memory();
	rc = processes_agree(job->options.processes, rc, &err);
	if (rc && !status)
		status = message_fail(&err);
	if (processes_ready(job->options.processes, !status)) {
		rc = sim_case_run(&job->one, &job->options, &err);
		if (!rc && job->question.fabric)
			job->one.view.title =
			    sim_question_title(&job->question, job->one.scenario, job->one.runs,
					       job->title, sizeof(job->title));
		status = rc ? interrupt_fail(rc, &err) : show(job);
	} else if (!status) {
		status = message_error("another process refuses its files");
	}
	sim_case_release(&job->one);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct sim_job *job = context;
	struct hd_error err;
	bool asked = sim_question_asked(&job->question, operands);
	int status = csv_refuse(job->csv, job->json) ? STATUS_BAD : 0;

	if (job->keys || job->kinds)
		return job->keys ? print(&sections, job->json) : print(&kinds, job->json);
	if (!status && asked)
		status = sim_question_take_operands(&job->question, operands);
	else if (!status)
		status = arguments_expect(&usage, operands, "SCENARIO", 1, 1);
	if (!status)
		status = sim_question_refuse(&job->question);
	if (!status && job->figure && !job->plot)
		status = message_error("option '--figure' needs --plot");
	if (!status && job->options.counters && !strcmp(job->options.counters, "-"))
		status = message_error("option '--counters' needs a file, since the report goes to "
				       "standard output");
	if (status)
		return status;
	if (job->plot && gnuplot_check(&err))
		return message_fail(&err);
	const char *name = asked ? sim_question_scenario(&job->question) : operands->items[0];
	char *path;
	if (sim_folder_find(name, &path, &err))
		return message_fail(&err);
	status = refuse_to_replace(job, path);
	if (!status)
		status = run_case(job, path, name);
	free(path);
	return status;
}

int sim_command(int argc, char **argv)
{
	struct sim_job job = {.hot = 5};
	int status = sim_arguments_run(&usage, &job.options, argc, argv, &job, run);

	sim_question_release(&job.question);
	return status;
}
