/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload_frame.h"
#include "command.h"

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
	enum cli_parsed parsed = cli_parse(command->usage, argc, argv, take, &parsing, &operands);

	if (parsed != CLI_PARSED)
		return parsed == CLI_REFUSED ? CLI_BAD : CLI_CLEAN;
	if (workload->list)
		return workload_list(workload->json);
	return command->run(workload, argc - operands, argv + operands);
}

int workload_command_run(const struct workload_command *command, void *job, int argc, char **argv)
{
	struct cli_processes processes;
	struct workload *workload = job;
	int status = CLI_BAD;

	if (!cli_processes_begin(&processes))
		return CLI_BAD;
	if (workload_init(workload, &processes)) {
		workload->count = command->count;
		status = parse_and_run(command, workload, argc, argv);
	}
	command->release(job);
	workload_release(workload);
	cli_processes_end(&processes);
	return status;
}
