/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_problem.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const struct {
	int status;
	const char *title;
} titles[] = {
    {200, "OK"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

const char *keyd_problem_title(int status)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (titles[i].status == status)
			return titles[i].title;
	return "Error";
}

int keyd_problem_set(struct keyd_problem *problem, int status, const char *format, ...)
{
	va_list arguments;

	*problem = (struct keyd_problem){.status = status};
	va_start(arguments, format);
	vsnprintf(problem->detail, sizeof(problem->detail), format, arguments);
	va_end(arguments);
	if (status == 503 || status == 429)
		problem->retry_after = 1;
	return -EINVAL;
}

int keyd_problem_lasts(struct keyd_problem *problem)
{
	problem->retry_after = 0;
	return -EINVAL;
}

/* Text from outside may be cut in the middle of a character, which JSON does not allow. */
static json_t *text_json(const char *text)
{
	char plain[HD_ERROR_TEXT];

	return json_string(hd_plain(text, plain, sizeof(plain)));
}

json_t *keyd_problem_json(const struct keyd_problem *problem)
{
	json_t *json = json_pack("{s:s, s:s, s:i, s:o}", "type",
				 problem->has_demand ? "urn:heddle:contention"
				 : problem->has_turn ? "urn:heddle:turn"
						     : "about:blank",
				 "title", keyd_problem_title(problem->status), "status",
				 problem->status, "detail", text_json(problem->detail));

	if (json && problem->has_offset)
		json_object_set_new(json, "offset", json_integer((json_int_t)problem->offset));
	if (json && problem->has_turn)
		json_object_set_new(json, "turn", json_integer(problem->turn));
	if (json && problem->has_demand) {
		char guid[24];

		snprintf(guid, sizeof(guid), "0x%016" PRIx64, problem->switch_guid);
		json_object_set_new(json, "phase", json_integer(problem->phase));
		json_object_set_new(json, "switch", json_string(guid));
		json_object_set_new(json, "demand", json_integer(problem->demand));
		json_object_set_new(json, "usable", json_integer(problem->usable));
	}
	return json;
}
