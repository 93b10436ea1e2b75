/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_arguments.h"
#include "message.h"

#include <errno.h>
#include <stdlib.h>

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
