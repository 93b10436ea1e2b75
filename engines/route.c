/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every engine has in common around its own computation. */
#include "route.h"
#include "aside.h"
#include "dag.h"
#include "engine_options.h"
#include "held_log.h"
#include "load_estimate.h"
#include "module_tables.h"
#include "policy_parts.h"
#include "ranking.h"
#include "resolved_policy.h"

#include <errno.h>
#include <heddle/engines.h>
#include <heddle/fabric/regular_tree.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- hosts above the leaves ---- */

/* Hosts above the leaves of a tree: storage, routers and management adapters on spines. */

#define RAISED_HOSTS_TRIES 8u

/* Marks the hosts above the leaves beside what is set aside already; their number. Where they are
 * many, the tree is another one, and its balance would suffer: then 0. */
static uint32_t mark(const struct hd_fabric *fabric, const struct hd_tree *tree, bool *aside)
{
	uint32_t count = 0;

	memcpy(aside, fabric->aside, fabric->port_count * sizeof(*aside));
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		if (!tree->level[fabric->host_switch[host]])
			continue;
		aside[fabric->host_port[host]] = true;
		count++;
	}
	return count > fabric->host_count / 4 ? 0 : count;
}

static int make_views(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		      struct hd_arena *arena, struct hd_fabric **views, unsigned *count,
		      struct hd_error *err)
{
	bool *aside = hd_arena_alloc(arena, fabric->port_count, sizeof(*aside));
	struct hd_tree tree;

	if (!aside)
		return hd_error_no_memory(err);
	int rc = hd_tree_find(fabric, facts, 1, arena, &tree, NULL);
	while (!rc && *count < RAISED_HOSTS_TRIES) {
		if (mark(fabric, &tree, aside)) {
			rc = hd_fabric_regroup(fabric, aside, &views[*count], err);
			*count += !rc;
		}
		if (!rc)
			rc = hd_tree_try_next(fabric, facts, arena, &tree, NULL);
	}
	return rc == -ENOMEM ? hd_error_no_memory(err) : 0;
}

/*
 * Views of the request's fabric in which the hosts above the leaves are set aside
 * (hd_fabric_regroup()), so that an engine for trees routes the tree without them: one view for
 * each opinion of how many hosts a switch has at least to be a leaf, the least number first.
 * views[] has RAISED_HOSTS_TRIES places, *count views are made; the caller frees each with
 * hd_fabric_free(). No view where no host is above the leaves, or the fabric is no tree. Errors:
 * -ENOMEM, and those of the policy. Cost: O(links) for each view.
 */
static int raised_hosts_views(const struct hd_route_request *request, struct hd_fabric **views,
			      unsigned *count, struct hd_error *err)
{
	struct resolved_policy policy;
	struct hd_arena arena = {0};
	struct hd_route_request quiet = *request;

	*count = 0;
	quiet.log = NULL; /* the engine has said what the policy names in vain */
	int rc = resolved_policy_make(&quiet, &policy, err);
	if (rc)
		return rc;
	const struct hd_tree_facts facts = {.is_root = policy.is_root,
					    .is_compute = policy.is_compute};
	rc = make_views(request->fabric, &facts, &arena, views, count, err);
	hd_arena_release(&arena);
	resolved_policy_release(&policy);
	return rc;
}

/* ---- what the policy forbids ---- */

/* Policies that leave hosts without a path to one another. */

/* A switch whose hosts have no path to a host. */
struct gap {
	uint32_t from, host;
};

static bool find_gap(const struct hd_fabric *fabric, const struct hd_routes *routes,
		     const uint32_t *component, struct gap *gap)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (fabric->host_base[sw] == fabric->host_base[sw + 1])
			continue;
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			uint32_t lid = fabric->lid[fabric->host_port[host]];
			if (!lid || component[sw] != component[fabric->host_switch[host]] ||
			    hd_routes_port(routes, sw, lid) != HD_NO_PORT)
				continue;
			*gap = (struct gap){sw, host};
			return true;
		}
	}
	return false;
}

