/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle reproduce: what papers have measured, from our own tables. */
#include "commands.h"
#include "csv.h"
#include "gnuplot.h"
#include "html.h"
#include "interrupt.h"
#include "message.h"
#include "need.h"
#include "output.h"
#include "sim_arguments.h"
#include "sim_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reproduce_job {
	struct sim_options options;
	const char *html, *state, *plot;
	bool json, csv, list;

	struct output page;
	struct csv table;
	json_t *experiments;
	uint32_t sections; /* written to the page */
	uint32_t verdicts[HD_VERDICTS]; /* by enum hd_verdict */
	bool interrupted;
};

static const struct argument arguments[] = {
    SIM_ARGUMENTS(struct reproduce_job, options),
    {0, "state", "FOLDER", "keep finished runs, and go on where a run before was ended",
     ARGUMENT_TEXT(struct reproduce_job, state)},
    {0, "html", "FILE", "write a report for a browser, one file",
     ARGUMENT_TEXT(struct reproduce_job, html)},
    {0, "plot", "FOLDER", "draw the figures of each scenario (.svg, by gnuplot)",
     ARGUMENT_TEXT(struct reproduce_job, plot)},
    {0, "list", NULL, "list the experiments and their scenarios, and end",
     ARGUMENT_FLAG(struct reproduce_job, list)},
    SHARED_JSON(struct reproduce_job, json),
    SHARED_CSV(struct reproduce_job, csv),
};

static const struct usage usage = {
    .synopsis = "heddle reproduce [OPTION]... {NAME... | all}",
    .summary = "Simulates the experiments of papers, and compares the figures with theirs.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "NAME: an experiment, or one of its scenarios: EXPERIMENT/SCENARIO.",
    .statuses = {"all figures are within their tolerances",
		 "some are outside or undecided, or the runs were ended early",
		 "bad input or usage"},
};

/* "ar-fairness/c1-s1" becomes a name in a folder. */
static char *path_in(const char *folder, const char *name, const char *ending)
{
	char *path = need_format("%s/%s%s", folder, name, ending);

	for (char *at = path + strlen(folder) + 1; *at; at++)
		*at = *at == '/' ? '-' : *at;
	return path;
}

static int plot(const struct reproduce_job *job, const struct sim_case *one, struct hd_error *err)
{
	char *figure = path_in(job->plot, one->name, ".svg");
	char *expectations = path_in(job->plot, one->name, "-expected.svg");
	int rc = sim_plot_figure(&one->view, NULL, figure, err);

	if (!rc)
		rc = sim_plot_expectations(&one->view, expectations, err);
	free(expectations);
	free(figure);
	return rc;
}

static int run_scenario(struct reproduce_job *job, const char *name, struct hd_error *err)
{
	struct sim_options options = job->options;
	struct sim_case one = {.name = name};
	char *path = NULL, *state = job->state ? path_in(job->state, name, ".runs") : NULL;
	int rc = sim_folder_find(name, &path, err);

	options.state = state;
	if (!rc)
		rc = sim_case_read(&one, &options, path, err);
	if (!rc)
		rc = sim_case_assign(&one, &options, err);
	rc = processes_agree(options.processes, rc, err);
	if (!rc)
		rc = sim_case_run(&one, &options, err);
	if (!rc) {
		const struct sim_view *view = &one.view;
		char id[24];
		for (uint32_t i = 0; i < view->expectation_count; i++)
			job->verdicts[view->expectations[i].verdict]++;
		job->interrupted |= view->job->finished < view->runs->count;
		if (job->json)
			job->experiments =
			    json_value_append(job->experiments, sim_report_json(view, one.name));
		if (job->csv)
			sim_report_csv(view, one.name, &job->table);
		if (!job->json && !job->csv) {
			printf("\n%s: %s\n", one.name, view->runs->title);
			sim_report_expectations(view);
			fflush(stdout);
		}
		if (job->page.stream) {
			fputs("<h2>", job->page.stream);
			html_text(job->page.stream,
				  *view->runs->title ? view->runs->title : one.name);
			fputs("</h2>\n", job->page.stream);
			snprintf(id, sizeof(id), "s%" PRIu32, job->sections++);
			sim_html_section(view, id, "h3", job->page.stream);
		}
	}
	if (!rc && job->plot && options.processes->part == 0)
		rc = plot(job, &one, err);
	sim_case_release(&one);
	free(state);
	free(path);
	if (rc != -ECANCELED || !interrupt_came())
		return rc;
	job->interrupted = true;
	return 0;
}

static int run_experiment(struct reproduce_job *job, const char *experiment, struct hd_error *err)
{
	struct sim_folder_list list;
	char name[512];
	int rc = sim_folder_scenarios(experiment, &list, err);

	for (uint32_t i = 0; !rc && i < list.count && !job->interrupted; i++) {
		snprintf(name, sizeof(name), "%s/%s", experiment, list.names[i]);
		rc = job->list ? printf("  %s\n", name) < 0 : run_scenario(job, name, err);
	}
	sim_folder_release(&list);
	return rc;
}

