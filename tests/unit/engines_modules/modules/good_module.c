/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A module that can be loaded: it routes as updown does. */
#include <heddle/engines/module.h>

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	struct hd_route_request plain = *request;

	if (hd_options_get(request->options, "refuse")->number)
		return hd_error_set(err, -1, "as the option asks");
	plain.options = NULL;
	return hd_engine_route(hd_engine_find("updown"), &plain, out, err);
}

static const struct hd_option options[] = {
    {.name = "refuse", .summary = "refuse", .type = HD_OPTION_BOOL, .fallback = "no"}};

static const struct hd_engine engine = {.name = "good",
					.summary = "a sample",
					.description = "A sample.",
					.options = options,
					.option_count = 1,
					.one_lane = true,
					.route = route};

HD_ENGINE_MODULE(&engine)
