/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls about a job, its keys and its phases. */
#include "client_body.h"
#include "client_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a request: each but the first means that another phase has begun meanwhile. */
#define TRIES_MOST 16

void hd_key_client_job_free(struct hd_key_client_job *job)
{
	if (job) {
		for (size_t i = 0; job->keys && i < job->key_count; i++)
			free(job->keys[i].paths);
		free(job->keys);
		free(job->rank_offsets);
		free(job->active);
	}
	free(job);
}

/* A list of groups of `width` numbers, which the answer may lack, to (*out)[*count * width]. 0, -EPROTO or -ENOMEM. */
static int read_numbers(const json_t *json, const char *name, size_t width, uint32_t **out,
			size_t *count)
{
	const json_t *list = json_object_get(json, name);
	const size_t groups = json_array_size(list);
	uint32_t *numbers = calloc(groups * width + 1, sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < groups * width; i++) {
		const json_t *number = json_array_get(json_array_get(list, i / width), i % width);
		const json_int_t value = json_integer_value(number);

		if (!json_is_integer(number) || value < 0 || value > UINT32_MAX) {
			free(numbers);
			return -EPROTO;
		}
		numbers[i] = (uint32_t)value;
	}
	*out = numbers;
	*count = groups;
	return 0;
}

/* How many LID offsets a phase has, and which flows do not use the first one. 0, -EPROTO or -ENOMEM. */
static int read_paths(const json_t *json, uint32_t *offsets, struct hd_key_client_path **paths,
		      size_t *count)
{
	uint32_t *numbers;

	*offsets = 1;
	if (!client_read_number(json, "offsets", offsets))
		return -EPROTO;
	int rc = read_numbers(json, "paths", 3, &numbers, count);
	if (rc)
		return rc;
	*paths = (struct hd_key_client_path *)numbers;
	return 0;
}

static bool read_key(const json_t *json, struct hd_key_client_key *key)
{
	return client_read_text(json, "key", key->key, sizeof(key->key)) &&
	       client_read_number(json, "phase", &key->phase) &&
	       client_read_number(json, "offset", &key->offset) &&
	       client_read_number(json, "flows", &key->flows) &&
	       client_read_number(json, "contention", &key->contention) &&
	       client_read_number(json, "demand", &key->demand) &&
	       client_read_number(json, "usable", &key->usable);
}

static bool read_members(const json_t *json, struct hd_key_client_job *job)
{
	return client_read_text(json, "job", job->job, sizeof(job->job)) &&
	       client_read_text(json, "state", job->state, sizeof(job->state)) &&
	       client_read_text(json, "mode", job->mode, sizeof(job->mode)) &&
	       client_read_number(json, "hosts", &job->hosts) &&
	       client_read_number(json, "ranks", &job->ranks) &&
	       client_read_number(json, "offset", &job->offset) &&
	       client_read_number(json, "offsets", &job->offsets) &&
	       client_read_number(json, "lmc", &job->lmc) && client_read_uid(json, &job->uid);
}

/* The phases of "active", which an answer may lack. */
static int read_active(const json_t *json, struct hd_key_client_job *job)
{
	json_t *list = json_object_get(json, "active");

	job->active = calloc(json_array_size(list) + 1, sizeof(*job->active));
	if (!job->active)
		return -ENOMEM;
	job->active_count = json_array_size(list);
	for (size_t i = 0; i < job->active_count; i++) {
		json_int_t phase = json_integer_value(json_array_get(list, i));
		if (phase < 0 || phase > UINT32_MAX)
			return -EPROTO;
		job->active[i] = (uint32_t)phase;
	}
	return 0;
}

/* 0, -EPROTO or -ENOMEM. */
static int read_job(const json_t *json, struct hd_key_client_job *job)
{
	json_t *keys, *key;
	size_t at;

	if (!read_members(json, job) || !*job->job || !client_read_list(json, "keys", &keys))
		return -EPROTO;
	job->keys = calloc(json_array_size(keys) + 1, sizeof(*job->keys));
	if (!job->keys)
		return -ENOMEM;
	job->key_count = json_array_size(keys);
	json_array_foreach(keys, at, key)
	{
		struct hd_key_client_key *one = &job->keys[at];
		int rc = json_is_object(key) && read_key(key, one)
			     ? read_paths(key, &one->offsets, &one->paths, &one->path_count)
			     : -EPROTO;
		if (rc)
			return rc;
	}
	uint32_t *numbers;
	int rc = read_active(json, job);
	if (!rc)
		rc = read_numbers(json, "rank_offsets", 2, &numbers, &job->rank_offset_count);
	if (!rc)
		job->rank_offsets = (struct hd_key_client_rank_offset *)numbers;
	return rc;
}