/* Switches with hosts that reach the destination by climbing, then descending. */
static uint32_t count_reached(const struct ranking *ranking, struct dag *dag, uint32_t destination)
{
	const struct hd_fabric *fabric = ranking->fabric;
	const struct dag_paths paths = {.fabric = fabric, .up = ranking->up};
	uint32_t count = 0;

	dag_build(dag, &paths, destination);
	for (uint32_t i = 0; i < dag->reached; i++)
		count += fabric->host_base[dag->order[i]] < fabric->host_base[dag->order[i] + 1];
	return count;
}

/* The root without which the most switches reach the host; HD_NONE: all are as good as without. */
static uint32_t find_wrong_root(struct ranking *ranking, struct dag *dag, const struct gap *gap)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t to = fabric->host_switch[gap->host], wrong = HD_NONE;
	bool *is_root = ranking->policy.is_root;

	ranking_from_roots(ranking, is_root);
	uint32_t most = count_reached(ranking, dag, to);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (!is_root[sw])
			continue;
		is_root[sw] = false;
		ranking_from_roots(ranking, is_root);
		uint32_t count = count_reached(ranking, dag, to);
		is_root[sw] = true;
		if (count > most) {
			most = count;
			wrong = sw;
		}
	}
	return wrong;
}

static int name_fault(struct ranking *ranking, struct dag *dag, const struct gap *gap,
		      struct hd_error *err)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t port = fabric->host_port[gap->host];
	uint32_t wrong = ranking->policy.is_root ? find_wrong_root(ranking, dag, gap) : HD_NONE;
	char from[HD_LABEL_SIZE], to[HD_LABEL_SIZE];

	hd_port_label(fabric, fabric->port_base[gap->from], from, sizeof(from));
	hd_port_label(fabric, port, to, sizeof(to));
	if (wrong != HD_NONE)
		return hd_error_set(err, -ENOTSUP,
				    "hosts at %s would have no path to %s: 0x%016" PRIx64
				    " ('%s') in root_guid_file is no root",
				    from, to, fabric->node_guid[wrong], fabric->node_name[wrong]);
	if (!ranking->policy.is_io)
		return hd_error_set(err, -ENOTSUP,
				    "hosts at %s would have no path to %s: a root is missing in "
				    "root_guid_file",
				    from, to);
	return hd_error_set(err, -ENOTSUP,
			    "hosts at %s would have no path to %s: io_guid_file %s 0x%016" PRIx64
			    "%s",
			    from, to, ranking->policy.is_io[gap->host] ? "lists" : "must list",
			    fabric->port_guid[port] ? fabric->port_guid[port]
						    : fabric->node_guid[fabric->port_node[port]],
			    ranking->policy.is_io[gap->host] ? ", but max_reverse_hops is too small"
							     : " too, or be left out");
}

static int explain(const struct hd_route_request *request, const struct gap *gap,
		   struct hd_error *err)
{
	struct hd_route_request quiet = *request;
	struct ranking ranking = {.fabric = request->fabric, .request = &quiet};
	struct dag dag;

	quiet.log = NULL;
	int rc = resolved_policy_make(&quiet, &ranking.policy, err);
	if (rc)
		return rc;
	if (ranking_allocate(&ranking) || dag_allocate(&dag, request->fabric, &ranking.arena))
		rc = hd_error_no_memory(err);
	else
		rc = name_fault(&ranking, &dag, gap, err);
	hd_arena_release(&ranking.arena);
	resolved_policy_release(&ranking.policy);
	return rc;
}

/*
 * -ENOTSUP where the request has a root_guid_file or an io_guid_file and the tables have no entry
 * for a host at a switch with hosts of the same component. The reason names the pair, and the GUID
 * that is at fault: the host that io_guid_file does not list, or the listed root without which the
 * most switches would reach the host. 0 in all other cases; -ENOMEM. Cost: O(switches * LIDs) with
 * such a policy, nothing without.
 */
