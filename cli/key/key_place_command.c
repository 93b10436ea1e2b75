/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle key place: heddle-keyd makes the keys of a job. */
#include "commands.h"
#include "json_value.h"
#include "key_hosts.h"
#include "key_propose.h"
#include "key_service.h"
#include "key_traffic.h"
#include "message.h"
#include "need.h"
#include "shared_arguments.h"

#include <errno.h>
#include <heddle/base/error.h>
#include <heddle/keyd_client.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct place_job {
	struct key_service service;
	const char *job, *list, *file, *pattern;
	uint32_t ranks, keys;
	int64_t uid; /* -1: the caller */
	enum { MODE_REWRITE, MODE_OFFSET, MODE_ALTERNATE } mode;
	bool strict, json, prolog;
	struct key_slurm_job slurm; /* if prolog is true */
	struct key_propose choose;
	struct key_hosts hosts;
	struct key_traffic traffic;
	struct hd_key_client *client;
	struct hd_key_client_job *placed;
};

static const struct argument arguments[] = {
    KEY_SERVICE_JOB(struct place_job, job),
    {'w', "nodelist", "LIST", "the hosts in the order of the ranks, such as node[1-8,11],login",
     ARGUMENT_TEXT(struct place_job, list)},
    {0, "hosts", "FILE", "the same from a file, with a host or such a list on each line",
     ARGUMENT_TEXT(struct place_job, file)},
    {'p', "pattern", "NAME[:ARGUMENTS]",
     "which ranks send to which, phase by phase (see heddle key make --patterns)",
     ARGUMENT_TEXT(struct place_job, pattern)},
    {'r', "ranks", "N", "the number of ranks, evenly on the hosts (default: one on each)",
     ARGUMENT_NUMBER(struct place_job, ranks, 1, HD_KEY_RANKS_MAX)},
    {'u', "uid", "UID", "the user who may request the keys (default: the caller)",
     ARGUMENT_NUMBER(struct place_job, uid, 0, UINT32_MAX - 1)},
    {'m', "mode", "rewrite|offset|alternate",
     "one LID offset for the job, whose routes change with its phase (default), one for each "
     "phase, or two, between which phases change places",
     ARGUMENT_CHOICE(struct place_job, mode)},
    {'k', "keys", "N", "fail if the job needs more than N LID offsets",
     ARGUMENT_NUMBER(struct place_job, keys, 1, 127)},
    {0, "strict", NULL, "fail if flows of a phase must share a link",
     ARGUMENT_FLAG(struct place_job, strict)},
    {0, "slurm-prolog", NULL,
     "take job, hosts, pattern and user from the environment of PrologSlurmctld, and succeed "
     "always",
     ARGUMENT_FLAG(struct place_job, prolog)},
    KEY_SERVICE_ARGUMENTS(struct place_job, service),
    KEY_PROPOSE_ARGUMENTS(struct place_job, choose),
    SHARED_JSON(struct place_job, json),
};

static const struct usage usage = {
    .synopsis =
	"heddle key place [OPTION]... -j ID -w LIST -p NAME[:ARGUMENTS]\n"
	"       heddle key place --choose N --free FILE -p NAME[:ARGUMENTS] FABRIC [TABLES]...\n"
	"       heddle key place --reorder FILE -p NAME[:ARGUMENTS] FABRIC [TABLES]...",
    .summary = "Places a job: heddle-keyd makes the routing keys for the traffic between its "
	       "hosts. For job\nschedulers. With --choose or --reorder it proposes hosts and an "
	       "order of ranks, offline.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"the job is placed, hosts are proposed, or --slurm-prolog is given", NULL,
		 "bad usage, or no keys"},
};

static json_t *key_json(const struct hd_key_client_key *key)
{
	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "key",
			 json_value_text(key->key), "phase", (json_int_t)key->phase, "offset",
			 (json_int_t)key->offset, "offsets", (json_int_t)key->offsets, "flows",
			 (json_int_t)key->flows, "contention", (json_int_t)key->contention,
			 "demand", (json_int_t)key->demand, "usable", (json_int_t)key->usable,
			 "paths", key_service_paths(key->paths, key->path_count));
}