static int run_all(struct reproduce_job *job, struct hd_error *err)
{
	struct sim_folder_list list;
	int rc = sim_folder_experiments(&list, err);

	for (uint32_t i = 0; !rc && i < list.count && !job->interrupted; i++) {
		if (job->list)
			puts(list.names[i]);
		rc = run_experiment(job, list.names[i], err);
	}
	sim_folder_release(&list);
	return rc;
}

static int run_operands(struct reproduce_job *job, const struct operands *operands,
			struct hd_error *err)
{
	int rc = operands->count ? 0 : run_all(job, err);

	for (unsigned i = 0; !rc && i < operands->count && !job->interrupted; i++) {
		const char *name = operands->items[i];
		if (!strcmp(name, "all"))
			rc = run_all(job, err);
		else
			rc = strchr(name, '/') ? run_scenario(job, name, err)
					       : run_experiment(job, name, err);
	}
	return rc;
}

static int begin(struct reproduce_job *job, struct hd_error *err)
{
	int rc = 0;

	if (job->state)
		rc = output_make_folder(job->state, err);
	if (!rc && job->plot)
		rc = gnuplot_check(err);
	if (!rc && job->plot)
		rc = output_make_folder(job->plot, err);
	if (!rc && job->html && job->options.processes->part == 0) {
		rc = output_open(&job->page, job->html, err);
		if (rc)
			return rc;
		html_begin(job->page.stream, "heddle reproduce");
		fputs("<h1>What papers measured, from our own tables</h1>\n", job->page.stream);
	}
	if (job->json)
		job->experiments = json_array();
	if (job->csv)
		job->table = csv_begin(stdout, SIM_REPORT_CSV_COLUMNS);
	return rc;
}

static json_t *all_json(struct reproduce_job *job)
{
	json_t *experiments = job->experiments;

	job->experiments = NULL;
	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:b}", "scenarios", experiments, "within",
			 (json_int_t)job->verdicts[HD_VERDICT_WITHIN], "outside",
			 (json_int_t)job->verdicts[HD_VERDICT_OUTSIDE], "undecided",
			 (json_int_t)job->verdicts[HD_VERDICT_UNDECIDED], "open",
			 (json_int_t)job->verdicts[HD_VERDICT_OPEN], "partial", job->interrupted);
}

static int run(void *context, const struct operands *operands)
{
	struct reproduce_job *job = context;
	struct hd_error err = {""};
	int rc;

	if (csv_refuse(job->csv, job->json))
		return STATUS_BAD;
	if (job->list) {
		rc = run_operands(job, operands, &err);
		return rc ? message_fail(&err) : STATUS_CLEAN;
	}
	if (!operands->count)
		return arguments_refuse(&usage, "no experiment given; --list shows them");
	rc = begin(job, &err);
	if (processes_agree(job->options.processes, rc, &err))
		return message_fail(&err);
	interrupt_catch();
	rc = run_operands(job, operands, &err);
	const uint32_t *verdicts = job->verdicts;
	int bad = 0;
	if (job->page.stream) {
		fprintf(job->page.stream,
			"<p>%" PRIu32 " figures within their tolerances, %" PRIu32
			" outside, %" PRIu32 " undecided, %" PRIu32 " open.</p>\n",
			verdicts[HD_VERDICT_WITHIN], verdicts[HD_VERDICT_OUTSIDE],
			verdicts[HD_VERDICT_UNDECIDED], verdicts[HD_VERDICT_OPEN]);
		html_end(job->page.stream);
		int closed = output_close(&job->page, rc, &err);
		/* The figures are printed all the same, because the runs may have been long. */
		bad = !rc && closed ? message_fail(&err) : 0;
	}
	if (rc) {
		json_decref(job->experiments);
		return message_fail(&err);
	}
	bool all = !verdicts[HD_VERDICT_OUTSIDE] && !verdicts[HD_VERDICT_UNDECIDED] &&
		   !verdicts[HD_VERDICT_OPEN];
	int status = all && !job->interrupted ? STATUS_CLEAN : STATUS_FAULTS;
	status = bad ? bad : status;
	if (job->json)
		return json_value_print(all_json(job), status);
	if (!job->csv)
		printf("\n%" PRIu32 " within their tolerances, %" PRIu32 " outside, %" PRIu32
		       " undecided, %" PRIu32 " open%s\n",
		       verdicts[HD_VERDICT_WITHIN], verdicts[HD_VERDICT_OUTSIDE],
		       verdicts[HD_VERDICT_UNDECIDED], verdicts[HD_VERDICT_OPEN],
		       job->interrupted ? "; PARTIAL: the runs were ended early" : "");
	return status;
}

int reproduce_command(int argc, char **argv)
{
	struct reproduce_job job = {.html = NULL};

	return sim_arguments_run(&usage, &job.options, argc, argv, &job, run);
}
