/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload_frame.h"
#include "status.h"

struct parsing {
	const struct workload_command *command;
	struct workload *workload;
};

static int take(void *context, unsigned row, const char *value)
{
	const struct parsing *parsing = context;

	if (row >= WORKLOAD_ROWS)
		return parsing->command->take(parsing->workload, row, value);
	return workload_take(parsing->workload, &parsing->command->usage->arguments[row], row,
			     value);
}

static int parse_and_run(const struct workload_command *command, struct workload *workload,
			 int argc, char **argv)
{
	struct parsing parsing = {command, workload};
	int operands;
	enum arguments_parsed parsed =
	    arguments_parse(command->usage, argc, argv, take, &parsing, &operands);

	if (parsed != ARGUMENTS_PARSED)
		return parsed == ARGUMENTS_REFUSED ? STATUS_BAD : STATUS_CLEAN;
	if (workload->list)
		return workload_list(workload->json);
	return command->run(workload, argc - operands, argv + operands);
}

int workload_frame_run(const struct workload_command *command, void *job, int argc, char **argv)
{
	struct processes processes;
	struct workload *workload = job;
	int status = STATUS_BAD;

	if (!processes_begin(&processes))
		return STATUS_BAD;
	if (workload_init(workload, &processes)) {
		workload->count = command->count;
		status = parse_and_run(command, workload, argc, argv);
	}
	command->release(job);
	workload_release(workload);
	processes_end(&processes);
	return status;
}
