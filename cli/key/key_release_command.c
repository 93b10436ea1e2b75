/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle key release: a job has ended. */
#include "commands.h"
#include "json_value.h"
#include "key_service.h"
#include "key_slurm.h"
#include "shared_arguments.h"

#include <stdio.h>

struct release_job {
	struct key_service service;
	const char *job;
	bool json, epilog;
	struct hd_key_client *client;
};

static const struct argument arguments[] = {
    KEY_SERVICE_JOB(struct release_job, job),
    {0, "slurm-epilog", NULL,
     "take the job from the environment of EpilogSlurmctld, and succeed always",
     ARGUMENT_FLAG(struct release_job, epilog)},
    KEY_SERVICE_ARGUMENTS(struct release_job, service),
    SHARED_JSON(struct release_job, json),
};

static const struct usage usage = {
    .synopsis = "heddle key release [OPTION]... --job ID",
    .summary = "Ends a job: heddle-keyd takes its keys out of the switches. For job schedulers.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"the job has ended, or --slurm-epilog is given", NULL, "bad usage, or no answer"},
};

static int release(struct release_job *job)
{
	struct hd_key_client_problem problem;
	int status = key_service_open(&job->service, &job->client);

	if (status)
		return status;
	if (hd_key_client_release(job->client, job->job, &problem))
		return key_service_fail(&problem);
	if (job->json)
		return json_value_print(json_pack("{s:o}", "job", json_value_text(job->job)),
					STATUS_CLEAN);
	printf("job %s is released\n", job->job);
	return STATUS_CLEAN;
}

/* A job that keyd does not know has had no key: the prolog has said why. */
static void release_for_slurm(struct release_job *job)
{
	struct hd_key_client_problem problem;
	struct key_slurm_job slurm;

	if (!job->service.timeout_ms)
		job->service.timeout_ms = KEY_SERVICE_TIMEOUT_MS;
	key_slurm_limit(job->service.timeout_ms);
	job->service.timeout_ms -= job->service.timeout_ms / 10; /* so that there is time to log */
	if (!key_slurm_job(&slurm))
		return;
	if (!slurm.id) {
		key_slurm_log("SLURM_JOB_ID is not set: is this the epilog of slurmctld?");
		return;
	}
	if (key_service_open(&job->service, &job->client))
		return;
	if (hd_key_client_release(job->client, slurm.id, &problem) && problem.status != 404)
		key_slurm_log("job %s has ended, and its routing keys stay: %s; when heddle-keyd "
			      "runs again, run: heddle key release --job %s",
			      slurm.id, problem.detail, slurm.id);
}

static int run(void *context, const struct operands *operands)
{
	struct release_job *job = context;
	int status = arguments_expect(&usage, operands, "no operand", 0, 0);

	if (status)
		return status;
	if (job->epilog) {
		release_for_slurm(job);
		return STATUS_CLEAN;
	}
	status = key_service_job(&job->job);
	return status ? status : release(job);
}

int key_release(int argc, char **argv)
{
	bool epilog = key_slurm_asked(argc, argv, "--slurm-epilog");
	struct release_job job = {.json = false};
	int status = arguments_run(&usage, argc, argv, &job, run);

	hd_key_client_free(job.client);
	return epilog ? STATUS_CLEAN : status;
}
