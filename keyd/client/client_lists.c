/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls about everything that keyd has. */
#include "client_problem.h"
#include "client_read.h"
#include "client_session.h"

#include <errno.h>
#include <stdlib.h>

static int get(struct hd_key_client *client, const char *path, json_t **answer,
	       struct hd_key_client_problem *problem)
{
	struct client_call call = {.method = "GET", .path = path};

	return client_session_call(client, &call, answer, problem);
}

/* How reading a list has ended: -ENOMEM or -EPROTO. */
static int fail(const struct hd_key_client *client, int rc, const char *call,
		struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;

	return rc == -ENOMEM ? client_problem_memory(problem ? problem : &unused)
			     : client_read_refuse(client, call, problem);
}

/* ---- jobs ---- */

void hd_key_client_jobs_free(struct hd_key_client_jobs *jobs)
{
	if (jobs)
		free(jobs->jobs);
	free(jobs);
}

static bool read_listed(const json_t *json, struct hd_key_client_listed *job)
{
	json_t *active = json_object_get(json, "active");

	job->active_count = (uint32_t)json_array_size(active);
	job->phase = (uint32_t)json_integer_value(json_array_get(active, 0));
	return json_is_object(json) && client_read_text(json, "job", job->job, sizeof(job->job)) &&
	       client_read_text(json, "state", job->state, sizeof(job->state)) &&
	       client_read_text(json, "mode", job->mode, sizeof(job->mode)) &&
	       client_read_uid(json, &job->uid) && client_read_number(json, "hosts", &job->hosts);
}

static int read_jobs(const json_t *json, struct hd_key_client_jobs *jobs)
{
	json_t *list, *job;
	size_t at;

	if (!client_read_list(json, "jobs", &list))
		return -EPROTO;
	jobs->jobs = calloc(json_array_size(list) + 1, sizeof(*jobs->jobs));
	if (!jobs->jobs)
		return -ENOMEM;
	jobs->count = json_array_size(list);
	json_array_foreach(list, at, job) if (!read_listed(job, &jobs->jobs[at])) return -EPROTO;
	return 0;
}

int hd_key_client_jobs(struct hd_key_client *client, struct hd_key_client_jobs **out,
		       struct hd_key_client_problem *problem)
{
	struct hd_key_client_jobs *jobs;
	json_t *json;
	int rc = get(client, "/v1/jobs", &json, problem);

	if (rc)
		return rc;
	jobs = calloc(1, sizeof(*jobs));
	rc = jobs ? read_jobs(json, jobs) : -ENOMEM;
	json_decref(json);
	if (rc) {
		hd_key_client_jobs_free(jobs);
		return fail(client, rc, "list", problem);
	}
	*out = jobs;
	return 0;
}

/* ---- flows without keys ---- */

void hd_key_client_without_keys_free(struct hd_key_client_withouts *jobs)
{
	if (jobs)
		free(jobs->jobs);
	free(jobs);
}

static bool read_without(const json_t *json, struct hd_key_client_without *job)
{
	return json_is_object(json) && client_read_text(json, "job", job->job, sizeof(job->job)) &&
	       client_read_number(json, "without_key", &job->flows) &&
	       client_read_message(json, "reason", job->reason, sizeof(job->reason));
}

static int read_withouts(const json_t *json, struct hd_key_client_withouts *jobs)
{
	json_t *list, *job;
	size_t at;

	if (!client_read_list(json, "jobs", &list))
		return -EPROTO;
	jobs->jobs = calloc(json_array_size(list) + 1, sizeof(*jobs->jobs));
	if (!jobs->jobs)
		return -ENOMEM;
	json_array_foreach(list, at, job)
	{
		if (!read_without(job, &jobs->jobs[jobs->count]))
			return -EPROTO;
		jobs->count += jobs->jobs[jobs->count].flows != 0;
	}
	return 0;
}

int hd_key_client_without_keys(struct hd_key_client *client, struct hd_key_client_withouts **out,
			       struct hd_key_client_problem *problem)
{
	struct hd_key_client_withouts *jobs;
	json_t *json;
	int rc = get(client, "/v1/jobs", &json, problem);

	if (rc)
		return rc;
	jobs = calloc(1, sizeof(*jobs));
	rc = jobs ? read_withouts(json, jobs) : -ENOMEM;
	json_decref(json);
	if (rc) {
		hd_key_client_without_keys_free(jobs);
		return fail(client, rc, "list", problem);
	}
	*out = jobs;
	return 0;
}

/* ---- links ---- */

void hd_key_client_links_free(struct hd_key_client_links *links)
{
	if (links)
		free(links->links);
	free(links);
}

static bool read_link(const json_t *json, struct hd_key_client_link *link)
{
	return client_read_guid(json, "from", &link->from) &&
	       client_read_guid(json, "to", &link->to) &&
	       client_read_message(json, "from_name", link->from_name, sizeof(link->from_name)) &&
	       client_read_message(json, "to_name", link->to_name, sizeof(link->to_name)) &&
	       client_read_number(json, "port", &link->port) &&
	       client_read_number(json, "flows", &link->flows);
}

static int read_links(const json_t *json, struct hd_key_client_links *links)
{
	json_t *list, *link;
	size_t at;

	if (!client_read_list(json, "links", &list) ||
	    !client_read_number(json, "most", &links->most))
		return -EPROTO;
	links->links = calloc(json_array_size(list) + 1, sizeof(*links->links));
	if (!links->links)
		return -ENOMEM;
	links->count = json_array_size(list);
	json_array_foreach(list, at, link) if (!read_link(link, &links->links[at])) return -EPROTO;
	return 0;
}

int hd_key_client_links(struct hd_key_client *client, bool all, struct hd_key_client_links **out,
			struct hd_key_client_problem *problem)
{
	struct hd_key_client_links *links;
	json_t *json;
	int rc = get(client, all ? "/v1/links?all=1" : "/v1/links", &json, problem);

	if (rc)
		return rc;
	links = calloc(1, sizeof(*links));
	rc = links ? read_links(json, links) : -ENOMEM;
	json_decref(json);
	if (rc) {
		hd_key_client_links_free(links);
		return fail(client, rc, "links", problem);
	}
	*out = links;
	return 0;
}

/* ---- the fabric ---- */

static bool read_fabric(const json_t *json, struct hd_key_client_fabric *fabric)
{
	return client_read_text(json, "state", fabric->state, sizeof(fabric->state)) &&
	       client_read_message(json, "reason", fabric->reason, sizeof(fabric->reason)) &&
	       client_read_message(json, "engine", fabric->engine, sizeof(fabric->engine)) &&
	       client_read_large(json, "epoch", &fabric->epoch) &&
	       client_read_number(json, "switches", &fabric->switches) &&
	       client_read_number(json, "hosts", &fabric->hosts) &&
	       client_read_number(json, "lmc", &fabric->lmc) && *fabric->state;
}

int hd_key_client_fabric(struct hd_key_client *client, struct hd_key_client_fabric *out,
			 struct hd_key_client_problem *problem)
{
	struct hd_key_client_fabric fabric = {.state = ""};
	json_t *json;
	int rc = get(client, "/v1/fabric", &json, problem);

	if (rc)
		return rc;
	if (read_fabric(json, &fabric))
		*out = fabric;
	else
		rc = client_read_refuse(client, "fabric", problem);
	json_decref(json);
	return rc;
}