static int policy_faults_check(const struct hd_route_request *request,
			       const struct hd_routes *routes, struct hd_error *err)
{
	const struct hd_policy *policy = request->policy;
	struct hd_arena arena = {0};
	struct gap gap;
	int rc = 0;

	if (!policy || (!policy->root_count && !policy->io_count))
		return 0;
	uint32_t *component =
	    hd_arena_alloc(&arena, request->fabric->switch_count, sizeof(*component));
	if (!component || hd_tree_components(request->fabric, component))
		rc = hd_error_no_memory(err);
	else if (find_gap(request->fabric, routes, component, &gap))
		rc = explain(request, &gap, err);
	hd_arena_release(&arena);
	return rc;
}

/* ---- all engines ---- */

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

/* One routing, with tables in place or without. */
struct attempt {
	const struct hd_routes *replaced; /* see struct aside_way */
	bool delegated; /* by an engine that has others to try */
	/* For want of lanes some entries are not what they might be. The next sweep may find room for them. */
	bool tight;
};

/* What there is besides the engine's own paths. */
struct late {
	bool raised; /* hosts above the leaves are among the adapters that are set aside */
	unsigned reserved; /* lanes that are left to adapters that are set aside */
	struct attempt *attempt;
};

/* A table of lanes needs as much memory as the routes, so none is made where all is on lane 0. Service levels that an
 * engine has given to its paths stand. */
static int assign_lanes(const struct hd_engine *engine, const struct hd_route_request *request,
			const struct late *late, struct hd_routes *routes, struct hd_error *err)
{
	struct hd_lanes_request wanted = {
	    .fabric = request->fabric,
	    .available = engine_options_lanes(request) - late->reserved,
	    .spread = (enum hd_lanes_spread)hd_options_get(request->options, "spread")->number,
	    .one_is_enough = engine->one_lane,
	    .share = true,
	    .brief = late->attempt->delegated,
	    .previous = request->previous,
	    .threads = request->threads,
	    .go_on = request->go_on};
	struct hd_lanes lanes;

	if (engine->own_lanes || routes->sl ||
	    (wanted.one_is_enough && (wanted.spread != HD_SPREAD_ALL || wanted.available == 1)))
		return 0;
	int rc = hd_lanes_assign(&wanted, routes, &lanes, err);
	if (rc)
		return rc;
	remark_lanes(request, &lanes);
	late->attempt->tight |= lanes.shared > 0;
	return 0;
}

static int prevent_deadlock(const struct hd_engine *engine, const struct hd_route_request *request,
			    const struct late *late, struct hd_routes *routes, struct hd_error *err)
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
		return assign_lanes(engine, request, late, routes, err);
	}
}

static bool is_guarded(const struct hd_route_request *request)
{
	return hd_options_get(request->options, "deadlock")->number == HD_DEADLOCK_VL;
}

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
	unsigned lanes = guarded && !late->raised ? engine_options_lanes(request) : 1;
	const struct aside_way way = {.lanes = lanes,
				      .guarded = guarded,
				      .all = late->raised,
				      .hosts_fixed = are_hosts_fixed(engine, request->policy),
				      .hosts_first = engine->one_lane,
				      .replaced = late->attempt->replaced};
	struct aside_left left = {0};
	int rc = aside_route(request, &way, routes, &left, err);

	late->attempt->tight |= left.unserved || left.moved ||
				(lanes == 1 && !engine->one_lane && request->fabric->aside_count);
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

/* An engine that gives paths their lanes, by some of its options or always, must not know of those that are reserved. */
static int route_own(const struct hd_engine *engine, const struct hd_route_request *request,
		     unsigned reserved, struct hd_routes **out, struct hd_error *err)
{
	struct hd_route_request own = *request;

	if (engine->own_lanes || reserved)
		own.lanes = engine_options_lanes(request) - reserved;
	return engine->route(&own, out, err);
}

