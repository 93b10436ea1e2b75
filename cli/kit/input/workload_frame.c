/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload_frame.h"
#include "catalogue.h"
#include "csv.h"
#include "json_value.h"

static int list_patterns(bool json)
{
	if (json)
		return json_value_print(catalogue_json(&catalogue_patterns, NULL), STATUS_CLEAN);
	catalogue_print(&catalogue_patterns, NULL);
	return STATUS_CLEAN;
}

static int run_command(void *job, const struct operands *operands)
{
	struct workload *workload = job;

	if (csv_refuse(workload->csv, workload->json))
		return STATUS_BAD;
	if (workload->list)
		return list_patterns(workload->json);
	workload->count_given = workload->count > 0;
	if (!workload->count_given)
		workload->count = workload->command->count;
	return workload->command->run(job, operands);
}

int workload_frame_run(const struct workload_command *command, void *job, int argc, char **argv)
{
	struct processes processes;
	struct workload *workload = job;

	if (!processes_begin(&processes))
		return STATUS_BAD;
	int status = workload_init(workload, &processes);
	if (!status) {
		workload->command = command;
		status = arguments_run(command->usage, argc, argv, job, run_command);
	}
	command->release(job);
	workload_release(workload);
	processes_end(&processes);
	return status;
}
