/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every engine has in common around its own computation, and what becomes of tables over a fabric's life.
 *
 * Tables depend on the baseline and on what is missing from the fabric now. The baseline has the entries of the last
 * routing afresh and of what has grown since. It is kept by GUID (heddle/fabric/stored_tables.h), by the plugin, beside
 * the tables in place.
 *
 * - An entry stays while its path is allowed. An engine moves it only if it must.
 * - An entry whose path is lost takes another one, and returns to its baseline as soon as that is allowed again.
 * - A link that the baseline does not use is new. For few new links an engine that balances (balance_growth.h) moves only
 *   as many entries as give them their share. Where that is worth less than a routing afresh, or new links are many, all
 *   is routed afresh, and the hosts of each switch exchange columns so that few entries differ from those in place
 *   (column_match.h). The baseline then grows: hd_stored_tables_add() takes over what has moved.
 * - Losses never make anything route afresh, unless the lanes are too few. While more is missing than new, nothing is
 *   routed afresh, and the baseline stays as it is.
 * - dmodk has a closed form: its tables are always those of the labelled tree, with what is missing routed around.
 *
 * route_by_attempts() tries what next_attempt() lists, in that order; make_tables() is one attempt. An attempt fails with
 *   -ENOSPC   too few lanes: the next one keeps less of the tables in place;
 *   -EAGAIN   adapters that are set aside need a lane of their own: the same, with one lane less for the others;
 *   -ENOTSUP  the fabric is no tree: the same without hosts above the leaves, which are routed last.
 * What the next sweep would change though nothing is new changes now (settle()), so that an idle sweep changes nothing.
 */
#include "route.h"
#include "aside.h"
#include "balance_growth.h"
#include "bisections.h"
#include "column_match.h"
#include "engine_options.h"
#include "held_log.h"
#include "load_estimate.h"
#include "module_tables.h"
#include "policy_faults.h"
#include "policy_parts.h"
#include "raised_hosts.h"

#include <errno.h>
#include <heddle/engines.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/fabric/stored_tables.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What an attempt keeps. */
enum keeps {
	KEEPS_ALL, /* the tables in place, and entries go back to the baseline */
	KEEPS_IN_PLACE, /* the tables in place alone */
	KEEPS_BASELINE, /* the baseline alone */
	KEEPS_NOTHING /* all is routed afresh */
};

struct attempt {
	enum keeps keeps;
	const struct hd_fabric
	    *fabric; /* the request's, or a view without hosts above the leaves */
	unsigned reserved; /* lanes that are left to adapters that are set aside */
	const struct hd_routes *replaced; /* see struct aside_way */
	/* out: for want of lanes some entries are not what they might be. The next sweep may find room for them */
	bool tight;
};

/* The attempts of one routing. */
struct routing_job {
	const struct hd_engine *engine;
	const struct hd_route_request *request;
	bool delegated; /* by an engine that has others to try */
	bool in_place; /* not afresh, whatever fails */
	struct hd_fabric *views[RAISED_HOSTS_TRIES]; /* without hosts above the leaves */
	unsigned view_count, view; /* the one to be tried next */
	bool viewed; /* there are views, or it is known that there are none */
	int refusal; /* of the engine, before views are tried */
	struct hd_route_request own; /* what `request` points to */
	struct hd_fabric
	    *aside_view; /* without the adapters that the policy sets aside; NULL: it names none */
	struct hd_options *defaults; /* NULL: the request has options */
};

/* ---- lanes ---- */

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

/* A table of lanes needs as much memory as the routes, so none is made where all is on lane 0. Service levels that an
 * engine has given to its paths stand. */
