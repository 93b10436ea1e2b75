/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle key request, heddle key done, heddle key release: a phase of an application begins and
 * ends; a job has ended. */
#include "commands.h"
#include "json_value.h"
#include "key_service.h"
#include "message.h"
#include "need.h"
#include "shared_arguments.h"

#include <heddle/keyd/key_pattern.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* heddle key request, heddle key done: a phase of an application begins and ends. */

struct phase_job {
	struct key_service service;
	const char *job, *step;
	uint32_t phase, rank; /* rank UINT32_MAX: unknown */
	bool json, quiet;
	struct hd_key_client *client;
};

#define PHASE_ARGUMENTS                                                                            \
	KEY_SERVICE_JOB(struct phase_job, job),                                                    \
	    {0, "step", "ID", "the step of the job (default: $HEDDLE_STEP, then 0)",               \
	     ARGUMENT_TEXT(struct phase_job, step)},                                               \
	    {'n', "phase", "N", "the phase (default 0)",                                           \
	     ARGUMENT_NUMBER(struct phase_job, phase, 0, UINT32_MAX)},                             \
	    KEY_SERVICE_ARGUMENTS(struct phase_job, service)

static const struct argument request_arguments[] = {
    PHASE_ARGUMENTS,
    {0, "rank", "N", "the rank that asks, for its LID offset",
     ARGUMENT_NUMBER(struct phase_job, rank, 0, HD_KEY_RANKS_MAX - 1)},
    {'q', "quiet", NULL, "print only the LID offset", ARGUMENT_FLAG(struct phase_job, quiet)},
    SHARED_JSON(struct phase_job, json),
};

static const struct argument done_arguments[] = {
    PHASE_ARGUMENTS,
    SHARED_JSON(struct phase_job, json),
};

static const struct usage request_usage = {
    .synopsis = "heddle key request [OPTION]...",
    .summary = "Asks heddle-keyd for the key of a phase that begins. The command ends when the "
	       "switches\nhave it.",
    .arguments = request_arguments,
    .count = sizeof(request_arguments) / sizeof(request_arguments[0]),
    .statuses = {"the key is in force", "the job has no key now, and uses LID offset 0",
		 "bad usage, or no answer"},
};

static const struct usage done_usage = {
    .synopsis = "heddle key done [OPTION]...",
    .summary = "Tells heddle-keyd that a phase has ended.",
    .arguments = done_arguments,
    .count = sizeof(done_arguments) / sizeof(done_arguments[0]),
    .statuses = {"heddle-keyd has noted it", NULL, "bad usage, or no answer"},
};

/* Fills in what the environment says, and makes the client. */
static int prepare(struct phase_job *job, const struct usage *usage,
		   const struct operands *operands)
{
	int status = arguments_expect(usage, operands, "no operand", 0, 0);

	if (!status)
		status = key_service_job(&job->job);
	if (!job->step)
		job->step = getenv("HEDDLE_STEP");
	if (!job->step)
		job->step = "0";
	return status ? status : key_service_open(&job->service, &job->client);
}

static json_t *grant_json(const struct phase_job *job, const struct hd_key_client_grant *grant)
{
	size_t count;
	const struct hd_key_client_path *paths = hd_key_client_granted_paths(job->client, &count);

	return json_pack("{s:o, s:I, s:I, s:I, s:o, s:I, s:b, s:I, s:I, s:I, s:o}", "key",
			 json_value_text(grant->key), "phase", (json_int_t)grant->phase, "offset",
			 (json_int_t)grant->offset, "offsets", (json_int_t)grant->offsets, "paths",
			 key_service_paths(paths, count), "sl", (json_int_t)grant->sl, "ready",
			 (int)grant->ready, "contention", (json_int_t)grant->contention, "blocks",
			 (json_int_t)grant->blocks, "changed", (json_int_t)grant->changed, "reason",
			 json_value_text(grant->reason));
}

static int run_request(void *context, const struct operands *operands)
{
	struct phase_job *job = context;
	struct hd_key_client_problem problem;
	struct hd_key_client_grant grant;
	int status = prepare(job, &request_usage, operands);

	if (status)
		return status;
	if (job->rank != UINT32_MAX)
		hd_key_client_use_rank(job->client, job->rank);
	if (hd_key_client_request(job->client, job->job, job->step, job->phase, &grant, &problem))
		return key_service_fail(&problem);
	status = grant.ready ? STATUS_CLEAN : STATUS_FAULTS;
	if (job->json)
		return json_value_print(grant_json(job, &grant), status);
	if (!grant.ready)
		message_error("phase %" PRIu32 " has no key in force: %s", grant.phase,
			      grant.reason);
	if (job->quiet)
		printf("%" PRIu32 "\n", grant.ready ? grant.offset : 0);
	else if (grant.ready) {
		char offsets[48] = "";
		if (grant.offsets > 1)
			snprintf(offsets, sizeof(offsets), " (the phase has %" PRIu32 ")",
				 grant.offsets);
		printf("key %s is in force: LID offset %" PRIu32 "%s, service level %" PRIu32
		       ", at most %" PRIu32 " of its flows on a link; %" PRIu32
		       " entries changed\n",
		       grant.key, grant.offset, offsets, grant.sl, grant.contention, grant.changed);
		/* The flows of the rank that do not use the offset of the grant. */
		size_t count;
		const struct hd_key_client_path *paths =
		    hd_key_client_granted_paths(job->client, &count);
		for (size_t i = 0; i < count; i++)
			printf("to rank %" PRIu32 ": LID offset %" PRIu32 "\n",
			       paths[i].destination, paths[i].offset);
		if (*grant.reason)
			printf("not all of its flows have links of their own: %s\n", grant.reason);
	}
	return status;
}

static int run_done(void *context, const struct operands *operands)
{
	struct phase_job *job = context;
	struct hd_key_client_problem problem;
	int status = prepare(job, &done_usage, operands);

	if (status)
		return status;
	if (hd_key_client_done(job->client, job->job, job->step, job->phase, &problem))
		return key_service_fail(&problem);
	if (job->json)
		return json_value_print(json_pack("{s:I}", "phase", (json_int_t)job->phase),
					STATUS_CLEAN);
	printf("phase %" PRIu32 " of job %s has ended\n", job->phase, job->job);
	return STATUS_CLEAN;
}

int key_request(int argc, char **argv)
{
	struct phase_job job = {.rank = UINT32_MAX};
	int status = arguments_run(&request_usage, argc, argv, &job, run_request);

	hd_key_client_free(job.client);
	return status;
}

int key_done(int argc, char **argv)
{
	struct phase_job job = {.json = false};
	int status = arguments_run(&done_usage, argc, argv, &job, run_done);

	hd_key_client_free(job.client);
	return status;
}

/* heddle key release: a job has ended. */

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

	if (epilog)
		need_end = key_slurm_no_memory;
	int status = arguments_run(&usage, argc, argv, &job, run);

	hd_key_client_free(job.client);
	return epilog ? STATUS_CLEAN : status;
}
