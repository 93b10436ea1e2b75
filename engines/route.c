/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every engine has in common around its own computation. */
#include "route.h"
#include "aside.h"
#include "lane_options.h"
#include "load_estimate.h"
#include "module_tables.h"
#include "policy_faults.h"
#include "policy_parts.h"
#include "raised_hosts.h"
#include "resolved_policy.h"

#include <errno.h>
#include <heddle/fabric/tree_labels.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
			unsigned reserved, struct hd_routes *routes, struct hd_error *err)
{
	struct hd_lanes_request wanted = {
	    .fabric = request->fabric,
	    .available = lane_options_available(request) - reserved,
	    .spread = (enum hd_lanes_spread)hd_options_get(request->options, "spread")->number,
	    .one_is_enough = engine->one_lane,
	    .share = true,
	    .previous = request->previous,
	    .threads = request->threads,
	    .go_on = request->go_on};
	struct hd_lanes lanes;

	if (wanted.one_is_enough && (wanted.spread != HD_SPREAD_ALL || wanted.available == 1))
		return 0;
	int rc = hd_lanes_assign(&wanted, routes, &lanes, err);
	if (!rc)
		remark_lanes(request, &lanes);
	return rc;
}

static int prevent_deadlock(const struct hd_engine *engine, const struct hd_route_request *request,
			    unsigned reserved, struct hd_routes *routes, struct hd_error *err)
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
		return assign_lanes(engine, request, reserved, routes, err);
	}
}

static bool is_guarded(const struct hd_route_request *request)
{
	return hd_options_get(request->options, "deadlock")->number == HD_DEADLOCK_VL;
}

/* What there is besides the engine's own paths. */
struct late {
	bool raised; /* hosts above the leaves are among the adapters that are set aside */
	unsigned reserved; /* lanes that are left to adapters that are set aside */
	const struct hd_routes *replaced; /* see struct aside_way */
};

static void remark_left(const struct hd_route_request *request, const struct aside_left *left)
{
	if (left->lost)
		hd_log(request->log, HD_LOG_WARNING,
		       "%" PRIu64
		       " paths to or from aggregation nodes would close a credit loop: their "
		       "switches have no entry for them",
		       left->unserved);
}

/* Whether the engine takes its paths from a file of the policy. */
static bool are_hosts_fixed(const struct hd_engine *engine, const struct hd_policy *policy)
{
	return policy &&
	       ((policy->root_count && engine->policies & HD_POLICY_BIT(HD_POLICY_ROOTS)) ||
		(policy->io_count && engine->policies & HD_POLICY_BIT(HD_POLICY_IO_NODES)));
}

/* Adapters that are set aside come last. -EAGAIN: with a lane of their own there would be paths for
 * all of them. Tables in place stay for the others. */
static int route_aside(const struct hd_engine *engine, const struct hd_route_request *request,
		       const struct late *late, struct hd_routes *routes, struct hd_error *err)
{
	bool guarded = is_guarded(request);
	unsigned lanes = guarded && !late->raised ? lane_options_available(request) : 1;
	const struct aside_way way = {.lanes = lanes,
				      .guarded = guarded,
				      .all = late->raised,
				      .hosts_fixed = are_hosts_fixed(engine, request->policy),
				      .hosts_first = engine->one_lane,
				      .replaced = late->replaced};
	struct aside_left left = {0};
	int rc = aside_route(request, &way, routes, &left, err);

	if (rc || !left.unserved)
		return rc;
	if (late->raised)
		return hd_error_set(
		    err, -ENOTSUP,
		    "hosts above the leaves cannot be reached without a credit loop");
	if (lanes > 1 && !late->reserved && !request->previous)
		return -EAGAIN;
	remark_left(request, &left);
	return 0;
}

static int route_lanes(const struct hd_engine *engine, const struct hd_route_request *request,
		       const struct late *late, struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	int rc = hd_go_on_check(&request->go_on, err);

	if (rc)
		return rc;
	rc = engine->from_module ? module_tables_make(engine, request, &routes, err)
				 : engine->route(request, &routes, err);
	if (engine->delegates) {
		*out = routes;
		return rc;
	}
	if (!rc)
		rc = hd_go_on_check(&request->go_on, err);
	if (!rc)
		rc = policy_faults_check(request, routes, err);
	if (!rc)
		rc = prevent_deadlock(engine, request, late->reserved, routes, err);
	if (!rc)
		rc = hd_go_on_check(&request->go_on, err);
	if (!rc)
		rc = route_aside(engine, request, late, routes, err);
	if (!rc && engine->from_module)
		rc = module_tables_prove(request, routes, is_guarded(request), err);
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	return rc;
}

static int route_view(const struct hd_engine *engine, const struct hd_route_request *request,
		      bool raised, const struct hd_routes *replaced, struct hd_routes **out,
		      struct hd_error *err)
{
	struct late late = {.raised = raised, .replaced = replaced};
	int rc = route_lanes(engine, request, &late, out, err);

	late.reserved = 1;
	return rc == -EAGAIN ? route_lanes(engine, request, &late, out, err) : rc;
}

/* An engine for trees has refused: perhaps because of hosts above the leaves. Without these the
 * rest may be a tree, and they are routed last. */