static int assign_lanes(const struct routing_job *job, const struct hd_route_request *request,
			struct attempt *attempt, struct hd_routes *routes, struct hd_error *err)
{
	struct hd_lanes_request wanted = {
	    .fabric = request->fabric,
	    .available = engine_options_lanes(request) - attempt->reserved,
	    .spread = (enum hd_lanes_spread)hd_options_get(request->options, "spread")->number,
	    .one_is_enough = job->engine->one_lane,
	    .share = true,
	    .brief = job->delegated,
	    .previous = request->previous,
	    .threads = request->threads,
	    .go_on = request->go_on};
	struct hd_lanes lanes;

	if (job->engine->own_lanes || routes->sl ||
	    (wanted.one_is_enough && (wanted.spread != HD_SPREAD_ALL || wanted.available == 1)))
		return 0;
	int rc = hd_lanes_assign(&wanted, routes, &lanes, err);
	if (rc)
		return rc;
	remark_lanes(request, &lanes);
	attempt->tight |= lanes.shared > 0;
	return 0;
}

static int prevent_deadlock(const struct routing_job *job, const struct hd_route_request *request,
			    struct attempt *attempt, struct hd_routes *routes, struct hd_error *err)
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
		return assign_lanes(job, request, attempt, routes, err);
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
static int route_aside(const struct routing_job *job, const struct hd_route_request *request,
		       struct attempt *attempt, struct hd_routes *routes, struct hd_error *err)
{
	const struct hd_engine *engine = job->engine;
	const bool guarded = is_guarded(request), raised = request->fabric != job->request->fabric;
	const unsigned lanes = guarded && !raised ? engine_options_lanes(request) : 1;
	const struct aside_way way = {.lanes = lanes,
				      .guarded = guarded,
				      .all = raised,
				      .hosts_fixed = are_hosts_fixed(engine, request->policy),
				      .hosts_first = engine->one_lane,
				      .replaced = attempt->replaced};
	struct aside_left left = {0};
	int rc = aside_route(request, &way, routes, &left, err);

	attempt->tight |= left.unserved || left.moved ||
			  (lanes == 1 && !engine->one_lane && request->fabric->aside_count);
	if (rc || !left.unserved)
		return rc;
	if (raised)
		return hd_error_set(
		    err, -ENOTSUP,
		    "hosts above the leaves cannot be reached without a credit loop");
	if (lanes > 1 && !attempt->reserved && !request->previous)
		return -EAGAIN;
	remark_left(request, &left);
	return 0;
}

/* ---- one attempt ---- */

/* The request with what the attempt keeps. */
static struct hd_route_request narrow_request(const struct routing_job *job,
					      const struct attempt *attempt)
{
	struct hd_route_request own = *job->request;

	own.fabric = attempt->fabric;
	if (attempt->keeps == KEEPS_BASELINE)
		own.previous = own.baseline;
	if (attempt->keeps == KEEPS_NOTHING)
		own.previous = own.baseline = NULL;
	if (attempt->keeps == KEEPS_IN_PLACE)
		own.baseline = NULL;
	return own;
}

/* The engine's tables, with lanes, and with paths for the adapters that are set aside. */
static int make_tables(const struct routing_job *job, struct attempt *attempt,
		       struct hd_routes **out, struct hd_error *err)
{
	const struct hd_engine *engine = job->engine;
	const struct hd_route_request request = narrow_request(job, attempt);
	struct hd_route_request own = request;
	struct hd_routes *routes = NULL;
	int rc = hd_go_on_check(&request.go_on, err);

	if (rc)
		return rc;
	/* one that gives paths their lanes must not know of those that are reserved */
	if (engine->own_lanes || attempt->reserved)
		own.lanes = engine_options_lanes(&request) - attempt->reserved;
	rc = engine->from_module ? module_tables_make(engine, &request, &routes, err)
				 : engine->route(&own, &routes, err);
	if (engine->delegates) {
		*out = routes;
		return rc;
	}
	if (!rc)
		rc = hd_go_on_check(&request.go_on, err);
	if (!rc)
		rc = policy_faults_check(&request, routes, err);
	if (!rc)
		rc = prevent_deadlock(job, &request, attempt, routes, err);
	if (!rc)
		rc = hd_go_on_check(&request.go_on, err);
	if (!rc)
		rc = route_aside(job, &request, attempt, routes, err);
	if (!rc && engine->from_module)
		rc = module_tables_prove(&request, routes, is_guarded(&request), err);
	attempt->tight |= rc == -ENOSPC || (engine->own_lanes && !engine->keeps_entries);
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	return rc;
}

