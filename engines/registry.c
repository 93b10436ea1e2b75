/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/engines.h>

#include "dmodk.h"
#include "spf.h"
#include "updown.h"

#include <stdio.h>
#include <string.h>

static const struct hd_engine *const engines[] = {
    &hd_engine_dmodk,
    &hd_engine_updown,
    &hd_engine_spf,
    NULL,
};

const struct hd_engine *const *hd_engines(unsigned *count)
{
	*count = sizeof(engines) / sizeof(engines[0]) - 1;
	return engines;
}

const struct hd_engine *hd_engine_find(const char *name)
{
	for (const struct hd_engine *const *engine = engines; *engine; engine++)
		if (!strcmp((*engine)->name, name))
			return *engine;
	return NULL;
}

struct hd_options *hd_engine_options(const struct hd_engine *engine)
{
	return hd_options_new(engine->options, engine->option_count);
}

int hd_engine_route(const struct hd_engine *engine, const struct hd_route_request *request,
		    struct hd_routes **out, struct hd_error *err)
{
	struct hd_route_request complete = *request;
	struct hd_options *defaults = NULL;
	if (!complete.options) {
		complete.options = defaults = hd_engine_options(engine);
		if (!defaults)
			return hd_error_no_memory(err);
	}
	struct hd_routes *routes = NULL;
	int code = engine->route(&complete, &routes, err);
	if (!code) {
		snprintf(routes->engine, sizeof(routes->engine), "%s", engine->name);
		hd_options_print(complete.options, routes->options, sizeof(routes->options));
		*out = routes;
	}
	hd_options_free(defaults);
	return code;
}