static int route_without_raised(const struct hd_engine *engine,
				const struct hd_route_request *request, struct hd_routes **out,
				struct hd_error *err)
{
	struct hd_fabric *views[RAISED_HOSTS_TRIES] = {NULL};
	struct hd_route_request wanted = *request;
	unsigned count = 0;
	int rc = raised_hosts_views(request, views, &count, err);

	if (!rc)
		rc = -ENOTSUP;
	for (unsigned i = 0; i < count; i++) {
		wanted.fabric = views[i];
		if (rc == -ENOTSUP && !(rc = route_view(engine, &wanted, true, NULL, out, NULL)))
			hd_log(request->log, HD_LOG_INFO,
			       "%u hosts above the leaves are routed after all others",
			       views[i]->aside_count - request->fabric->aside_count);
		hd_fabric_free(views[i]);
	}
	return rc;
}

/* replaced: see struct aside_way. */
static int route_once(const struct hd_engine *engine, const struct hd_route_request *request,
		      const struct hd_routes *replaced, struct hd_routes **out,
		      struct hd_error *err)
{
	int rc = route_view(engine, request, false, replaced, out, err);

	/* io_guid_file says itself what may be done for hosts above the leaves */
	if (rc != -ENOTSUP || !engine->needs_tree || (request->policy && request->policy->io_count))
		return rc;
	int again = route_without_raised(engine, request, out, NULL);
	return again == -ENOMEM	     ? hd_error_no_memory(err)
	       : again == -ECANCELED ? hd_go_on_stopped(err)
	       : again		     ? rc
				     : 0;
}

/* Entries that stay as they are may need more lanes than those of a routing afresh. */
static int route_afresh(const struct hd_engine *engine, const struct hd_route_request *request,
			struct hd_routes **out, struct hd_error *err)
{
	struct hd_route_request afresh = *request;

	afresh.previous = afresh.baseline = NULL;
	hd_log(request->log, HD_LOG_WARNING,
	       "the tables in place, repaired, do not fit the virtual lanes; routing afresh");
	return route_once(engine, &afresh, request->previous, out, err);
}

static int compute(const struct hd_engine *engine, const struct hd_route_request *request,
		   struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	int rc = route_once(engine, request, NULL, &routes, err);

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

#define FAR_WORSE 2.0

/* Says where balanced shortest paths would load the fullest link far less. Only after a routing
 * afresh, so the log has it once, and not for the closed form of a tree, which balances well. */
static int compare_load(const struct hd_engine *engine, const struct hd_route_request *request,
			const struct hd_routes *routes, struct hd_error *err)
{
	double own, possible;

	if (engine->delegates || engine->shortest_paths || request->previous || routes->labels ||
	    !request->fabric->isl_count)
		return 0;
	if (load_estimate_tables(request->fabric, routes, &own) ||
	    load_estimate_paths(request->fabric, NULL, &possible))
		return hd_error_no_memory(err);
	if (own >= FAR_WORSE * possible)
		hd_log(request->log, HD_LOG_WARNING,
		       "%s loads its fullest link with %.0f paths of a sample, spf would with "
		       "about %.0f: take spf, or auto",
		       engine->name, own, possible);
	return 0;
}

/* A view of the fabric in which the policy's adapters are set aside, too. */
static int set_aside(const struct hd_route_request *request, struct hd_fabric **out,
		     struct hd_error *err)
{
	bool *aside = hd_fabric_listed_aside(request->fabric, request->policy, request->log);

	if (!aside)
		return hd_error_no_memory(err);
	int rc = hd_fabric_regroup(request->fabric, aside, out, err);
	free(aside);
	return rc;
}

struct hd_options *hd_engine_options(const struct hd_engine *engine)
{
	return hd_options_new(engine->options, engine->option_count);
}

static int route_complete(const struct hd_engine *engine, const struct hd_route_request *request,
			  bool delegated, struct hd_routes **out, struct hd_error *err)
{
	struct hd_route_request complete = *request;
	struct hd_options *defaults = NULL;

	if (!complete.options) {
		complete.options = defaults = hd_engine_options(engine);
		if (!defaults)
			return hd_error_no_memory(err);
	}
	struct hd_fabric *view = NULL;
	struct hd_routes *routes = NULL;
	int rc = 0;
	policy_parts_remark(engine, request);
	if (request->policy && request->policy->aggregation_count) {
		rc = set_aside(request, &view, err);
		complete.fabric = view;
	}
	if (!rc)
		rc = compute(engine, &complete, &routes, err);
	/* what an engine has tried in vain meanwhile does not matter */
	if (rc && !hd_go_on_ask(&request->go_on))
		rc = hd_go_on_stopped(err);
	if (!rc && !delegated)
		rc = compare_load(engine, &complete, routes, err);
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	hd_fabric_free(view);
	hd_options_free(defaults);
	return rc;
}

int route_delegated(const struct hd_engine *engine, const struct hd_route_request *request,
		    struct hd_routes **out, struct hd_error *err)
{
	return route_complete(engine, request, true, out, err);
}

int hd_engine_route(const struct hd_engine *engine, const struct hd_route_request *request,
		    struct hd_routes **out, struct hd_error *err)
{
	return route_complete(engine, request, false, out, err);
}
