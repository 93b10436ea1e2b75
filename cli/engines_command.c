/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle engines: what there is to route with. */
#include "arguments.h"
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "option_json.h"
#include "status.h"
#include "table_source.h"

#include <heddle/engines.h>
#include <stdio.h>

static const struct argument arguments[] = {
    {0, "json", NULL, "print JSON"},
    {0, "names", NULL, "only names, of engines or of ENGINE's options, for scripts"},
};

enum { JSON, NAMES };

static const struct usage usage = {
    .synopsis = "heddle engines [--json|--names] [ENGINE]",
    .summary = "Lists the routing engines, or one of them, with their options.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
};

struct engines_job {
	bool json, names;
	const struct hd_engine *const *engines;
	unsigned count;
	const struct hd_engine *only;
};

static int take(void *context, unsigned row, const char *value)
{
	struct engines_job *job = context;

	(void)value;
	job->json |= row == JSON;
	job->names |= row == NAMES;
	return 0;
}

static void print_engines(const struct engines_job *job)
{
	for (unsigned i = 0; i < job->count; i++) {
		const struct hd_engine *engine = job->engines[i];
		printf("%s%-10s%s\n", i ? "\n" : "", engine->name, engine->summary);
		arguments_print_options("  -O ", engine->options, engine->option_count);
	}
}

static void print_names(const struct engines_job *job)
{
	if (job->only)
		for (unsigned i = 0; i < job->only->option_count; i++)
			puts(job->only->options[i].name);
	else
		for (unsigned i = 0; i < job->count; i++)
			puts(job->engines[i]->name);
}

static json_t *engines_json(const struct engines_job *job)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < job->count; i++) {
		const struct hd_engine *engine = job->engines[i];
		list = json_value_append(list, option_json_described(engine->name, engine->summary,
								     engine->options,
								     engine->option_count));
	}
	return list;
}

int engines_command(int argc, char **argv)
{
	struct engines_job job = {.json = false};
	int operands;

	job.engines = hd_engines(&job.count);
	enum arguments_parsed parsed = arguments_parse(&usage, argc, argv, take, &job, &operands);
	if (parsed != ARGUMENTS_PARSED)
		return parsed == ARGUMENTS_REFUSED ? STATUS_BAD : STATUS_CLEAN;
	if (argc - operands > 1)
		return message_error("'%s' is one argument too many", argv[operands + 1]);
	if (operands < argc) {
		job.only = table_source_find_engine(argv[operands]);
		if (!job.only)
			return STATUS_BAD;
		job.engines = &job.only;
		job.count = 1;
	}
	if (job.json)
		return json_value_print(engines_json(&job), STATUS_CLEAN);
	if (job.names)
		print_names(&job);
	else
		print_engines(&job);
	return STATUS_CLEAN;
}
