/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts for a job. */
#include "client_body.h"
#include "client_session.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <stdlib.h>
#include <string.h>

static void free_names(char **names, size_t count)
{
	for (size_t i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
}

void hd_key_client_proposal_free(struct hd_key_client_proposal *proposal)
{
	if (!proposal)
		return;
	free_names(proposal->host_of, proposal->ranks);
	free_names(proposal->unknown, proposal->unknown_count);
	free(proposal);
}

/* 0, -EPROTO or -ENOMEM. *count is right also after an error. */
static int read_names(const json_t *json, const char *name, char ***names, size_t *count)
{
	json_t *list, *text;
	size_t at;

	*count = 0;
	if (!client_read_list(json, name, &list))
		return -EPROTO;
	*names = calloc(json_array_size(list) + 1, sizeof(**names));
	if (!*names)
		return -ENOMEM;
	*count = json_array_size(list);
	json_array_foreach(list, at, text)
	{
		if (!json_is_string(text))
			return -EPROTO;
		(*names)[at] = hd_plain_copy(json_string_value(text));
		if (!(*names)[at])
			return -ENOMEM;
	}
	return 0;
}

static bool read_worth(const json_t *json, const char *name, struct hd_key_client_worth *worth)
{
	const json_t *object = json_object_get(json, name);

	return json_is_object(object) && client_read_number(object, "lost", &worth->lost) &&
	       client_read_number(object, "keys", &worth->keys) &&
	       client_read_number(object, "contention", &worth->contention) &&
	       client_read_large(object, "shared_links", &worth->shared_links) &&
	       client_read_number(object, "leaves", &worth->leaves) &&
	       client_read_number(object, "pods", &worth->pods);
}

static bool read_numbers(const json_t *json, struct hd_key_client_proposal *proposal)
{
	return client_read_number(json, "free", &proposal->free) &&
	       client_read_number(json, "hosts", &proposal->hosts) &&
	       client_read_number(json, "phases", &proposal->phases) &&
	       client_read_number(json, "busy_links", &proposal->busy_links) &&
	       client_read_flag(json, "stopped", &proposal->stopped) &&
	       read_worth(json, "listed", &proposal->listed) &&
	       read_worth(json, "proposed", &proposal->proposed);
}

static int read_proposal(const json_t *json, struct hd_key_client_proposal *proposal)
{
	size_t ranks;
	int rc = read_names(json, "host_of_rank", &proposal->host_of, &ranks);

	proposal->ranks = (uint32_t)ranks;
	if (!rc)
		rc = read_names(json, "unknown", &proposal->unknown, &proposal->unknown_count);
	return rc ? rc : read_numbers(json, proposal) && ranks ? 0 : -EPROTO;
}

static json_t *body_of(const struct hd_key_client_placement *what, uint32_t choose)
{
	json_t *json = json_object();
	int failed = client_write_traffic(json, what);

	if (choose)
		failed |= json_object_set_new(json, "choose", json_integer(choose));
	if (!failed)
		return json;
	json_decref(json);
	return NULL;
}

int hd_key_client_propose(struct hd_key_client *client, const struct hd_key_client_placement *what,
			  uint32_t choose, struct hd_key_client_proposal **out,
			  struct hd_key_client_problem *problem)
{
	struct client_call call = {.method = "POST", .path = "/v1/propose"};
	struct hd_key_client_problem unused;
	struct hd_key_client_proposal *proposal;
	json_t *json;

	call.body = body_of(what, choose);
	if (!call.body)
		return client_write_refuse(problem);
	int rc = client_session_call(client, &call, &json, problem);
	if (rc)
		return rc;
	proposal = calloc(1, sizeof(*proposal));
	rc = proposal ? read_proposal(json, proposal) : -ENOMEM;
	json_decref(json);
	if (!rc) {
		*out = proposal;
		return 0;
	}
	hd_key_client_proposal_free(proposal);
	return rc == -ENOMEM ? client_problem_memory(problem ? problem : &unused)
			     : client_read_refuse(client, "propose", problem);
}