/* Makes a call whose answer is a job. */
static int call_job(struct hd_key_client *client, struct client_call *call, const char *name,
		    struct hd_key_client_job **out, struct hd_key_client_problem *problem)
{
	struct hd_key_client_job *job;
	struct hd_key_client_problem unused;
	json_t *json;
	int rc = client_session_call(client, call, &json, problem);

	if (rc || !out) {
		if (!rc)
			json_decref(json);
		return rc;
	}
	job = calloc(1, sizeof(*job));
	rc = job ? read_job(json, job) : -ENOMEM;
	json_decref(json);
	if (!rc) {
		*out = job;
		return 0;
	}
	hd_key_client_job_free(job);
	return rc == -ENOMEM ? client_problem_memory(problem ? problem : &unused)
			     : client_read_refuse(client, name, problem);
}

static const char *mode_of(const struct hd_key_client_placement *placement)
{
	if (placement->offset_mode)
		return "offset";
	return placement->alternate ? "alternate" : "rewrite";
}

/* NULL: no memory, or a text that is not UTF-8. */
static json_t *placement_json(const struct hd_key_client_placement *placement)
{
	json_t *json = json_object();
	int failed = client_write_traffic(json, placement);

	if (placement->uid >= 0)
		failed |= json_object_set_new(json, "uid", json_integer(placement->uid));
	if (placement->keys)
		failed |= json_object_set_new(json, "keys", json_integer(placement->keys));
	failed |= json_object_set_new(json, "mode", json_string(mode_of(placement)));
	failed |= json_object_set_new(json, "best_effort", json_boolean(!placement->strict));
	if (!failed)
		return json;
	json_decref(json);
	return NULL;
}

int hd_key_client_place(struct hd_key_client *client, const char *job,
			const struct hd_key_client_placement *placement,
			struct hd_key_client_job **out, struct hd_key_client_problem *problem)
{
	struct client_call call = {.method = "PUT", .job = job, .path = ""};

	call.body = placement_json(placement);
	return call.body ? call_job(client, &call, "place", out, problem)
			 : client_write_refuse(problem);
}

int hd_key_client_layout(struct hd_key_client *client, const char *job, const char *step,
			 const char *const *rank_hosts, size_t rank_count,
			 struct hd_key_client_job **out, struct hd_key_client_problem *problem)
{
	char path[HD_KEY_CLIENT_ID + 32];
	struct client_call call = {.method = "PUT", .job = job, .path = path, .by_token = true};
	int rc = client_session_check_id(step, problem);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/steps/%s/layout", step);
	call.body = json_pack("{s:o}", "ranks", client_write_texts(rank_hosts, rank_count));
	return call.body ? call_job(client, &call, "layout", out, problem)
			 : client_write_refuse(problem);
}

int hd_key_client_job(struct hd_key_client *client, const char *job, struct hd_key_client_job **out,
		      struct hd_key_client_problem *problem)
{
	struct client_call call = {.method = "GET", .job = job, .path = "", .by_token = true};

	return call_job(client, &call, "job", out, problem);
}

int hd_key_client_release(struct hd_key_client *client, const char *job,
			  struct hd_key_client_problem *problem)
{
	struct client_call call = {.method = "DELETE", .job = job, .path = ""};
	json_t *json;
	int rc = client_session_call(client, &call, &json, problem);

	if (!rc)
		json_decref(json);
	return rc;
}

/* Phases: called often, so over the network with the job's token */
static int call_phase(struct hd_key_client *client, struct client_call *call, json_t *body,
		      json_t **answer, struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;

	call->method = "POST";
	call->by_token = true;
	call->body = body;
	if (!body)
		return client_problem_memory(problem ? problem : &unused);
	return client_session_call(client, call, answer, problem);
}

/* A grant without an offset or ready would be worth nothing. */
static bool read_grant(const json_t *json, struct hd_key_client_grant *grant, uint32_t *turn)
{
	return json_object_get(json, "offset") && json_object_get(json, "ready") &&
	       client_read_text(json, "key", grant->key, sizeof(grant->key)) &&
	       client_read_number(json, "phase", &grant->phase) &&
	       client_read_number(json, "turn", turn) &&
	       client_read_number(json, "offset", &grant->offset) && grant->offset < 128 &&
	       client_read_number(json, "sl", &grant->sl) && grant->sl < 16 &&
	       client_read_number(json, "contention", &grant->contention) &&
	       client_read_number(json, "blocks", &grant->blocks) &&
	       client_read_number(json, "changed", &grant->changed) &&
	       client_read_flag(json, "ready", &grant->ready) &&
	       client_read_message(json, "reason", grant->reason, sizeof(grant->reason));
}

