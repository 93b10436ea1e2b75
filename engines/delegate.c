/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "delegate.h"
#include "engine_options.h"
#include "route.h"

#include <errno.h>
#include <stdio.h>

static const struct hd_option copied[] = {LANE_OPTIONS};

enum { COPIED_COUNT = sizeof(copied) / sizeof(copied[0]) };

static int copy_options(const struct hd_route_request *request, const struct delegate_way *way,
			struct hd_options *out, struct hd_error *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < COPIED_COUNT; i++)
		rc = hd_options_set(out, copied[i].name,
				    hd_options_get(request->options, copied[i].name)->text, err);
	if (!rc && way->one_lane)
		rc = hd_options_set(out, "spread", "needed", err);
	if (!rc && way->balance)
		rc = hd_options_set(out, "balance", way->balance, err);
	return rc;
}

/* Refuses tables with paths to router ports on several lanes, and frees them. Aggregation nodes, which
 * send nothing to other subnets, may have a lane of their own. */
static int check_lanes(const struct hd_route_request *request, struct hd_routes *routes,
		       struct hd_error *err)
{
	const unsigned lanes = hd_routes_router_lanes(request->fabric, routes);

	if (!(lanes & (lanes - 1)))
		return 0;
	hd_error_set(
	    err, -ENOSPC,
	    "the paths of %s need more than one virtual lane, but packets keep their service "
	    "level in other subnets, where it can mean another lane",
	    routes->engine);
	hd_routes_free(routes);
	return -ENOSPC;
}

int delegate_route_whole(const struct hd_engine *engine, const struct hd_route_request *request,
			 struct hd_routes **out, struct hd_error *err)
{
	struct hd_route_request inner = *request;
	struct hd_routes *routes = NULL;

	/* a baseline is only that of an engine's own tables */
	if (request->baseline && strcmp(request->baseline->chosen, engine->name) != 0)
		inner.baseline = NULL;
	int rc = route_delegated(engine, &inner, &routes, err);
	if (rc)
		return rc;
	snprintf(routes->chosen, sizeof(routes->chosen), "%s", engine->name);
	routes->chosen_for = request->fabric->isl_count;
	*out = routes;
	return 0;
}

int delegate_route(const struct hd_engine *engine, const struct hd_route_request *request,
		   struct delegate_way way, struct hd_routes **out, struct hd_error *err)
{
	struct hd_route_request inner = *request;
	struct hd_options *own = hd_engine_options(engine);
	struct hd_routes *routes = NULL;
	int rc = own ? copy_options(request, &way, own, err) : hd_error_no_memory(err);

	inner.options = own;
	if (!rc)
		rc = delegate_route_whole(engine, &inner, &routes, err);
	hd_options_free(own);
	if (!rc && way.one_lane)
		rc = check_lanes(request, routes, err);
	if (!rc)
		*out = routes;
	return rc;
}