static int route_lanes(const struct hd_engine *engine, const struct hd_route_request *request,
		       const struct late *late, struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	int rc = hd_go_on_check(&request->go_on, err);

	if (rc)
		return rc;
	rc = engine->from_module ? module_tables_make(engine, request, &routes, err)
				 : route_own(engine, request, late->reserved, &routes, err);
	if (engine->delegates) {
		*out = routes;
		return rc;
	}
	if (!rc)
		rc = hd_go_on_check(&request->go_on, err);
	if (!rc)
		rc = policy_faults_check(request, routes, err);
	if (!rc)
		rc = prevent_deadlock(engine, request, late, routes, err);
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
		      bool raised, struct attempt *attempt, struct hd_routes **out,
		      struct hd_error *err)
{
	struct late late = {.raised = raised, .attempt = attempt};
	int rc = route_lanes(engine, request, &late, out, err);

	late.reserved = 1;
	return rc == -EAGAIN ? route_lanes(engine, request, &late, out, err) : rc;
}

/* An engine for trees has refused: perhaps because of hosts above the leaves. Without these the
 * rest may be a tree, and they are routed last. */
static int route_without_raised(const struct hd_engine *engine,
				const struct hd_route_request *request, struct attempt *attempt,
				struct hd_routes **out, struct hd_error *err)
{
	struct hd_fabric *views[RAISED_HOSTS_TRIES] = {NULL};
	struct hd_route_request wanted = *request;
	unsigned count = 0;
	int rc = raised_hosts_views(request, views, &count, err);

	if (!rc)
		rc = -ENOTSUP;
	for (unsigned i = 0; i < count; i++) {
		wanted.fabric = views[i];
		if (rc == -ENOTSUP && !(rc = route_view(engine, &wanted, true, attempt, out, NULL)))
			hd_log(request->log, HD_LOG_INFO,
			       "%u hosts above the leaves are routed after all others",
			       views[i]->aside_count - request->fabric->aside_count);
		hd_fabric_free(views[i]);
	}
	return rc;
}

static int route_once(const struct hd_engine *engine, const struct hd_route_request *request,
		      struct attempt *attempt, struct hd_routes **out, struct hd_error *err)
{
	int rc = route_view(engine, request, false, attempt, out, err);

	/* io_guid_file says itself what may be done for hosts above the leaves */
	if (rc != -ENOTSUP || !engine->needs_tree || (request->policy && request->policy->io_count))
		return rc;
	attempt->replaced = NULL;
	int again = route_without_raised(engine, request, attempt, out, NULL);
	return again == -ENOMEM	     ? hd_error_no_memory(err)
	       : again == -ECANCELED ? hd_go_on_stopped(err)
	       : again		     ? rc
				     : 0;
}

/* ---- tables in place that do not fit the lanes ---- */

/* Entries that stay as they are may need more lanes than those of a routing afresh. */
static int route_afresh(const struct hd_engine *engine, const struct hd_route_request *request,
			struct attempt *attempt, struct hd_routes **out, struct hd_error *err)
{
	struct hd_route_request afresh = *request;

	afresh.previous = afresh.baseline = NULL;
	attempt->replaced = request->previous;
	hd_log(request->log, HD_LOG_WARNING,
	       "the tables in place, repaired, do not fit the virtual lanes; routing afresh");
	return route_once(engine, &afresh, attempt, out, err);
}

/* With tables in place: if these and entries that go back to the baseline do not fit the lanes together, they stay as they
 * are. If they do not fit either, only the baseline counts. */
static int route_in_place(const struct hd_engine *engine, const struct hd_route_request *request,
			  struct attempt *attempt, struct hd_routes **out, struct hd_error *err)
{
	struct hd_route_request other = *request;
	int rc = route_once(engine, request, attempt, out, err);