static int show(const struct place_job *job)
{
	const struct hd_key_client_job *placed = job->placed;

	if (job->json) {
		json_t *keys = json_array();
		for (size_t i = 0; i < placed->key_count; i++)
			keys = json_value_append(keys, key_json(&placed->keys[i]));
		json_t *ranks = json_array();
		for (size_t i = 0; i < placed->rank_offset_count; i++)
			ranks = json_value_append(
			    ranks, json_pack("[I,I]", (json_int_t)placed->rank_offsets[i].rank,
					     (json_int_t)placed->rank_offsets[i].offset));
		return json_value_print(
		    json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "job",
			      json_value_text(placed->job), "state", json_value_text(placed->state),
			      "mode", json_value_text(placed->mode), "hosts",
			      (json_int_t)placed->hosts, "ranks", (json_int_t)placed->ranks,
			      "offset", (json_int_t)placed->offset, "offsets",
			      (json_int_t)placed->offsets, "lmc", (json_int_t)placed->lmc,
			      "rank_offsets", ranks, "keys", keys),
		    STATUS_CLEAN);
	}
	printf("job %s is placed: %" PRIu32 " ranks on %" PRIu32 " hosts, mode %s\n\n"
	       "%-20s %6s %8s %8s %7s %11s\n",
	       placed->job, placed->ranks, placed->hosts, placed->mode, "KEY", "PHASE", "OFFSET",
	       "OFFSETS", "FLOWS", "CONTENTION");
	for (size_t i = 0; i < placed->key_count; i++) {
		const struct hd_key_client_key *key = &placed->keys[i];
		printf("%-20s %6" PRIu32 " %8" PRIu32 " %8" PRIu32 " %7" PRIu32 " %11" PRIu32 "\n",
		       key->key, key->phase, key->offset, key->offsets, key->flows,
		       key->contention);
	}
	/* Which ranks, or which flows of a phase, do not use the first LID offset. */
	size_t paths = 0;
	for (size_t i = 0; i < placed->key_count; i++)
		paths += placed->keys[i].path_count;
	if (placed->rank_offset_count)
		printf("\n%6s %8s\n", "RANK", "OFFSET");
	for (size_t i = 0; i < placed->rank_offset_count; i++)
		printf("%6" PRIu32 " %8" PRIu32 "\n", placed->rank_offsets[i].rank,
		       placed->rank_offsets[i].offset);
	if (paths)
		printf("\n%6s %6s %6s %8s\n", "PHASE", "FROM", "TO", "OFFSET");
	for (size_t i = 0; i < placed->key_count; i++)
		for (size_t j = 0; j < placed->keys[i].path_count; j++)
			printf("%6" PRIu32 " %6" PRIu32 " %6" PRIu32 " %8" PRIu32 "\n",
			       placed->keys[i].phase, placed->keys[i].paths[j].source,
			       placed->keys[i].paths[j].destination,
			       placed->keys[i].paths[j].offset);
	return STATUS_CLEAN;
}

/* Reads hosts and traffic into a placement. */
static int prepare(struct place_job *job, struct hd_key_client_placement *placement,
		   struct hd_error *err)
{
	int rc = job->file ? key_hosts_read(job->file, &job->hosts, err)
			   : key_hosts_expand(job->list, &job->hosts, err);

	if (!rc && !job->hosts.count)
		rc = hd_error_set(err, -EINVAL, "the list of hosts is empty");
	if (rc)
		return rc;
	*placement = (struct hd_key_client_placement){
	    .hosts = (const char *const *)job->hosts.names,
	    .host_count = job->hosts.count,
	    .uid = job->uid,
	    .ranks = job->ranks,
	    .keys = job->keys,
	    .offset_mode = job->mode == MODE_OFFSET,
	    .alternate = job->mode == MODE_ALTERNATE,
	    .strict = job->strict,
	};
	return key_traffic_take(job->pattern, job->prolog ? &job->slurm : NULL, &job->traffic,
				placement, err);
}