/* ---- which attempts ---- */

/* An engine for trees has refused, perhaps because of hosts above the leaves. Without these the rest may be a tree, and they
 * are routed last. io_guid_file says itself what may be done for such hosts. */
static int next_view(struct routing_job *job, int rc, const struct hd_fabric **view,
		     struct hd_error *err)
{
	const struct hd_policy *policy = job->request->policy;

	*view = NULL;
	if (!job->viewed) {
		if (rc != -ENOTSUP || !job->engine->needs_tree || (policy && policy->io_count))
			return 0;
		job->viewed = true;
		job->refusal = rc;
		rc = raised_hosts_views(job->request, job->views, &job->view_count, err);
		if (rc == -ENOMEM || rc == -ECANCELED)
			return rc;
	}
	if (job->view < job->view_count)
		*view = job->views[job->view++];
	return 0;
}

/* The attempt after one that has failed with `rc`. False: that was the last one. */
static bool next_attempt(struct routing_job *job, int *rc, struct attempt *attempt,
			 struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	const bool raised = attempt->fabric != request->fabric;
	const struct hd_fabric *view;
	struct hd_error ignored = {""};

	if (!*rc || *rc == -ENOMEM || *rc == -ECANCELED)
		return false;
	if (*rc == -EAGAIN) { /* a lane for the adapters that are set aside */
		attempt->reserved = 1;
		return true;
	}
	if (*rc == -ENOTSUP || raised) { /* the fabric without hosts above the leaves */
		const int failed = next_view(job, *rc, &view, &ignored);

		if (failed == -ENOMEM)
			*rc = hd_error_no_memory(err);
		else if (failed)
			*rc = hd_go_on_stopped(err);
		else if (!view)
			*rc = raised ? job->refusal : *rc;
		if (failed || !view)
			return false;
		attempt->fabric = view;
		attempt->reserved = 0;
		attempt->replaced = NULL;
		return true;
	}
	if (*rc != -ENOSPC || !request->previous || attempt->keeps == KEEPS_NOTHING)
		return false;
	attempt->reserved = 0;
	/* first entries do not go back, then only the baseline counts */
	if (attempt->keeps != KEEPS_BASELINE && request->baseline) {
		attempt->keeps++;
		return true;
	}
	/* entries that stay can need more lanes than those of a routing afresh */
	if (job->in_place)
		return false;
	hd_log(request->log, HD_LOG_WARNING,
	       "the tables in place, repaired, do not fit the virtual lanes; routing afresh");
	attempt->keeps = KEEPS_NOTHING;
	attempt->replaced = request->previous;
	return true;
}

static int route_by_attempts(struct routing_job *job, struct attempt *attempt,
			     struct hd_routes **out, struct hd_error *err)
{
	int rc;

	attempt->fabric = job->request->fabric;
	job->view = 0;
	do {
		const bool raised = attempt->fabric != job->request->fabric;

		rc = make_tables(job, attempt, out, raised ? NULL : err);
		if (!rc && raised)
			hd_log(job->request->log, HD_LOG_INFO,
			       "%u hosts above the leaves are routed after all others",
			       attempt->fabric->aside_count - job->request->fabric->aside_count);
		if (raised && rc == -ENOMEM)
			hd_error_no_memory(err);
		if (raised && rc == -ECANCELED)
			hd_go_on_stopped(err);
	} while (next_attempt(job, &rc, attempt, err));
	return rc;
}

/* ---- growth ---- */

#define AFRESH_GAIN_MUCH                                                                           \
	1.005 /* in place of BISECTIONS_GAIN with many new links: most entries move anyway */
