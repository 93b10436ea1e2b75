/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_problem.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static int status_errno(int status)
{
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
	return status_errno(status);
}