static int place(struct place_job *job)
{
	struct hd_key_client_placement placement;
	struct hd_key_client_problem problem;
	struct hd_error err = {""};
	int status;

	if (!job->list == !job->file)
		return message_error("expected --nodelist LIST or --hosts FILE");
	if (!job->pattern)
		return message_error("no pattern given: use --pattern NAME");
	if (prepare(job, &placement, &err))
		return message_fail(&err);
	status = key_service_open(&job->service, &job->client);
	if (status)
		return status;
	if (hd_key_client_place(job->client, job->job, &placement, &job->placed, &problem))
		return key_service_fail(&problem);
	return show(job);
}

/* A job that Slurm has put back into the queue gets other hosts, and a placement of its first run is
 * of no use any more. The client waits for a fabric that is not known yet, or a keyd that starts again. */
static int place_afresh(struct place_job *job, const struct hd_key_client_placement *placement,
			struct hd_key_client_problem *problem)
{
	int rc = hd_key_client_place(job->client, job->job, placement, &job->placed, problem);

	if (rc != -EEXIST)
		return rc;
	rc = hd_key_client_release(job->client, job->job, problem);
	return rc ? rc
		  : hd_key_client_place(job->client, job->job, placement, &job->placed, problem);
}

/* As the prolog of slurmctld. */
static void place_for_slurm(struct place_job *job)
{
	struct hd_key_client_placement placement;
	struct hd_key_client_problem problem;
	struct hd_error err = {""};

	if (!job->service.timeout_ms)
		job->service.timeout_ms = KEY_SERVICE_TIMEOUT_MS;
	key_slurm_limit(job->service.timeout_ms);
	job->service.timeout_ms -= job->service.timeout_ms / 10; /* so that there is time to log */
	if (!key_slurm_job(&job->slurm))
		return;
	job->job = job->slurm.id;
	job->list = job->slurm.hosts;
	job->file = NULL;
	job->pattern = job->slurm.pattern;
	job->uid = job->slurm.uid;
	if (!job->job || !job->list) {
		key_slurm_log("SLURM_JOB_ID and SLURM_JOB_NODELIST are not set: is this the "
			      "prolog of slurmctld?");
		return;
	}
	if (prepare(job, &placement, &err)) {
		key_slurm_log("job %s runs without a routing key: %s", job->job, err.text);
		return;
	}
	if (key_service_open(&job->service, &job->client))
		return;
	if (place_afresh(job, &placement, &problem))
		key_slurm_log("job %s runs without a routing key: %s", job->job, problem.detail);
}

static int choose(struct place_job *job, const struct operands *operands)
{
	int status = arguments_expect(&usage, operands, "FABRIC", 1, operands->count);

	if (status)
		return status;
	if (job->list || job->file)
		return message_error("--nodelist and --hosts have no effect with --choose and "
				     "--reorder: use --free or --reorder");
	return key_propose_run(&job->choose, job->pattern, job->ranks, job->json, operands);
}

static int run(void *context, const struct operands *operands)
{
	struct place_job *job = context;

	if (key_propose_asked(&job->choose) && !job->prolog)
		return choose(job, operands);
	int status = arguments_expect(&usage, operands, "no operand", 0, 0);
	if (status)
		return status;
	if (job->prolog) {
		place_for_slurm(job);
		return STATUS_CLEAN;
	}
	status = key_service_job(&job->job);
	return status ? status : place(job);
}

int key_place(int argc, char **argv)
{
	bool prolog = key_slurm_asked(argc, argv, "--slurm-prolog");
	struct place_job job = {.uid = -1, .choose = KEY_PROPOSE_DEFAULT};

	if (prolog)
		need_end = key_slurm_no_memory;
	int status = arguments_run(&usage, argc, argv, &job, run);

	hd_key_client_job_free(job.placed);
	hd_key_client_free(job.client);
	key_traffic_release(&job.traffic);
	key_hosts_release(&job.hosts);
	key_propose_release(&job.choose);
	return prolog ? STATUS_CLEAN : status;
}