#define AFRESH_ENTRIES 2000000u /* on larger fabrics only many new links are worth the time */

/* What the baseline says of a fabric that may have grown. */
struct baseline_links {
	uint32_t used; /* by the baseline, with those that are missing now */
	uint32_t missing, unused; /* of the fabric, by the baseline */
	bool much; /* many new links for the size of the fabric */
	bool many_lids; /* of hosts are new */
};

static bool has_many_new_lids(const struct hd_route_request *request)
{
	const struct hd_fabric *fabric = request->fabric;
	uint32_t count = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		const uint32_t lid = fabric->lid[fabric->host_port[host]];

		count += lid && hd_routes_port(request->baseline, fabric->host_switch[host], lid) ==
				    HD_NO_PORT;
	}
	return (uint64_t)count * HD_STORED_MANY_NEW > fabric->host_count;
}

static struct baseline_links look_at_baseline(const struct hd_route_request *request)
{
	const uint32_t used = hd_routes_used_links(request->fabric, request->baseline, NULL);
	const uint32_t unused = request->fabric->isl_count - used;
	const uint32_t missing =
	    unused ? hd_routes_missing_ports(request->fabric, request->baseline) : 0;

	return (struct baseline_links){used + missing, missing, unused,
				       (uint64_t)unused * BALANCE_GROWTH_MUCH >
					   request->fabric->isl_count,
				       has_many_new_lids(request)};
}

/* Whether it may be worth while to route afresh. */
static bool may_adopt(const struct routing_job *job, const struct hd_routes *routes,
		      const struct baseline_links *links)
{
	const uint64_t entries =
	    (uint64_t)routes->switch_count * hd_fabric_lids_in_use(job->request->fabric);

	return links->many_lids ||
	       (links->unused > links->missing && (links->much || entries <= AFRESH_ENTRIES));
}

/* Hosts that the policy tells apart must keep their columns. */
static bool are_hosts_alike(const struct hd_policy *policy)
{
	return !policy || !(policy->io_count || policy->cn_count || policy->order_count);
}

/* Routes afresh, and exchanges columns of hosts so that few entries differ from those in place. *fresh stays NULL if the
 * engine refuses, or does not use more links than the baseline does. */
static int make_fresh(struct routing_job *job, const struct baseline_links *links,
		      struct attempt *attempt, struct hd_routes **fresh, struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	struct hd_routes *made = NULL;
	int rc;

	*attempt = (struct attempt){.keeps = KEEPS_NOTHING, .replaced = request->previous};
	rc = route_by_attempts(job, attempt, &made, NULL);
	if (!rc &&
	    (links->many_lids || hd_routes_used_links(request->fabric, made, NULL) > links->used)) {
		/* labels say which column is whose */
		if (are_hosts_alike(request->policy) && !made->labels)
			rc = column_match(request->fabric, request->previous, request->threads,
					  &request->go_on, made);
		*fresh = made;
	} else {
		hd_routes_free(made);
	}
	return rc == -ENOMEM	  ? hd_error_no_memory(err)
	       : rc == -ECANCELED ? hd_go_on_stopped(err)
				  : 0;
}

/* Compares a routing afresh with the tables so far. *better: it is worth more. The caller frees *fresh. */
static int try_fresh(struct routing_job *job, const struct hd_routes *routes,
		     struct attempt *attempt, struct hd_routes **fresh, double worth[2],
		     bool *better, struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	const struct baseline_links links = look_at_baseline(request);
	const double gain = links.much || links.many_lids ? AFRESH_GAIN_MUCH : BISECTIONS_GAIN;
	int rc = may_adopt(job, routes, &links) ? make_fresh(job, &links, attempt, fresh, err) : 0;

	*better = false;
	if (rc || !*fresh)
		return rc;
	const struct hd_routes *const both[] = {routes, *fresh};

	rc = hd_go_on_explain(
	    bisections_worth(request->fabric, both, 2, request->threads, &request->go_on, worth),
	    err);
	*better = !rc && worth[1] > worth[0] * gain;
	return rc;
}

