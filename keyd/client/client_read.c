/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_read.h"

#include "client_problem.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <stdlib.h>
#include <string.h>

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

int client_read_refuse(const struct hd_key_client *client, const char *call,
		       struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;

	return client_problem_set(problem ? problem : &unused, -EPROTO,
				  "%s does not answer like heddle-keyd: its answer to '%s' lacks a "
				  "member, or has it in another form",
				  hd_key_client_address(client), call);
}
