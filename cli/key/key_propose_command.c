/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle key propose: heddle-keyd proposes hosts for a job. */
#include "commands.h"
#include "json_value.h"
#include "key_hosts.h"
#include "key_proposal.h"
#include "key_service.h"
#include "key_traffic.h"
#include "message.h"
#include "shared_arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define UNKNOWN_SHOWN 5u

struct propose_job {
	struct key_service service;
	struct key_proposal_hosts asked;
	uint32_t ranks;
	const char *pattern;
	struct key_proposal_files files;
	bool list, json;
	struct key_hosts hosts;
	struct key_traffic traffic;
	struct hd_key_client *client;
	struct hd_key_client_proposal *proposal;
};

static const struct argument arguments[] = {
    KEY_PROPOSAL_HOSTS(struct propose_job, asked),
    {'p', "pattern", "NAME[:ARGUMENTS]",
     "which ranks send to which, phase by phase (see heddle key make --patterns)",
     ARGUMENT_TEXT(struct propose_job, pattern)},
    {'r', "ranks", "N", "the number of ranks, evenly on the hosts (default: one on each)",
     ARGUMENT_NUMBER(struct propose_job, ranks, 1, HD_KEY_RANKS_MAX)},
    {'l', "list", NULL, "print only the hosts, between commas, as sbatch --nodelist takes them",
     ARGUMENT_FLAG(struct propose_job, list)},
    KEY_PROPOSAL_FILES(struct propose_job, files),
    KEY_SERVICE_ARGUMENTS(struct propose_job, service),
    SHARED_JSON(struct propose_job, json),
};

static const struct usage usage = {
    .synopsis = "heddle key propose [OPTION]... --choose N --free FILE -p NAME[:ARGUMENTS]\n"
		"       heddle key propose [OPTION]... --reorder FILE -p NAME[:ARGUMENTS]",
    .summary = "heddle-keyd proposes hosts for a job and an order of its ranks, by its fabric and "
	       "by the keys in\nforce. Nothing changes. heddle key place --choose does so offline.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"hosts are proposed", NULL, "bad usage, or no answer"},
};

static struct hd_key_worth worth_of(const struct hd_key_client_worth *worth)
{
	return (struct hd_key_worth){.lost = worth->lost,
				     .keys = worth->keys,
				     .contention = worth->contention,
				     .shared = worth->shared_links,
				     .leaves = worth->leaves,
				     .pods = worth->pods};
}

static int show_json(const struct key_proposal *shown,
		     const struct hd_key_client_proposal *proposal)
{
	json_t *json = key_proposal_json(shown), *unknown = json_array();

	for (size_t i = 0; i < proposal->unknown_count; i++)
		unknown = json_value_append(unknown, json_value_text(proposal->unknown[i]));
	if (json_object_set_new(json, "unknown", unknown) ||
	    json_object_set_new(json, "busy_links", json_integer(proposal->busy_links)) ||
	    json_object_set_new(json, "stopped", json_boolean(proposal->stopped))) {
		json_decref(json);
		json = NULL;
	}
	return json_value_print(json, STATUS_CLEAN);
}

static int check(const struct propose_job *job)
{
	const char *const inputs[] = {job->asked.free, job->asked.reorder};
	int status = key_proposal_check(&job->files, inputs, 2, job->json);

	if (status)
		return status;
	if (key_proposal_check_hosts(&job->asked, job->pattern))
		return STATUS_BAD;
	if (job->list && (job->json || key_proposal_takes_output(&job->files)))
		return message_error("--list, --json and a file on standard output exclude each "
				     "other");
	return 0;
}

/* The ranks of a pattern are those of the job's hosts, not of all that are free. */
static int prepare(struct propose_job *job, struct hd_key_client_placement *what,
		   struct hd_error *err)
{
	const uint32_t count = job->asked.count;
	int rc = key_proposal_read_hosts(&job->asked, &job->hosts, err);

	if (!rc && job->hosts.count < count)
		rc = hd_error_set(err, -ERANGE, "%s: %" PRIu32 " hosts are wanted, and %zu listed",
				  key_proposal_path(&job->asked), count, job->hosts.count);
	if (rc)
		return rc;
	*what = (struct hd_key_client_placement){
	    .hosts = (const char *const *)job->hosts.names,
	    .host_count = count ? count : job->hosts.count,
	    .uid = -1,
	    .ranks = job->ranks,
	};
	rc = key_traffic_take(job->pattern, NULL, &job->traffic, what, err);
	what->host_count = job->hosts.count;
	return rc;
}

static int run(void *context, const struct operands *operands)
{
	struct propose_job *job = context;
	struct hd_key_client_placement what;
	struct hd_key_client_problem problem;
	struct hd_error err = {""};
	int status = arguments_expect(&usage, operands, "no operand", 0, 0);

	if (!status)
		status = check(job);
	if (!status && prepare(job, &what, &err))
		status = message_fail(&err);
	if (!status)
		status = key_service_open(&job->service, &job->client);
	if (status)
		return status;
	if (hd_key_client_propose(job->client, &what, job->asked.count, &job->proposal, &problem))
		return key_service_fail(&problem);
	const struct hd_key_client_proposal *proposal = job->proposal;
	const struct key_proposal shown = {.free = proposal->free,
					   .hosts = proposal->hosts,
					   .ranks = proposal->ranks,
					   .phases = proposal->phases,
					   .listed = worth_of(&proposal->listed),
					   .proposed = worth_of(&proposal->proposed),
					   .host_of = (const char **)proposal->host_of};
	const struct hd_log log = message_log(false);
	for (size_t i = 0; i < proposal->unknown_count && i < UNKNOWN_SHOWN; i++)
		hd_log(&log, HD_LOG_WARNING, "%s is left out: the fabric has no such host",
		       proposal->unknown[i]);
	if (proposal->unknown_count > UNKNOWN_SHOWN)
		hd_log(&log, HD_LOG_WARNING, "%zu more hosts are left out",
		       proposal->unknown_count - UNKNOWN_SHOWN);
	if (key_proposal_write(&shown, &job->files, &err))
		return message_fail(&err);
	if (job->json)
		return show_json(&shown, proposal);
	if (job->list)
		key_proposal_print_list(&shown);
	if (!job->list && !key_proposal_takes_output(&job->files)) {
		key_proposal_print(&shown, !job->files.host_file && !job->files.rank_file);
		if (proposal->busy_links)
			printf("\nFlows of keys in force cross %" PRIu32 " links, and count.\n",
			       proposal->busy_links);
		if (proposal->stopped)
			puts("\nThe search has ended for lack of time.");
	}
	return STATUS_CLEAN;
}

int key_propose(int argc, char **argv)
{
	struct propose_job job = {.ranks = 0};
	int status = arguments_run(&usage, argc, argv, &job, run);

	hd_key_client_proposal_free(job.proposal);
	hd_key_client_free(job.client);
	key_traffic_release(&job.traffic);
	key_hosts_release(&job.hosts);
	return status;
}