/* The turn is that of one step: of another one the client knows nothing. */
static void choose_step(struct hd_key_client *client, const char *job, const char *step)
{
	if (!strcmp(client->turn_job, job) && !strcmp(client->turn_step, step))
		return;
	snprintf(client->turn_job, sizeof(client->turn_job), "%s", job);
	snprintf(client->turn_step, sizeof(client->turn_step), "%s", step);
	client->turn = 0;
	memset(client->granted, 0, sizeof(client->granted));
}

#define GRANTED_MOST (sizeof(client->granted) / sizeof(client->granted[0]))

/* The newest turn in which the client has heard that the step has this phase; 0: it does not know. */
static uint32_t turn_of(const struct hd_key_client *client, uint32_t phase)
{
	for (unsigned back = 1; back <= GRANTED_MOST; back++) {
		const struct client_granted *granted =
		    &client->granted[(client->granted_at - back) % GRANTED_MOST];

		if (granted->turn && granted->phase == phase)
			return granted->turn;
	}
	return 0;
}

void hd_key_client_use_rank(struct hd_key_client *client, uint32_t rank)
{
	client->has_rank = true;
	client->rank = rank;
}

/* The body of a request or join, with the rank if it is known. Takes the body over. */
static json_t *with_rank(const struct hd_key_client *client, json_t *body)
{
	if (body && client->has_rank)
		json_object_set_new(body, "rank", json_integer(client->rank));
	return body;
}

/* The paths of a grant become those of the client. */
static int take_paths(struct hd_key_client *client, const json_t *json, uint32_t *offsets)
{
	struct hd_key_client_path *paths;
	size_t count;
	int rc = read_paths(json, offsets, &paths, &count);

	free(client->paths);
	client->paths = rc ? NULL : paths;
	client->path_count = rc ? 0 : count;
	return rc;
}

const struct hd_key_client_path *hd_key_client_granted_paths(const struct hd_key_client *client,
							     size_t *count)
{
	*count = client->path_count;
	return client->paths;
}

/* Takes the grant of an answer. */
static int take_grant(struct hd_key_client *client, json_t *json, uint32_t phase,
		      struct hd_key_client_grant *out, struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;
	struct hd_key_client_grant grant = {.phase = phase};
	int rc = read_grant(json, &grant, &client->turn) ? take_paths(client, json, &grant.offsets)
							 : -EPROTO;

	json_decref(json);
	if (rc)
		return rc == -ENOMEM ? client_problem_memory(problem ? problem : &unused)
				     : client_read_refuse(client, "request", problem);
	*out = grant;
	unsigned at = client->granted_at++ % GRANTED_MOST;
	client->granted[at] = (struct client_granted){grant.phase, client->turn};
	return 0;
}

/*
 * keyd refuses a request that was made before the step's phase changed: nobody may wait for it any
 * more. Who does wait asks again, with the turn that the refusal has told.
 */
int hd_key_client_request(struct hd_key_client *client, const char *job, const char *step,
			  uint32_t phase, struct hd_key_client_grant *out,
			  struct hd_key_client_problem *problem)
{
	struct client_call call = {.job = job, .path = "/request"};
	json_t *json;
	int rc = client_session_check_id(step, problem);

	if (rc)
		return rc;
	choose_step(client, job, step);
	call.deadline = client_session_deadline(client);
	for (unsigned try = 0; try < TRIES_MOST; try++) {
		rc = call_phase(client, &call,
				with_rank(client, json_pack("{s:s, s:I, s:I}", "step", step,
							    "phase", (json_int_t)phase, "turn",
							    (json_int_t)client->turn)),
				&json, problem);
		if (!rc || !call.is_late)
			break;
	}
	return rc ? rc : take_grant(client, json, phase, out, problem);
}

int hd_key_client_join(struct hd_key_client *client, const char *job, const char *step,
		       struct hd_key_client_grant *out, struct hd_key_client_problem *problem)
{
	struct client_call call = {.job = job, .path = "/join"};
	json_t *json;
	int rc = client_session_check_id(step, problem);

	if (rc)
		return rc;
	choose_step(client, job, step);
	rc = call_phase(client, &call, with_rank(client, json_pack("{s:s}", "step", step)), &json,
			problem);
	return rc ? rc : take_grant(client, json, 0, out, problem);
}

int hd_key_client_done(struct hd_key_client *client, const char *job, const char *step,
		       uint32_t phase, struct hd_key_client_problem *problem)
{
	struct client_call call = {.job = job, .path = "/done"};
	json_t *json;
	int rc = client_session_check_id(step, problem);

	if (rc)
		return rc;
	choose_step(client, job, step);
	uint32_t turn = turn_of(client, phase);
	rc = call_phase(client, &call,
			turn ? json_pack("{s:s, s:I, s:I}", "step", step, "phase",
					 (json_int_t)phase, "turn", (json_int_t)turn)
			     : json_pack("{s:s, s:I}", "step", step, "phase", (json_int_t)phase),
			&json, problem);
	if (!rc)
		json_decref(json);
	return rc;
}
