/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle metrics: the figures of a running OpenSM, for Prometheus. */
#include "commands.h"
#include "message.h"
#include "plugin_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct metrics_job {
	struct plugin_address address;
};

static const struct argument arguments[] = {PLUGIN_ARGUMENTS(struct metrics_job, address)};

static const struct usage usage = {
    .synopsis = "heddle metrics [OPTION]...",
    .summary = "Asks the plugin in a running OpenSM for its figures, and prints them in the text "
	       "format of Prometheus.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"the figures are printed", NULL, "bad usage, or no answer"},
};

static int run(void *context, const struct operands *operands)
{
	const struct metrics_job *job = context;
	int status = arguments_expect(&usage, operands, "no operand", 0, 0);
	struct hd_error err;
	char *text;

	if (status)
		return status;
	if (plugin_answer_get(&job->address, "metrics", &text, &err))
		return message_fail(&err);
	/* The last line shows that nothing is missing. */
	static const char end[] = "\n# EOF\n";
	size_t length = strlen(text);
	if (length >= sizeof(end) && !strcmp(text + length - (sizeof(end) - 1), end))
		fputs(text, stdout);
	else
		status =
		    message_error("%s: the answer is not complete",
				  job->address.socket ? job->address.socket : HD_STATUS_SOCKET);
	free(text);
	return status;
}

int metrics_command(int argc, char **argv)
{
	struct metrics_job job = {.address = {0}};

	return arguments_run(&usage, argc, argv, &job, run);
}
