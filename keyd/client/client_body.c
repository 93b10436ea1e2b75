/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bodies of calls and answers: members of JSON objects that are read and written, and the problem of a call that
 * failed. All files of the client use it.
 *
 * A member that is missing leaves its value as it is; one of a wrong type is an error.
 */
#include "client_body.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- client problem ---- */

int client_problem_set(struct hd_key_client_problem *problem, int rc, const char *format, ...)
{
	va_list arguments;

	*problem = (struct hd_key_client_problem){.status = 0};
	va_start(arguments, format);
	hd_plain_format(problem->detail, sizeof(problem->detail), format, arguments);
	va_end(arguments);
	return rc;
}

int client_problem_memory(struct hd_key_client_problem *problem)
{
	return client_problem_set(problem, -ENOMEM, "no memory");
}

int client_problem_answer(struct hd_key_client_problem *problem, int status, unsigned retry_after,
			  const char *body, size_t length)
{
	json_t *json = json_loadb(body, length, 0, NULL);
	const char *detail = json_string_value(json_object_get(json, "detail"));
	const char *title = json_string_value(json_object_get(json, "title"));

	if (detail || title)
		client_problem_set(problem, 0, "%s", detail ? detail : title);
	else if (status == 413)
		client_problem_set(problem, 0, "the request is larger than heddle-keyd takes");
	else
		client_problem_set(problem, 0, "heddle-keyd answers with status %d", status);
	json_decref(json);
	problem->status = status;
	problem->retry_after = retry_after;
	switch (status) {
	case 400:
	case 422:
		return -EINVAL;
	case 401:
	case 403:
		return -EACCES;
	case 404:
		return -ENOENT;
	case 409:
		return -EEXIST;
	case 413:
		return -EMSGSIZE;
	case 429:
	case 503:
		return -EAGAIN;
	default:
		return -EREMOTEIO;
	}
}

/* ---- client write ---- */

json_t *client_write_texts(const char *const *list, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(array, json_string(list[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *phase_flows(const struct hd_key_client_placement *placement, uint32_t phase)
{
	json_t *flows = json_array();

	for (uint32_t i = placement->base[phase]; i < placement->base[phase + 1]; i++) {
		const struct hd_key_client_flow *flow = &placement->flows[i];
		if (json_array_append_new(flows, json_pack("[I,I]", (json_int_t)flow->source,
							   (json_int_t)flow->destination))) {
			json_decref(flows);
			return NULL;
		}
	}
	return flows;
}

static json_t *phases(const struct hd_key_client_placement *placement)
{
	json_t *list = json_array();

	for (uint32_t phase = 0; phase < placement->phase_count; phase++)
		if (json_array_append_new(list, phase_flows(placement, phase))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

int client_write_traffic(json_t *json, const struct hd_key_client_placement *placement)
{
	int failed = json_object_set_new(
	    json, "hosts", client_write_texts(placement->hosts, placement->host_count));

	if (placement->pattern)
		failed |= json_object_set_new(json, "pattern", json_string(placement->pattern));
	else
		failed |= json_object_set_new(json, "phases", phases(placement));
	if (placement->ranks)
		failed |= json_object_set_new(json, "ranks", json_integer(placement->ranks));
	return failed;
}

int client_write_refuse(struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;

	return client_problem_set(problem ? problem : &unused, -EINVAL,
				  "a name of a host or pattern is not UTF-8, or memory is short");
}

/* ---- client read ---- */

/* The member, or NULL if there is nothing to read. */
static const json_t *member(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_null(value) ? NULL : value;
}

bool client_read_large(const json_t *object, const char *name, uint64_t *out)
{
	const json_t *value = member(object, name);

	if (value && (!json_is_integer(value) || json_integer_value(value) < 0))
		return false;
	if (value)
		*out = (uint64_t)json_integer_value(value);
	return true;
}

bool client_read_number(const json_t *object, const char *name, uint32_t *out)
{
	uint64_t value = *out;

	if (!client_read_large(object, name, &value) || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

bool client_read_flag(const json_t *object, const char *name, bool *out)
{
	const json_t *value = member(object, name);

	if (value && !json_is_boolean(value))
		return false;
	if (value)
		*out = json_is_true(value);
	return true;
}

bool client_read_message(const json_t *object, const char *name, char *out, size_t size)
{
	const json_t *value = member(object, name);

	if (value && !json_is_string(value))
		return false;
	if (value)
		hd_plain(json_string_value(value), out, size);
	return true;
}

bool client_read_text(const json_t *object, const char *name, char *out, size_t size)
{
	return json_string_length(json_object_get(object, name)) < size &&
	       client_read_message(object, name, out, size);
}

bool client_read_guid(const json_t *object, const char *name, uint64_t *out)
{
	const char *text = json_string_value(json_object_get(object, name));
	char *end;

	if (!text || strncmp(text, "0x", 2) || strlen(text) > 18)
		return false;
	*out = strtoull(text, &end, 16);
	return !*end && text[2];
}

bool client_read_uid(const json_t *object, int64_t *out)
{
	uint32_t uid = 0;

	*out = -1;
	if (!member(object, "uid"))
		return true;
	if (!client_read_number(object, "uid", &uid))
		return false;
	*out = uid;
	return true;
}

bool client_read_list(const json_t *object, const char *name, json_t **out)
{
	*out = json_object_get(object, name);
	return json_is_array(*out);
}
