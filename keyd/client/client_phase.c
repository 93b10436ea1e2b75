/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls about a phase: they are made often, so over the network they use the job's token. */
#include "client_problem.h"
#include "client_read.h"
#include "client_session.h"

static int call_phase(struct hd_key_client *client, const char *job, const char *path,
		      const char *step, uint32_t phase, json_t **answer,
		      struct hd_key_client_problem *problem)
{
	struct client_call call = {.method = "POST", .job = job, .path = path, .by_token = true};
	struct hd_key_client_problem unused;
	int rc = client_session_check_id(step, problem);

	if (rc)
		return rc;
	call.body = json_pack("{s:s, s:I}", "step", step, "phase", (json_int_t)phase);
	if (!call.body)
		return client_problem_memory(problem ? problem : &unused);
	return client_session_call(client, &call, answer, problem);
}

/* A grant without an offset or ready would be worth nothing. */
static bool read_grant(const json_t *json, struct hd_key_client_grant *grant)
{
	return json_object_get(json, "offset") && json_object_get(json, "ready") &&
	       client_read_text(json, "key", grant->key, sizeof(grant->key)) &&
	       client_read_number(json, "phase", &grant->phase) &&
	       client_read_number(json, "offset", &grant->offset) && grant->offset < 128 &&
	       client_read_number(json, "sl", &grant->sl) && grant->sl < 16 &&
	       client_read_number(json, "contention", &grant->contention) &&
	       client_read_number(json, "blocks", &grant->blocks) &&
	       client_read_number(json, "changed", &grant->changed) &&
	       client_read_flag(json, "ready", &grant->ready) &&
	       client_read_message(json, "reason", grant->reason, sizeof(grant->reason));
}

int hd_key_client_request(struct hd_key_client *client, const char *job, const char *step,
			  uint32_t phase, struct hd_key_client_grant *out,
			  struct hd_key_client_problem *problem)
{
	struct hd_key_client_grant grant = {.phase = phase};
	json_t *json;
	int rc = call_phase(client, job, "/request", step, phase, &json, problem);

	if (rc)
		return rc;
	if (read_grant(json, &grant))
		*out = grant;
	else
		rc = client_read_refuse(client, "request", problem);
	json_decref(json);
	return rc;
}

int hd_key_client_done(struct hd_key_client *client, const char *job, const char *step,
		       uint32_t phase, struct hd_key_client_problem *problem)
{
	json_t *json;
	int rc = call_phase(client, job, "/done", step, phase, &json, problem);

	if (!rc)
		json_decref(json);
	return rc;
}
