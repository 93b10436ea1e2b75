/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_arguments.h"
#include "message.h"
#include "progress.h"

#include <errno.h>
#include <stdlib.h>

/* ---- a case ---- */

/* One scenario from file to figures, for both commands. */

int sim_case_read(struct sim_case *one, const struct sim_options *options, const char *path,
		  struct hd_error *err)
{
	int rc = hd_scenario_read(path, &one->scenario, err);

	if (!rc && options->quick)
		rc = hd_scenario_quicken(one->scenario, err);
	return rc;
}

int sim_case_assign(struct sim_case *one, const struct sim_options *options, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < options->assignments.count; i++)
		rc = hd_scenario_set(one->scenario, options->assignments.items[i], err);
	return rc;
}

int sim_case_run(struct sim_case *one, const struct sim_options *options, struct hd_error *err)
{
	const struct hd_log log = message_log(options->verbose);
	const struct hd_scenario_request request = {.seed = options->seed,
						    .seed_given = options->seed_given,
						    .threads = options->threads,
						    .log = &log};

	progress_begin("%s: tables and paths", one->name);
	int rc = hd_scenario_prepare(one->scenario, &request, &one->runs, err);
	progress_end();
	if (!processes_ready(options->processes, !rc))
		return rc ? rc : hd_error_set(err, -EIO, "another process failed");
	one->job = (struct sim_runs){.runs = one->runs,
				     .title = one->name,
				     .state = options->state,
				     .processes = options->processes,
				     .threads = options->threads};
	rc = sim_runs_do(&one->job, err);
	return rc ? rc : sim_view_make(&one->job, &one->view, err);
}

void sim_case_release(struct sim_case *one)
{
	sim_view_release(&one->view);
	if (one->runs)
		sim_runs_release(&one->job);
	hd_scenario_runs_free(one->runs);
	hd_scenario_free(one->scenario);
}

/* ---- arguments ---- */

int sim_arguments_take_word(const struct typed *typed, void *place)
{
	struct sim_words *words = place;
	const char **items = realloc(words->items, (words->count + 1u) * sizeof(*items));

	if (!items)
		return message_no_memory();
	words->items = items;
	items[words->count++] = typed->text;
	return 0;
}

int sim_arguments_take_seed(const struct typed *typed, void *place)
{
	struct sim_options *options = place;
	char *end;

	errno = 0;
	options->seed = strtoull(typed->text, &end, 10);
	options->seed_given = true;
	if (end != typed->text && !*end && !errno && *typed->text != '-')
		return 0;
	return message_error("option '--seed': '%s' is no whole number", typed->text);
}

int sim_arguments_run(const struct usage *usage, struct sim_options *options, int argc, char **argv,
		      void *job, arguments_run_fn *run)
{
	struct processes processes;

	if (!processes_begin(&processes))
		return STATUS_BAD;
	options->processes = &processes;
	options->seed = 1;
	options->threads = processes_threads(&processes);
	int status = arguments_run(usage, argc, argv, job, run);
	free(options->assignments.items);
	processes_end(&processes);
	return status;
}
