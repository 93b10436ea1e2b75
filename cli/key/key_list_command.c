/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle key list: the jobs of heddle-keyd, and the fabric for which it makes keys. */
#include "commands.h"
#include "json_value.h"
#include "key_service.h"
#include "key_without.h"
#include "shared_arguments.h"

#include <inttypes.h>
#include <stdio.h>

struct list_job {
	struct key_service service;
	bool json;
	struct hd_key_client *client;
	struct hd_key_client_jobs *jobs;
	struct hd_key_client_withouts *without;
	struct hd_key_client_fabric fabric;
};

static const struct argument arguments[] = {
    KEY_SERVICE_ARGUMENTS(struct list_job, service),
    SHARED_JSON(struct list_job, json),
};

static const struct usage usage = {
    .synopsis = "heddle key list [OPTION]...",
    .summary = "Lists the jobs that heddle-keyd has placed, and says for which fabric it makes "
	       "keys.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"the jobs are listed", NULL, "bad usage, or no answer"},
};

static json_t *job_json(const struct hd_key_client_listed *job)
{
	return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I}", "job", json_value_text(job->job),
			 "state", json_value_text(job->state), "mode", json_value_text(job->mode),
			 "uid", (json_int_t)job->uid, "hosts", (json_int_t)job->hosts,
			 "active_phases", (json_int_t)job->active_count);
}

static json_t *fabric_json(const struct hd_key_client_fabric *fabric)
{
	return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "state",
			 json_value_text(fabric->state), "reason", json_value_text(fabric->reason),
			 "engine", json_value_text(fabric->engine), "epoch",
			 (json_int_t)fabric->epoch, "switches", (json_int_t)fabric->switches,
			 "hosts", (json_int_t)fabric->hosts, "lmc", (json_int_t)fabric->lmc);
}

static int show_json(const struct list_job *job)
{
	json_t *list = json_array();

	for (size_t i = 0; i < job->jobs->count; i++)
		list = json_value_append(list, job_json(&job->jobs->jobs[i]));
	return json_value_print(json_pack("{s:o, s:o, s:o}", "fabric", fabric_json(&job->fabric),
					  "jobs", list, "without_key",
					  key_without_json(job->without)),
				STATUS_CLEAN);
}

static int show(const struct list_job *job)
{
	printf("fabric: %s", job->fabric.state);
	if (*job->fabric.reason)
		printf(" (%s)", job->fabric.reason);
	if (job->fabric.hosts)
		printf("%s%s, %" PRIu32 " switches, %" PRIu32 " hosts, LMC %" PRIu32,
		       *job->fabric.engine ? ", engine " : "", job->fabric.engine,
		       job->fabric.switches, job->fabric.hosts, job->fabric.lmc);
	putchar('\n');
	if (!job->jobs->count) {
		puts("no jobs");
		return STATUS_CLEAN;
	}
	printf("\n%-20s %-10s %10s %8s %-8s %s\n", "JOB", "STATE", "UID", "HOSTS", "MODE",
	       "ACTIVE PHASES");
	for (size_t i = 0; i < job->jobs->count; i++) {
		const struct hd_key_client_listed *one = &job->jobs->jobs[i];
		printf("%-20s %-10s %10" PRId64 " %8" PRIu32 " %-8s %" PRIu32 "\n", one->job,
		       one->state, one->uid, one->hosts, one->mode, one->active_count);
	}
	key_without_print(job->without);
	return STATUS_CLEAN;
}

static int run(void *context, const struct operands *operands)
{
	struct list_job *job = context;
	struct hd_key_client_problem problem;
	int status = arguments_expect(&usage, operands, "no operand", 0, 0);

	if (!status)
		status = key_service_open(&job->service, &job->client);
	if (status)
		return status;
	if (hd_key_client_fabric(job->client, &job->fabric, &problem) ||
	    hd_key_client_jobs(job->client, &job->jobs, &problem) ||
	    hd_key_client_without_keys(job->client, &job->without, &problem))
		return key_service_fail(&problem);
	return job->json ? show_json(job) : show(job);
}

int key_list(int argc, char **argv)
{
	struct list_job job = {.json = false};
	int status = arguments_run(&usage, argc, argv, &job, run);

	hd_key_client_jobs_free(job.jobs);
	hd_key_client_without_keys_free(job.without);
	hd_key_client_free(job.client);
	return status;
}
