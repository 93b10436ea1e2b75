/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_call.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void call_count(struct keyd_call *call, int status)
{
	call->keyd->metrics.answers[call->kind][status / 100]++;
}

void keyd_call_answer(struct keyd_call *call, json_t *json)
{
	call_count(call, json ? 200 : 503);
	keyd_http_answer(call->keyd->http, call->request, 200, json);
	free(call);
}

void keyd_call_answer_parts(struct keyd_call *call, const struct keyd_part *parts,
			    unsigned parts_count)
{
	call_count(call, 200);
	keyd_http_answer_parts(call->keyd->http, call->request, parts, parts_count);
	free(call);
}

void keyd_call_answer_text(struct keyd_call *call, struct keyd_text *text)
{
	keyd_call_answer_parts(call, &(struct keyd_part){.text = text}, 1);
}

void keyd_call_answer_plain(struct keyd_call *call, const char *type, const char *text)
{
	call_count(call, 200);
	keyd_http_answer_text(call->keyd->http, call->request, type, text);
	free(call);
}

void keyd_call_problem(struct keyd_call *call, const struct keyd_problem *problem)
{
	call_count(call, problem->status);
	keyd_http_answer_problem(call->keyd->http, call->request, problem);
	free(call);
}

void keyd_call_fail(struct keyd_call *call, int status, const char *format, ...)
{
	struct keyd_problem problem;
	char text[HD_ERROR_TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	keyd_problem_set(&problem, status, "%s", text);
	keyd_call_problem(call, &problem);
}

bool keyd_call_is_abandoned(struct keyd_call *call, struct keyd_problem *problem)
{
	if (!keyd_http_is_gone(call->request))
		return false;
	call->keyd->metrics.abandoned++;
	keyd_problem_set(problem, 408,
			 "the client closed its connection before its call was carried out; "
			 "nothing has changed");
	return true;
}

const char *keyd_call_body(struct keyd_call *call, size_t *length)
{
	struct evbuffer *buffer = evhttp_request_get_input_buffer(call->request);

	*length = evbuffer_get_length(buffer);
	const unsigned char *bytes = *length ? evbuffer_pullup(buffer, -1) : NULL;
	return bytes ? (const char *)bytes : "";
}
