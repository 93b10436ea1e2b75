/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle config check: validates a whole heddle.conf by the tables of all programs that read it. */
#include "commands.h"
#include "config_faults.h"
#include "json_value.h"
#include "message.h"
#include "shared_arguments.h"

#include <stdio.h>

struct config_job {
	bool json;
	const char *path;
	struct config_faults found;
};

static const struct argument arguments[] = {
    SHARED_JSON(struct config_job, json),
};

static const struct usage usage = {
    .synopsis = "heddle config check [--json] [FILE]",
    .summary = "Validates a heddle.conf as OpenSM's plugin, heddle-keyd and heddle-router do, and "
	       "lists all faults.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "FILE: default " HD_CONFIG_PATH "; -: standard input; a pipe is read, too.",
    .statuses = {"no fault", "the file has faults", "bad usage, or the file cannot be read"},
};

static void print(const struct config_job *job)
{
	json_t *fault;
	size_t i;

	json_array_foreach(job->found.list, i, fault)
	{
		const json_t *line = json_object_get(fault, "line");
		printf("%s:", job->path);
		if (line)
			printf("%d:", (int)json_integer_value(line));
		printf(" %s\n", json_string_value(json_object_get(fault, "reason")));
	}
	if (!job->found.count)
		printf("%s: no fault\n", job->path);
}

static int show(struct config_job *job)
{
	const int status = job->found.count ? STATUS_FAULTS : STATUS_CLEAN;

	if (!job->json) {
		print(job);
		return status;
	}
	return json_value_print(json_pack("{s:o?, s:b, s:O}", "file", json_value_text(job->path),
					  "clean", job->found.count == 0, "faults",
					  job->found.list),
				status);
}

static int run(void *context, const struct operands *operands)
{
	struct config_job *job = context;
	int status = arguments_expect(&usage, operands, "at most one FILE", 0, 1);
	struct hd_error err;

	if (status)
		return status;
	job->path = operands->count ? operands->items[0] : HD_CONFIG_PATH;
	return config_faults_find(&job->found, job->path, true, &err) ? message_fail(&err)
								      : show(job);
}

int config_check(int argc, char **argv)
{
	struct config_job job = {.json = false};
	int status = arguments_run(&usage, argc, argv, &job, run);

	config_faults_release(&job.found);
	return status;
}
