/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls about everything that keyd has. */
#include "client_body.h"
#include "client_session.h"

#include <errno.h>
#include <stdlib.h>

static int get(struct hd_key_client *client, const char *path, json_t **answer,
	       struct hd_key_client_problem *problem)
{
	struct client_call call = {.method = "GET", .path = path};

	return client_session_call(client, &call, answer, problem);
}

/* A list in an answer. */
struct list {
	const char *call, *path, *member;
	size_t size; /* bytes of an item */
	/* Reads an item. False: it is wrong. *take false: it does not belong to the result. */
	bool (*read)(const json_t *json, void *item, bool *take);
};

/* Reads items, to be freed with free(), and `most` unless it is NULL. 0, -EPROTO or -ENOMEM. */
static int read_list(const json_t *json, const struct list *list, char **items, size_t *count,
		     uint32_t *most)
{
	json_t *array, *item;
	size_t at;

	if (!client_read_list(json, list->member, &array) ||
	    (most && !client_read_number(json, "most", most)))
		return -EPROTO;
	*items = calloc(json_array_size(array) + 1, list->size);
	if (!*items)
		return -ENOMEM;
	json_array_foreach(array, at, item)
	{
		bool take = true;
		if (!list->read(item, *items + *count * list->size, &take))
			return -EPROTO;
		*count += take;
	}
	return 0;
}

/* Makes a call whose answer is a list. The result is written on success only. */
static int get_list(struct hd_key_client *client, const struct list *list, char **items,
		    size_t *count, uint32_t *most, struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;
	char *found = NULL;
	size_t found_count = 0;
	json_t *json;
	int rc = get(client, list->path, &json, problem);

	if (rc)
		return rc;
	rc = read_list(json, list, &found, &found_count, most);
	json_decref(json);
	if (!rc) {
		*items = found;
		*count = found_count;
		return 0;
	}
	free(found);
	return rc == -ENOMEM ? client_problem_memory(problem ? problem : &unused)
			     : client_read_refuse(client, list->call, problem);
}

static int no_memory(struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;

	return client_problem_memory(problem ? problem : &unused);
}

void hd_key_client_jobs_free(struct hd_key_client_jobs *jobs)
{
	if (jobs)
		free(jobs->jobs);
	free(jobs);
}

static bool read_listed(const json_t *json, void *item, bool *take)
{
	struct hd_key_client_listed *job = item;
	json_t *active = json_object_get(json, "active");

	(void)take;
	job->active_count = (uint32_t)json_array_size(active);
	job->phase = (uint32_t)json_integer_value(json_array_get(active, 0));
	return json_is_object(json) && client_read_text(json, "job", job->job, sizeof(job->job)) &&
	       client_read_text(json, "state", job->state, sizeof(job->state)) &&
	       client_read_text(json, "mode", job->mode, sizeof(job->mode)) &&
	       client_read_uid(json, &job->uid) && client_read_number(json, "hosts", &job->hosts);
}

int hd_key_client_jobs(struct hd_key_client *client, struct hd_key_client_jobs **out,
		       struct hd_key_client_problem *problem)
{
	static const struct list list = {"list", "/v1/jobs", "jobs",
					 sizeof(struct hd_key_client_listed), read_listed};
	struct hd_key_client_jobs *jobs = calloc(1, sizeof(*jobs));
	char *items = NULL;
	int rc = jobs ? get_list(client, &list, &items, &jobs->count, NULL, problem)
		      : no_memory(problem);

	if (rc) {
		free(jobs);
		return rc;
	}
	jobs->jobs = (void *)items;
	*out = jobs;
	return 0;
}

void hd_key_client_without_keys_free(struct hd_key_client_withouts *jobs)
{
	if (jobs)
		free(jobs->jobs);
	free(jobs);
}

static bool read_without(const json_t *json, void *item, bool *take)
{
	struct hd_key_client_without *job = item;

	if (!json_is_object(json) || !client_read_text(json, "job", job->job, sizeof(job->job)) ||
	    !client_read_number(json, "without_key", &job->flows) ||
	    !client_read_message(json, "reason", job->reason, sizeof(job->reason)))
		return false;
	*take = job->flows != 0;
	return true;
}

int hd_key_client_without_keys(struct hd_key_client *client, struct hd_key_client_withouts **out,
			       struct hd_key_client_problem *problem)
{
	static const struct list list = {"list", "/v1/jobs", "jobs",
					 sizeof(struct hd_key_client_without), read_without};
	struct hd_key_client_withouts *jobs = calloc(1, sizeof(*jobs));
	char *items = NULL;
	int rc = jobs ? get_list(client, &list, &items, &jobs->count, NULL, problem)
		      : no_memory(problem);

	if (rc) {
		free(jobs);
		return rc;
	}
	jobs->jobs = (void *)items;
	*out = jobs;
	return 0;
}

void hd_key_client_links_free(struct hd_key_client_links *links)
{
	if (links)
		free(links->links);
	free(links);
}

static bool read_link(const json_t *json, void *item, bool *take)
{
	struct hd_key_client_link *link = item;

	(void)take;
	return client_read_guid(json, "from", &link->from) &&
	       client_read_guid(json, "to", &link->to) &&
	       client_read_message(json, "from_name", link->from_name, sizeof(link->from_name)) &&
	       client_read_message(json, "to_name", link->to_name, sizeof(link->to_name)) &&
	       client_read_number(json, "port", &link->port) &&
	       client_read_number(json, "flows", &link->flows);
}

int hd_key_client_links(struct hd_key_client *client, bool all, struct hd_key_client_links **out,
			struct hd_key_client_problem *problem)
{
	const struct list list = {"links", all ? "/v1/links?all=1" : "/v1/links", "links",
				  sizeof(struct hd_key_client_link), read_link};
	struct hd_key_client_links *links = calloc(1, sizeof(*links));
	char *items = NULL;
	int rc = links ? get_list(client, &list, &items, &links->count, &links->most, problem)
		       : no_memory(problem);

	if (rc) {
		free(links);
		return rc;
	}
	links->links = (void *)items;
	*out = links;
	return 0;
}

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