	attempt->tight |= rc == -ENOSPC || (engine->own_lanes && !engine->keeps_entries);
	if (rc != -ENOSPC || !request->baseline)
		return rc;
	other.baseline = NULL;
	rc = route_once(engine, &other, attempt, out, err);
	if (rc != -ENOSPC)
		return rc;
	other.previous = other.baseline = request->baseline;
	return route_once(engine, &other, attempt, out, err);
}

/* Once more, with the tables made so far in place: that is what the next sweep would do. Its tables take their place if
 * they fit. Errors: -ENOMEM, -ECANCELED. */
static int settle_once(const struct hd_engine *engine, const struct hd_route_request *request,
		       bool delegated, bool *same, struct hd_routes **routes, struct hd_error *err)
{
	struct hd_route_request next = *request;
	struct attempt attempt = {.replaced = request->previous, .delegated = delegated};
	struct hd_routes *settled = NULL;
	struct held_log remarks;

	*same = true;
	held_log_begin(&remarks);
	next.previous = *routes;
	next.log = &remarks.log;
	int rc = route_in_place(engine, &next, &attempt, &settled, err);
	if (!rc) {
		*same = hd_routes_equal(*routes, settled);
		hd_routes_free(*routes);
		*routes = settled;
		if (!*same)
			held_log_write(&remarks, request->log);
	}
	if (hd_arena_check(&remarks.arena))
		rc = hd_error_no_memory(err);
	held_log_release(&remarks);
	return rc == -ENOMEM || rc == -ECANCELED ? rc : 0;
}

#define SETTLE_ROUNDS 3u

/* What the next sweep would change, though nothing is new, changes now: entries that can go back to the baseline, and
 * LIDs that share paths no more. */
static int settle(const struct hd_engine *engine, const struct hd_route_request *request,
		  bool delegated, struct hd_routes **routes, struct hd_error *err)
{
	bool same = false;
	int rc = 0;

	for (unsigned round = 0; !rc && !same && round < SETTLE_ROUNDS; round++)
		rc = settle_once(engine, request, delegated, &same, routes, err);
	if (rc) {
		hd_routes_free(*routes);
		*routes = NULL;
	}
	return rc;
}

static int route_all(const struct hd_engine *engine, const struct hd_route_request *request,
		     bool delegated, struct hd_routes **routes, struct hd_error *err)
{
	struct attempt attempt = {.delegated = delegated};
	int rc = route_in_place(engine, request, &attempt, routes, err);

	if (rc == -ENOSPC && request->previous)
		rc = route_afresh(engine, request, &attempt, routes, err);
	if (!rc && request->previous && attempt.tight &&
	    !hd_routes_equal(request->previous, *routes))
		rc = settle(engine, request, delegated, routes, err);
	return rc;
}

/* Says how many entries the tables lack. An engine that delegates has said it already. */
static void remark_missing(const struct hd_engine *engine, const struct hd_route_request *request,
			   const struct hd_routes *routes)
{
	uint64_t missing = engine->delegates ? 0 : hd_routes_count_missing(request->fabric, routes);

	if (missing)
		hd_log(request->log, HD_LOG_WARNING,
		       "%" PRIu64 " (switch, LID) pairs have no path and get no entry", missing);
}

static int compute(const struct hd_engine *engine, const struct hd_route_request *request,
		   bool delegated, struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	int rc = route_all(engine, request, delegated, &routes, err);

	if (rc)
		return rc;
	remark_missing(engine, request, routes);
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
	    !request->fabric->isl_count || !request->fabric->host_count)
		return 0;
	if (load_estimate_tables(request->fabric, routes, &own) ||
	    load_estimate_paths(request->fabric, NULL, &possible))
		return hd_error_no_memory(err);
	if (own >= FAR_WORSE * possible)
		hd_log(request->log, HD_LOG_WARNING,
		       "%s loads its fullest link with %.0f paths of a sample, balanced shortest "
		       "paths would with about %.0f: take auto",
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
		rc = compute(engine, &complete, delegated, &routes, err);
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
