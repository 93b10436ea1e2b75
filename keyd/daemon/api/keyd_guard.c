/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_guard.h"

#include "keyd_request.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

bool keyd_guard_is_inside(const struct keyd_guard *guard)
{
	return guard->in_body || guard->head_length;
}

static bool begins(const struct keyd_guard *guard, const char *text)
{
	size_t length = strlen(text);

	return guard->line_length >= length && !strncasecmp(guard->line, text, length);
}

static int check_request_line(struct keyd_guard *guard, struct keyd_problem *problem)
{
	static const char *const methods[] = {"GET ",	  "POST ",  "PUT ",	"DELETE ", "HEAD ",
					      "OPTIONS ", "TRACE ", "CONNECT ", "PATCH "};
	unsigned i = 0;

	if (guard->line_length > KEYD_TARGET_LONGEST)
		return keyd_problem_set(problem, 414, "the request line has more than %u bytes",
					KEYD_TARGET_LONGEST);
	while (i < 9 && strncmp(guard->line, methods[i], strlen(methods[i])))
		i++;
	if (i == 9)
		return keyd_problem_set(problem, 501, "this is no method that heddle-keyd knows");
	guard->may_have_body = i == 1 || i == 2 || i == 8;
	return 0;
}

static int take_length(struct keyd_guard *guard, struct keyd_problem *problem)
{
	const char *at = guard->line + strlen("content-length:");
	const char *end =
	    guard->line +
	    (guard->line_length < sizeof(guard->line) ? guard->line_length : sizeof(guard->line));
	uint64_t length = 0;
	const char *first;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (first = at; at < end && *at >= '0' && *at <= '9' && length < UINT64_MAX / 16; at++)
		length = length * 10 + (uint64_t)(*at - '0');
	while (at > first && at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (at == first || at != end || guard->line_length > sizeof(guard->line))
		return keyd_problem_set(problem, 400, "Content-Length is no number");
	if (guard->has_length && length != guard->length)
		return keyd_problem_set(problem, 400, "the request has two Content-Lengths");
	guard->has_length = true;
	guard->length = length;
	return 0;
}

static int check_header(struct keyd_guard *guard, struct keyd_problem *problem)
{
	size_t kept =
	    guard->line_length < sizeof(guard->line) ? guard->line_length : sizeof(guard->line);
	const char *colon = memchr(guard->line, ':', kept);

	if (++guard->headers > KEYD_HEADERS_MAX)
		return keyd_problem_set(problem, 431, "the request has more than %u headers",
					KEYD_HEADERS_MAX);
	if (!colon || colon == guard->line || colon[-1] == ' ' || colon[-1] == '\t' ||
	    guard->line[0] == ' ' || guard->line[0] == '\t')
		return keyd_problem_set(problem, 400, "header %u of the request has no name",
					guard->headers);
	if (begins(guard, "content-length:"))
		return take_length(guard, problem);
	if (begins(guard, "transfer-encoding:"))
		return keyd_problem_set(problem, 411,
					"heddle-keyd takes bodies only with Content-Length");
	return 0;
}

/* After the empty line. */
static int end_head(struct keyd_guard *guard, unsigned *complete, struct keyd_problem *problem)
{
	if (guard->may_have_body && !guard->has_length)
		return keyd_problem_set(problem, 411, "the request has no Content-Length");
	if (guard->length > KEYD_BODY_LARGEST)
		return keyd_problem_set(problem, 413, "the body has more than %zu bytes",
					KEYD_BODY_LARGEST);
	if (!guard->may_have_body && guard->length)
		return keyd_problem_set(problem, 400, "this method takes no body");
	*guard = (struct keyd_guard){.in_body = guard->length > 0, .left = guard->length};
	*complete += !guard->in_body;
	return 0;
}

static int end_line(struct keyd_guard *guard, unsigned *complete, struct keyd_problem *problem)
{
	bool first = guard->head_length == guard->line_length + 1;
	size_t kept =
	    guard->line_length < sizeof(guard->line) ? guard->line_length : sizeof(guard->line);
	int rc;

	if (kept == guard->line_length && kept && guard->line[kept - 1] == '\r')
		guard->line_length--;
	if (first)
		rc = check_request_line(guard, problem);
	else if (!guard->line_length)
		return end_head(guard, complete, problem);
	else
		rc = check_header(guard, problem);
	guard->line_length = 0;
	memset(guard->line, 0, sizeof(guard->line));
	return rc;
}

static int feed_head(struct keyd_guard *guard, char byte, unsigned *complete,
		     struct keyd_problem *problem)
{
	if (++guard->head_length > KEYD_HEAD_LARGEST)
		return keyd_problem_set(problem, 431,
					"request line and headers have more than %u bytes",
					KEYD_HEAD_LARGEST);
	if (byte == '\n')
		return end_line(guard, complete, problem);
	if ((unsigned char)byte < 0x20 && byte != '\t' && byte != '\r')
		return keyd_problem_set(problem, 400, "the head has a control character");
	if (guard->line_length < sizeof(guard->line))
		guard->line[guard->line_length] = byte;
	guard->line_length++;
	return 0;
}

int keyd_guard_feed(struct keyd_guard *guard, const char *bytes, size_t length, unsigned *complete,
		    struct keyd_problem *problem)
{
	size_t at = 0;
	int rc = 0;

	*complete = 0;
	while (!rc && at < length) {
		if (guard->in_body) {
			size_t taken =
			    guard->left < length - at ? (size_t)guard->left : length - at;
			at += taken;
			guard->left -= taken;
			guard->in_body = guard->left > 0;
			*complete += !guard->in_body;
		} else {
			rc = feed_head(guard, bytes[at++], complete, problem);
		}
	}
	return rc;
}
