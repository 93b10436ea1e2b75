/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle engines: the routing engines and their options. */
#include "catalogue.h"
#include "commands.h"
#include "engine_facts.h"
#include "json_value.h"
#include "shared_arguments.h"

struct engines_job {
	bool json, names;
};

static const struct argument arguments[] = {
    SHARED_JSON(struct engines_job, json),
    {0, "names", NULL, "print only names, of engines or of ENGINE's options, for scripts",
     ARGUMENT_FLAG(struct engines_job, names)},
};

static const struct usage usage = {
    .synopsis = "heddle engines [--json|--names] [ENGINE]",
    .summary = "Lists the routing engines, or one of them, with their options.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "Commands that compute tables take -e ENGINE[:KEY=VALUE,...].",
    .statuses = {"done", NULL, "bad usage, or there is no such engine"},
};

static int run(void *context, const struct operands *operands)
{
	const struct engines_job *job = context;
	struct catalogue_entry entry, *only = operands->count ? &entry : NULL;
	int status = arguments_expect(&usage, operands, "at most one ENGINE", 0, 1);

	if (!status && only)
		status = catalogue_find(&catalogue_engines, operands->items[0], only);
	if (status)
		return status;
	if (job->json)
		return json_value_print(engine_facts_add(catalogue_json(&catalogue_engines, only)),
					STATUS_CLEAN);
	if (job->names)
		catalogue_print_names(&catalogue_engines, only);
	else
		catalogue_print(&catalogue_engines, only);
	return STATUS_CLEAN;
}

int engines_command(int argc, char **argv)
{
	struct engines_job job = {.json = false};

	return arguments_run(&usage, argc, argv, &job, run);
}
