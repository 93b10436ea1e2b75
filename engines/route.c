/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every engine has in common around its own computation. */
#include "lane_options.h"
#include "policy_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static void remark_lanes(const struct hd_route_request *request, const struct hd_lanes *lanes)
{
	unsigned on = lanes->shared ? lanes->used : lanes->needed;

	if (lanes->shared)
		hd_log(request->log, HD_LOG_WARNING,
		       "%u LIDs share paths with other LIDs of the same switch: paths of their own "
		       "for all would need %u virtual lanes%s",
		       lanes->shared, lanes->needed, lanes->at_least ? " or more" : "");
	if (lanes->used > 1 && lanes->kept)
		hd_log(request->log, HD_LOG_INFO,
		       "the paths stay free of credit loops on their %u virtual lanes",
		       lanes->used);
	else if (lanes->used > 1)
		hd_log(request->log, HD_LOG_INFO,
		       "the paths are free of credit loops on %u virtual lane%s, spread over %u",
		       on, on == 1 ? "" : "s", lanes->used);
	if (lanes->moved)
		hd_log(request->log, HD_LOG_INFO,
		       "%" PRIu64 " paths have another lane than before; a connection follows when "
		       "it asks the SA again",
		       lanes->moved);
}

/* A table of lanes needs as much memory as the routes, so none is made where all is on lane 0. */
static int assign_lanes(const struct hd_engine *engine, const struct hd_route_request *request,
			struct hd_routes *routes, struct hd_error *err)
{
	struct hd_lanes_request wanted = {
	    .fabric = request->fabric,
	    .available = lane_options_available(request),
	    .spread = (enum hd_lanes_spread)hd_options_get(request->options, "spread")->number,
	    .one_is_enough = engine->one_lane,
	    .share = true,
	    .previous = request->previous,
	    .threads = request->threads};
	struct hd_lanes lanes;

	if (wanted.one_is_enough && (wanted.spread != HD_SPREAD_ALL || wanted.available == 1))
		return 0;
	int rc = hd_lanes_assign(&wanted, routes, &lanes, err);
	if (!rc)
		remark_lanes(request, &lanes);
	return rc;
}

static int prevent_deadlock(const struct hd_engine *engine, const struct hd_route_request *request,
			    struct hd_routes *routes, struct hd_error *err)
{
	switch ((enum hd_deadlock)hd_options_get(request->options, "deadlock")->number) {
	case HD_DEADLOCK_DROP:
		hd_log(request->log, HD_LOG_INFO,
		       "credit loops are left to head-of-queue lifetimes (deadlock=drop)");
		return 0;
	case HD_DEADLOCK_OFF:
		hd_log(request->log, HD_LOG_WARNING,
		       "NOTHING IS DONE AGAINST DEADLOCK (deadlock=off): these paths can stop the "
		       "fabric; for research only");
		return 0;
	default:
		return assign_lanes(engine, request, routes, err);
	}
}

static int route_once(const struct hd_engine *engine, const struct hd_route_request *request,
		      struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	int rc = engine->route(request, &routes, err);

	if (!rc)
		rc = prevent_deadlock(engine, request, routes, err);
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	return rc;
}

/* Entries that stay as they are may need more lanes than those of a routing afresh. */
static int route_afresh(const struct hd_engine *engine, const struct hd_route_request *request,
			struct hd_routes **out, struct hd_error *err)
{
	struct hd_route_request afresh = *request;

	afresh.previous = afresh.baseline = NULL;
	hd_log(request->log, HD_LOG_WARNING,
	       "the tables in place, repaired, do not fit the virtual lanes; routing afresh");
	return route_once(engine, &afresh, out, err);
}

static int compute(const struct hd_engine *engine, const struct hd_route_request *request,
		   struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	int rc = route_once(engine, request, &routes, err);

	if (rc == -ENOSPC && request->previous)
		rc = route_afresh(engine, request, &routes, err);
	if (rc)
		return rc;
	/* labels outlast engines that do not use them */
	if (request->previous && !routes->labels)
		routes->labels = hd_tree_labels_hold(request->previous->labels);
	snprintf(routes->engine, sizeof(routes->engine), "%s", engine->name);
	hd_options_print(request->options, routes->options, sizeof(routes->options));
	*out = routes;
	return 0;
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
	policy_parts_remark(engine, request);
	int rc = compute(engine, &complete, out, err);
	hd_options_free(defaults);
	return rc;
}