/* Where a fabric has grown and a routing afresh is worth more than the tables so far, it takes their place, and its remarks
 * are written. *adopted: it did. */
static int adopt_fresh(struct routing_job *job, struct attempt *attempt, struct hd_routes **routes,
		       bool *adopted, struct hd_error *err)
{
	const struct hd_log *log = job->request->log;
	struct hd_routes *fresh = NULL;
	struct attempt afresh;
	struct held_log remarks;
	double worth[2] = {0};

	*adopted = false;
	/* a closed form has nothing to gain, and engines that others run have grown there */
	if (!job->request->previous || !job->request->baseline || attempt->keeps == KEEPS_NOTHING ||
	    (*routes)->labels || job->engine->delegates)
		return 0;
	held_log_begin(&remarks);
	job->own.log = &remarks.log;
	int rc = try_fresh(job, *routes, &afresh, &fresh, worth, adopted, err);

	job->own.log = log;
	if (hd_arena_check(&remarks.arena))
		rc = hd_error_no_memory(err);
	if (!rc && *adopted) {
		held_log_write(&remarks, log);
		hd_log(log, HD_LOG_INFO,
		       "the fabric has grown and is routed afresh: effective bisection bandwidth "
		       "%.3f, and %.3f with the tables in place; %" PRIu64 " entries move",
		       worth[1], worth[0], hd_routes_count_changes(job->request->previous, fresh));
		hd_routes_free(*routes);
		*routes = fresh;
		*attempt = afresh;
	} else {
		hd_routes_free(fresh);
	}
	held_log_release(&remarks);
	return rc;
}

/* ---- rest ---- */

#define SETTLE_ROUNDS 3u

/* Once more, with the tables made so far in place: that is what the next sweep would do. Its tables take their place if
 * they fit. Errors: -ENOMEM, -ECANCELED. */
static int settle_once(struct routing_job *job, const struct hd_routes *baseline, bool *same,
		       struct hd_routes **routes, struct hd_error *err)
{
	struct routing_job next = {.engine = job->engine,
				   .delegated = job->delegated,
				   .in_place = true,
				   .own = *job->request};
	struct attempt attempt = {.replaced = job->request->previous};
	struct hd_routes *settled = NULL;
	struct held_log remarks;
	int rc;

	*same = true;
	held_log_begin(&remarks);
	next.request = &next.own;
	next.own.previous = *routes;
	next.own.baseline = baseline;
	next.own.log = &remarks.log;
	rc = route_by_attempts(&next, &attempt, &settled, err);
	if (!rc) {
		*same = hd_routes_equal(*routes, settled);
		hd_routes_free(*routes);
		*routes = settled;
		if (!*same)
			held_log_write(&remarks, job->request->log);
	}
	for (unsigned i = 0; i < next.view_count; i++)
		hd_fabric_free(next.views[i]);
	if (hd_arena_check(&remarks.arena))
		rc = hd_error_no_memory(err);
	held_log_release(&remarks);
	return rc == -ENOMEM || rc == -ECANCELED ? rc : 0;
}

/* What the next sweep would change, though nothing is new, changes now: entries that can go back to the baseline, and
 * LIDs that share paths no more. */
static int settle(struct routing_job *job, bool adopted, struct hd_routes **routes,
		  struct hd_error *err)
{
	struct hd_routes *baseline = NULL;
	bool same = false;
	int rc = 0;

	if (adopted && !(baseline = hd_routes_copy(*routes)))
		return hd_error_no_memory(err);
	for (unsigned round = 0; !rc && !same && round < SETTLE_ROUNDS; round++)
		rc = settle_once(job, adopted ? baseline : job->request->baseline, &same, routes,
				 err);
	hd_routes_free(baseline);
	return rc;
}

/* ---- all of it ---- */

