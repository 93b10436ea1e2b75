/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_arguments.h"
#include "catalogue.h"
#include "interrupt.h"
#include "message.h"
#include "need.h"
#include "progress.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".ini"

/* The folder: $HEDDLE_SCENARIOS, or that of the installation (catalogue_shipped_path()). For one thread. */
static const char *sim_folder(void)
{
	static char shipped[PATH_MAX];
	const char *folder = getenv("HEDDLE_SCENARIOS");

	if (folder && *folder)
		return folder;
	if (!*shipped)
		catalogue_shipped_path("scenarios", shipped, sizeof(shipped));
	return shipped;
}

static bool has_ending(const char *name)
{
	size_t length = strlen(name), tail = strlen(ENDING);

	return length > tail && !strcmp(name + length - tail, ENDING);
}

/* Why nothing of that name is there: no scenarios at all, or none of that name. */
static int not_there(const char *name, struct hd_error *err)
{
	if (access(sim_folder(), F_OK))
		return hd_error_set(
		    err, -ENOENT,
		    "%s: no such folder, but the scenarios of heddle should be there; "
		    "set HEDDLE_SCENARIOS to the folder that has them",
		    sim_folder());
	return hd_error_set(err, -ENOENT,
			    "'%s' is no file, and %s has no such scenario or experiment; 'heddle "
			    "reproduce --list' shows them",
			    name, sim_folder());
}

int sim_folder_find(const char *text, char **path, struct hd_error *err)
{
	bool given = has_ending(text) || !access(text, F_OK);

	if (given)
		*path = need(strdup(text));
	else
		*path = need_format("%s/%s" ENDING, sim_folder(), text);
	if (given || !access(*path, F_OK))
		return 0;
	free(*path);
	*path = NULL;
	return not_there(text, err);
}

static bool is_folder(const char *folder, const char *name)
{
	char path[4096];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

static int ascending(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add(struct sim_folder_list *list, const char *name, size_t length)
{
	list->names = need(realloc(list->names, (list->count + 1u) * sizeof(*list->names)));
	list->names[list->count++] = need(strndup(name, length));
}

#define QUESTIONS "questions" /* a folder that is no experiment */

/* Scenarios of an experiment, or with NULL all experiments. */
static int read_folder(const char *experiment, const char *folder, struct sim_folder_list *list,
		       struct hd_error *err)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;

	*list = (struct sim_folder_list){.count = 0};
	if (!stream && errno == ENOENT)
		return not_there(experiment, err);
	if (!stream)
		return hd_error_set(err, -errno, "%s: %s", folder, strerror(errno));
	while ((entry = readdir(stream)) != NULL) {
		const char *name = entry->d_name;
		if (*name == '.')
			continue;
		if (!experiment && strcmp(name, QUESTIONS) != 0 && is_folder(folder, name))
			add(list, name, strlen(name));
		else if (experiment && has_ending(name))
			add(list, name, strlen(name) - strlen(ENDING));
	}
	closedir(stream);
	if (list->count)
		qsort(list->names, list->count, sizeof(*list->names), ascending);
	return 0;
}

int sim_folder_experiments(struct sim_folder_list *list, struct hd_error *err)
{
	return read_folder(NULL, sim_folder(), list, err);
}

int sim_folder_scenarios(const char *experiment, struct sim_folder_list *list, struct hd_error *err)
{
	char folder[2 * PATH_MAX];

	snprintf(folder, sizeof(folder), "%s/%s", sim_folder(), experiment);
	return read_folder(experiment, folder, list, err);
}

void sim_folder_release(struct sim_folder_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct sim_folder_list){.count = 0};
}

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
						    .counters = options->counters,
						    .log = &log,
						    .go_on = interrupt_go_on};

	progress_begin("%s: tables and paths", one->name);
	int rc = hd_scenario_prepare(one->scenario, &request, &one->runs, err);
	progress_end();
	rc = processes_agree(options->processes, rc, err);
	if (rc)
		return rc;
	if (options->counters && one->runs->count != 1)
		return hd_error_set(err, -EINVAL,
				    "option '--counters' needs one run, this scenario has %u: "
				    "choose a point with -O, "
				    "or one kind of tables",
				    one->runs->count);
	one->job = (struct sim_runs){.runs = one->runs,
				     .title = one->name,
				     .state = options->state,
				     .processes = options->processes,
				     .threads = options->threads};
	interrupt_catch(); /* before the first run there is nothing to report, so a signal ended all */
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

int sim_arguments_take_word(const struct typed *typed, void *place)
{
	struct sim_words *words = place;

	words->items = need(realloc(words->items, (words->count + 1u) * sizeof(*words->items)));
	words->items[words->count++] = typed->text;
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
	options->threads = processes.threads;
	int status = arguments_run(usage, argc, argv, job, run);
	free(options->assignments.items);
	processes_end(&processes);
	return status;
}