/* Says how many entries the tables lack. An engine that delegates has said it already. */
static void remark_missing(const struct hd_engine *engine, const struct hd_route_request *request,
			   const struct hd_routes *routes)
{
	uint64_t missing = engine->delegates ? 0 : hd_routes_count_missing(request->fabric, routes);

	if (missing)
		hd_log(request->log, HD_LOG_WARNING,
		       "%" PRIu64 " (switch, LID) pairs have no path and get no entry", missing);
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

/* Fills in what the request leaves out. */
static int begin_job(struct routing_job *job, const struct hd_engine *engine,
		     const struct hd_route_request *request, bool delegated, struct hd_error *err)
{
	*job = (struct routing_job){.engine = engine, .delegated = delegated, .own = *request};
	job->request = &job->own;
	if (!request->options) {
		job->own.options = job->defaults = hd_engine_options(engine);
		if (!job->defaults)
			return hd_error_no_memory(err);
	}
	policy_parts_remark(engine, request);
	for (unsigned i = 0; i < engine->option_count; i++)
		if (!request->previous && !strcmp(engine->options[i].name, "rebalance") &&
		    hd_options_get(job->own.options, "rebalance")->number)
			hd_log(request->log, HD_LOG_WARNING,
			       "the option rebalance of %s has no effect any more: tables follow "
			       "the fabric as it "
			       "grows; remove the option",
			       engine->name);
	if (!request->policy || !request->policy->aggregation_count)
		return 0;
	int rc = set_aside(request, &job->aside_view, err);

	job->own.fabric = job->aside_view;
	return rc;
}

/* What comes after the attempt that made the tables. */
static int finish_tables(struct routing_job *job, struct attempt *attempt,
			 struct hd_routes **routes, struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	bool adopted;
	int rc = adopt_fresh(job, attempt, routes, &adopted, err);

	if (!rc && request->previous && attempt->tight &&
	    !hd_routes_equal(request->previous, *routes))
		rc = settle(job, adopted, routes, err);
	if (rc)
		return rc;
	remark_missing(job->engine, request, *routes);
	/* labels outlast engines that do not use them */
	if (request->previous && !(*routes)->labels)
		(*routes)->labels = hd_tree_labels_hold(request->previous->labels);
	snprintf((*routes)->engine, sizeof((*routes)->engine), "%s", job->engine->name);
	hd_options_print(request->options, (*routes)->options, sizeof((*routes)->options));
	return 0;
}

/* *out gets the tables, unless there was an error. What an engine has tried in vain does not matter if it was stopped. */
static int end_job(struct routing_job *job, int rc, struct hd_routes *routes,
		   struct hd_routes **out, struct hd_error *err)
{
	if (rc && !hd_go_on_ask(&job->request->go_on))
		rc = hd_go_on_stopped(err);
	if (!rc && !job->delegated)
		rc = compare_load(job->engine, job->request, routes, err);
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	for (unsigned i = 0; i < job->view_count; i++)
		hd_fabric_free(job->views[i]);
	hd_fabric_free(job->aside_view);
	hd_options_free(job->defaults);
	return rc;
}

int route_delegated(const struct hd_engine *engine, const struct hd_route_request *request,
		    struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	struct attempt attempt = {0};
	struct routing_job job;
	int rc = begin_job(&job, engine, request, true, err);

	if (!rc)
		rc = route_by_attempts(&job, &attempt, &routes, err);
	if (!rc)
		rc = finish_tables(&job, &attempt, &routes, err);
	return end_job(&job, rc, routes, out, err);
}

int hd_engine_route(const struct hd_engine *engine, const struct hd_route_request *request,
		    struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	struct attempt attempt = {0};
	struct routing_job job;
	int rc = begin_job(&job, engine, request, false, err);

	if (!rc)
		rc = route_by_attempts(&job, &attempt, &routes, err);
	if (!rc)
		rc = finish_tables(&job, &attempt, &routes, err);
	return end_job(&job, rc, routes, out, err);
}
