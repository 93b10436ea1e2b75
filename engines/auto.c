/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * auto: the one of dmodk, updown, spf, turns and rings whose tables have the highest effective bisection
 * bandwidth (bisections.h). All route, and the log has the remarks of the one that is taken. turns takes part where spf
 * lacks lanes and the fabric is no tree, rings on any torus or mesh. Where there are dimensions, spf routes once more
 * by their order.
 * On a regular fat tree from which nothing is missing dmodk is known to be the best, and the others
 * do not route. spf, which knows neither roots nor I/O nodes, takes no part where the policy names
 * some, unless the others refuse. On one lane paths between hosts can make room for aggregation nodes,
 * and what that costs counts.
 *
 * A choice stays (hd_routes.chosen). With tables in place, their engine alone routes. First comes
 * the engine of the baseline if the fabric has as many links as when it was chosen, or nearly so:
 * what was out of order is back. Engines are compared again if the engine refuses, or if the number
 * of links has changed by more than AUTO_CHANGE percent and AUTO_CABLES cables
 * (hd_routes.chosen_for). Then another engine has to be better by AUTO_GAIN.
 */
#include "all_engines.h"
#include "balance_plan.h"
#include "bisections.h"
#include "delegate.h"
#include "engine_options.h"
#include "held_log.h"
#include "parallel_links.h"
#include "resolved_policy.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <heddle/engines.h>
#include <heddle/fabric/aside.h>
#include <heddle/fabric/regular_tree.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the contest ---- */

/* The engines among which `auto` chooses, and what the tables of each are worth on a fabric. */

/* In the order in which they are preferred if their tables are worth about the same. */
enum {
	CONTEST_DMODK,
	CONTEST_UPDOWN,
	CONTEST_SPF,
	CONTEST_SPF_DIMENSIONS, /* the same engine, and the same choice when tables are in place */
	CONTEST_TURNS,
	CONTEST_RINGS,
	CONTEST_ENGINES
};

struct contest_engine {
	const struct hd_engine *engine;
	const char *balance; /* its option; NULL: the engine's own rule */
	bool tried; /* it has made tables, or has refused */
	int refusal; /* negative errno with `reason`; 0: it has not refused */
	struct hd_error reason;
	struct hd_routes *routes; /* NULL: none, or taken */
	bool settled; /* contest_settle() */
	bool bare; /* the routes lack all paths to and from adapters that are set aside */
	struct held_log remarks;
	double worth; /* of routes, after contest_measure() */
};

struct contest {
	const struct hd_route_request *request; /* that of auto */
	struct contest_engine engines[CONTEST_ENGINES];
	bool has_dimensions; /* several, in a torus, mesh, hypercube or HyperX: parallel_links.h */
	const struct hd_routes *in_place; /* measured, too, unless it is NULL */
	double in_place_worth;
};

/*
 * How an engine routes. afresh: the tables in place do not matter to it. from_baseline: the baseline is in their
 * place. bare: only to hosts and switches; paths to and from other adapters count for nothing here, and take most of the
 * time.
 */
struct contest_way {
	bool afresh, bare, from_baseline;
};

#define CONTEST_EQUAL .002

_Static_assert(CONTEST_ENGINES < BISECTIONS_TABLES, "the tables in place are measured, too");

static const struct hd_engine *const entrants[CONTEST_ENGINES] = {
    [CONTEST_DMODK] = &hd_engine_dmodk, [CONTEST_UPDOWN] = &hd_engine_updown,
    [CONTEST_SPF] = &hd_engine_spf,	[CONTEST_SPF_DIMENSIONS] = &hd_engine_spf,
    [CONTEST_TURNS] = &hd_engine_turns, [CONTEST_RINGS] = &hd_engine_rings,
};

/* Released with contest_release(). It must not be copied or moved. */
static void contest_begin(struct contest *contest, const struct hd_route_request *request)
{
	*contest = (struct contest){.request = request};
	for (unsigned i = 0; i < CONTEST_ENGINES; i++) {
		contest->engines[i].engine = entrants[i];
		held_log_begin(&contest->engines[i].remarks);
	}
	contest->engines[CONTEST_SPF_DIMENSIONS].balance = "dimensions";
}

/* The number of an engine by its name; CONTEST_ENGINES: it is none of these. */
static unsigned contest_find(const char *name)
{
	unsigned number = 0;

	while (number < CONTEST_ENGINES && strcmp(entrants[number]->name, name) != 0)
		number++;
	return number;
}

/* Routes as asked, or without paths to adapters that are set aside. These are marked in the view of the
 * fabric, but not listed; the policy has nothing to add. */
static int route_way(struct contest_engine *own, const struct hd_route_request *request)
{
	const struct delegate_way way = {.balance = own->balance};
	struct hd_policy policy = {0};
	struct hd_route_request bare = *request;
	struct hd_fabric *view = NULL;

	if (!own->bare)
		return delegate_route(own->engine, request, way, &own->routes, &own->reason);
	int rc = hd_fabric_regroup(request->fabric, request->fabric->aside, &view, &own->reason);
	if (rc)
		return rc;
	view->aside_count = 0;
	bare.fabric = view;
	if (request->policy) {
		policy = *request->policy;
		policy.aggregation_count = 0;
		bare.policy = &policy;
	}
	rc = delegate_route(own->engine, &bare, way, &own->routes, &own->reason);
	hd_fabric_free(view);
	return rc;
}

/* Routes with one engine, which has not been tried yet. A refusal is no error. Errors: -ECANCELED,
 * -ENOMEM. */
static int contest_try(struct contest *contest, unsigned number, struct contest_way way,
		       struct hd_error *err)
{
	struct contest_engine *own = &contest->engines[number];
	struct hd_route_request request = *contest->request;

	own->bare = way.bare && request.fabric->aside_count;
	request.log = &own->remarks.log;
	if (way.afresh)
		request.previous = request.baseline = NULL;
	if (way.from_baseline)
		request.previous = request.baseline;
	own->tried = true;
	int rc = route_way(own, &request);
	if (hd_arena_check(&own->remarks.arena))
		rc = hd_error_no_memory(&own->reason);
	if (rc == -ENOMEM || rc == -ECANCELED) {
		if (err)
			*err = own->reason;
		return rc;
	}
	own->refusal = rc;
	return 0;
}

/* Measures all tables, and those in place in the same way. Errors: -ECANCELED, -ENOMEM. Cost: that of
 * bisections_worth(). */
static int contest_measure(struct contest *contest, struct hd_error *err)
{
	const struct hd_route_request *request = contest->request;
	const struct hd_routes *tables[BISECTIONS_TABLES];
	double worth[BISECTIONS_TABLES];
	unsigned count = 0, at = 0;

	for (unsigned i = 0; i < CONTEST_ENGINES; i++)
		if (contest->engines[i].routes)
			tables[count++] = contest->engines[i].routes;
	if (contest->in_place)
		tables[count++] = contest->in_place;
	int rc = bisections_worth(request->fabric, tables, count, request->threads, &request->go_on,
				  worth);
	if (rc)
		return hd_go_on_explain(rc, err);
	for (unsigned i = 0; i < CONTEST_ENGINES; i++)
		if (contest->engines[i].routes)
			contest->engines[i].worth = worth[at++];
	if (contest->in_place)
		contest->in_place_worth = worth[at];
	return 0;
}

/* By the same bisections as contest_measure(). */
static int measure_again(const struct contest *contest, struct contest_engine *own,
			 struct hd_error *err)
{
	const struct hd_route_request *request = contest->request;
	const struct hd_routes *tables[] = {own->routes};

	return hd_go_on_explain(bisections_worth(request->fabric, tables, 1, request->threads,
						 &request->go_on, &own->worth),
				err);
}

/* Forgets the tables and the remarks of an engine. */
static void contest_forget(struct contest_engine *own)
{
	hd_routes_free(own->routes);
	own->routes = NULL;
	held_log_release(&own->remarks);
	held_log_begin(&own->remarks);
}

/* Routes again with all paths if the tables of an engine are bare. The engine may refuse now, and its tables may be worth
 * less: paths between hosts may have made room for others. So they are measured again. Errors: -ECANCELED, -ENOMEM. */
static int contest_complete(struct contest *contest, unsigned number, bool afresh,
			    struct hd_error *err)
{
	struct contest_engine *own = &contest->engines[number];

	if (!own->bare)
		return 0;
	contest_forget(own);
	int rc = contest_try(contest, number, (struct contest_way){.afresh = afresh}, err);
	return rc || !own->routes ? rc : measure_again(contest, own, err);
}

/* An engine has routed afresh though there are tables in place. What the next sweep would change then, as the baseline may
 * be its own or lanes may be scarce, changes now. Errors: -ECANCELED, -ENOMEM. */
static int contest_settle(struct contest *contest, unsigned number, struct hd_error *err)
{
	struct contest_engine *own = &contest->engines[number];
	struct hd_route_request request = *contest->request;
	struct hd_routes *fresh = own->routes;

	if (own->settled || !fresh)
		return 0;
	own->settled = true;
	request.previous = fresh;
	request.log = NULL;
	own->routes = NULL;
	int rc = route_way(own, &request);
	if (!own->routes) {
		own->routes = fresh;
		if (err && (rc == -ENOMEM || rc == -ECANCELED))
			*err = own->reason;
		return rc == -ENOMEM || rc == -ECANCELED ? rc : 0;
	}
	hd_routes_free(fresh);
	return measure_again(contest, own, err);
}

/* Tables of rings are repaired only by sweeps, and have no adaptive routing (heddle/fabric/lane_maps.h): they have to be
 * better by so much more. */
#define CONTEST_RINGS_LESS .002

/* Where most switches have no hosts, as in damaged trees, tables of turns keep little of those in place. They have to be
 * better by so much. */
#define CONTEST_TURNS_SHARE .9

/* What the tables of an engine count for; negative: it has none. */
static double contest_value(const struct contest *contest, unsigned number)
{
	const struct contest_engine *own = &contest->engines[number];

	if (!own->routes)
		return -1;
	if (number == CONTEST_TURNS && !balance_plan_hosts_everywhere(contest->request->fabric))
		return own->worth * CONTEST_TURNS_SHARE;
	return number == CONTEST_RINGS ? own->worth - CONTEST_RINGS_LESS : own->worth;
}

/* The engine to take: the first whose tables count for at most CONTEST_EQUAL less than the best; of those of one engine
 * the best. CONTEST_ENGINES: all have refused. */
static unsigned contest_best(const struct contest *contest)
{
	double best = 0;
	unsigned number = 0;

	for (unsigned i = 0; i < CONTEST_ENGINES; i++)
		if (contest_value(contest, i) > best)
			best = contest_value(contest, i);
	while (number < CONTEST_ENGINES && (!contest->engines[number].routes ||
					    contest_value(contest, number) < best - CONTEST_EQUAL))
		number++;
	if (number == CONTEST_SPF &&
	    contest_value(contest, CONTEST_SPF_DIMENSIONS) > contest_value(contest, CONTEST_SPF))
		return CONTEST_SPF_DIMENSIONS;
	return number;
}

#define REASON_MOST 160

/* What belongs to the worth of tables: how their engine made them. */
static const char *manner(const struct contest_engine *engine)
{
	return engine->balance ? " by dimensions" : "";
}

/* Writes ", dmodk .324, spf .381; updown refuses: ..." for all that were tried but one. */
static void contest_print_others(const struct contest *contest, unsigned one, char *text,
				 size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < CONTEST_ENGINES; i++) {
		const struct contest_engine *other = &contest->engines[i];
		if (i == one || !other->routes)
			continue;
		snprintf(text + used, size - used, ", %s %.3f%s", other->engine->name, other->worth,
			 manner(other));
		used = strlen(text);
	}
	for (unsigned i = 0; i < CONTEST_ENGINES; i++) {
		const struct contest_engine *other = &contest->engines[i];
		if (!other->refusal)
			continue;
		bool cut = strlen(other->reason.text) > REASON_MOST;
		snprintf(text + used, size - used, "; %s%s refuses: %.*s%s", other->engine->name,
			 manner(other), REASON_MOST, other->reason.text, cut ? "..." : "");
		used = strlen(text);
	}
}

/* The tables of an engine, which writes its remarks now. Later freed by the caller. */
static struct hd_routes *contest_take(struct contest *contest, unsigned number)
{
	struct contest_engine *taken = &contest->engines[number];
	struct hd_routes *routes = taken->routes;

	held_log_write(&taken->remarks, contest->request->log);
	taken->routes = NULL;
	return routes;
}

static void contest_release(struct contest *contest)
{
	for (unsigned i = 0; i < CONTEST_ENGINES; i++) {
		hd_routes_free(contest->engines[i].routes);
		held_log_release(&contest->engines[i].remarks);
	}
}

/* ---- the choice ---- */

#define AUTO_CHANGE 3u
#define AUTO_HOME 1u /* percent: nearly as many links */
#define AUTO_CABLES 2u
#define AUTO_GAIN .02
#define AUTO_LOSS .005 /* a remark says if the tables in place were better by this */

static const struct hd_option options[] = {LANE_OPTIONS};

#define NONE CONTEST_ENGINES

/* ---- engines that made tables before ---- */

static uint32_t difference(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

/* Whether the fabric has nearly the links for which the baseline was chosen, or lacks nothing that it uses. */
static bool is_home(const struct hd_fabric *fabric, const struct hd_routes *baseline)
{
	const uint64_t links = fabric->isl_count,
		       apart = difference(baseline->chosen_for, fabric->isl_count);

	return !baseline->chosen_for || apart * 100 <= links * AUTO_HOME ||
	       !hd_routes_missing_ports(fabric, baseline);
}

/* Whether the fabric has changed so much that another engine may be better by now. */
static bool is_other_fabric(const struct hd_routes *routes, uint32_t links)
{
	uint64_t apart = difference(routes->chosen_for, links);

	return routes->chosen_for && apart > UINT64_C(2) * AUTO_CABLES &&
	       apart * 100 > (uint64_t)routes->chosen_for * AUTO_CHANGE;
}

static unsigned engine_of(const struct hd_routes *routes)
{
	return routes ? contest_find(routes->chosen) : NONE;
}

/* Tries the engine of these tables. *kept is its number if it has routed. From the tables of another engine it might accept
 * in one sweep what it refused in the sweep before, so it begins with the baseline then. */
static int try_engine_of(struct contest *contest, const struct hd_routes *tables, unsigned *kept,
			 struct hd_error *err)
{
	unsigned number = engine_of(tables);

	*kept = NONE;
	if (number == NONE || contest->engines[number].tried)
		return 0;
	const struct contest_way way = {.from_baseline =
					    number != engine_of(contest->request->previous)};
	int rc = contest_try(contest, number, way, err);
	if (!rc && contest->engines[number].routes)
		*kept = number;
	return rc;
}

/*
 * Tries engines that made tables before. *kept: one that has routed; *settled: it stays, for as
 * many links as *chosen_for says.
 */
static int keep(struct contest *contest, unsigned *kept, uint32_t *chosen_for, bool *settled,
		struct hd_error *err)
{
	const struct hd_routes *previous = contest->request->previous;
	const struct hd_routes *home = contest->request->baseline;
	uint32_t links = contest->request->fabric->isl_count;
	int rc = 0;

	*kept = NONE;
	*settled = false;
	if (!previous)
		return 0;
	if (home && is_home(contest->request->fabric, home)) {
		rc = try_engine_of(contest, home, kept, err);
		*settled = *kept != NONE && !is_other_fabric(home, links);
		*chosen_for = home->chosen_for;
		if (*kept != NONE && *kept != engine_of(previous))
			hd_log(contest->request->log, HD_LOG_INFO,
			       "auto takes %s again, which it chose for this fabric",
			       contest->engines[*kept].engine->name);
	}
	if (!rc && *kept == NONE) {
		rc = try_engine_of(contest, previous, kept, err);
		*settled = *kept != NONE && !is_other_fabric(previous, links);
		*chosen_for = previous->chosen_for;
	}
	if (!*chosen_for)
		*chosen_for = links;
	return rc;
}

/* ---- the choice ---- */

/* Whether the fabric is a regular fat tree from which neither a cable nor a switch nor a host is
 * missing. */
static int look_for_intact_tree(const struct hd_route_request *request, bool *intact,
				struct hd_error *err)
{
	struct hd_route_request quiet = *request;
	struct resolved_policy policy;
	struct hd_tree tree;
	struct hd_regular_tree regular;

	*intact = false;
	quiet.log = NULL;
	int rc = resolved_policy_make(&quiet, &policy, err);
	if (rc)
		return rc;
	const struct hd_tree_facts facts = {policy.is_root, policy.is_compute};
	rc = hd_tree_find(request->fabric, &facts, 1, &policy.arena, &tree, NULL);
	if (!rc)
		rc = hd_regular_tree_label(request->fabric, &tree, &policy.arena, &regular);
	if (!rc)
		*intact = regular.intact && !policy.uncounted &&
			  request->fabric->host_count ==
			      regular.hosts * regular.leaves[hd_regular_tree_top(&regular)];
	resolved_policy_release(&policy);
	return rc == -ENOMEM ? hd_error_no_memory(err) : 0;
}

/* On trees, damaged ones too, dmodk or updown are as good; elsewhere spf is as good as turns if there are enough lanes.
 * Planes or islands with few cables between them are no trees, though most switches have no hosts. */
static bool takes_part(const struct contest *contest, unsigned number)
{
	const struct hd_fabric *fabric = contest->request->fabric;

	if (number <= CONTEST_SPF)
		return true;
	if (contest->engines[CONTEST_DMODK].routes)
		return false;
	if (number == CONTEST_TURNS)
		return !contest->engines[CONTEST_SPF].routes &&
		       !contest->engines[CONTEST_SPF_DIMENSIONS].routes;
	return balance_plan_hosts_everywhere(fabric) &&
	       (number != CONTEST_SPF_DIMENSIONS || contest->has_dimensions);
}

static int look_for_dimensions(struct contest *contest, struct hd_error *err)
{
	const struct hd_fabric *fabric = contest->request->fabric;
	struct hd_arena arena = {0};

	if (!balance_plan_hosts_everywhere(fabric))
		return 0;
	uint32_t *dimension = hd_arena_alloc(&arena, fabric->isl_count + 1u, sizeof(*dimension));
	int rc = dimension ? parallel_links_dimensions(fabric, dimension, &contest->has_dimensions)
			   : -ENOMEM;
	hd_arena_release(&arena);
	return rc ? hd_error_no_memory(err) : 0;
}

/* Tries all engines that have not been tried, until one is known to be the best. */
static int try_all(struct contest *contest, bool intact, unsigned kept, struct hd_error *err)
{
	const struct hd_policy *policy = contest->request->policy;
	bool only_trees = policy && (policy->root_count || policy->io_count);
	const struct contest_way way = {.afresh = kept != NONE, .bare = !intact};
	bool enough = false;
	int rc = look_for_dimensions(contest, err);

	for (unsigned i = 0; !rc && !enough && i < CONTEST_ENGINES; i++) {
		if (!contest->engines[i].tried && takes_part(contest, i) &&
		    !(i == CONTEST_SPF_DIMENSIONS && kept == CONTEST_SPF))
			rc = contest_try(contest, i, way, err);
		enough = (intact && contest->engines[CONTEST_DMODK].routes) ||
			 (only_trees && i >= CONTEST_UPDOWN &&
			  (contest->engines[CONTEST_DMODK].routes ||
			   contest->engines[CONTEST_UPDOWN].routes));
	}
	return rc;
}

/* Says what was taken and why, and whether the tables in place were better. */
static void explain(const struct contest *contest, unsigned taken, unsigned kept)
{
	const struct contest_engine *engine = &contest->engines[taken];
	char others[HD_ERROR_TEXT];

	contest_print_others(contest, taken, others, sizeof(others));
	hd_log(contest->request->log, HD_LOG_INFO,
	       "auto %s %s: effective bisection bandwidth %.3f%s%s",
	       taken == kept ? "keeps" : "takes", engine->engine->name, engine->worth,
	       manner(engine), others);
	if (contest->in_place && contest->in_place_worth > engine->worth + AUTO_LOSS)
		hd_log(contest->request->log, HD_LOG_WARNING,
		       "the tables in place were better: effective bisection bandwidth %.3f, and "
		       "%.3f with those of %s",
		       contest->in_place_worth, engine->worth, engine->engine->name);
}

/* All engines have refused: the reason is that of updown, which routes any fabric otherwise. */
static int refuse(const struct contest *contest, struct hd_error *err)
{
	if (err)
		*err = contest->engines[CONTEST_UPDOWN].reason;
	return contest->engines[CONTEST_UPDOWN].refusal;
}

/* kept: as for compare(). */
static unsigned choose_best(const struct contest *contest, unsigned kept)
{
	unsigned best = contest_best(contest);

	if (best != NONE && kept != NONE &&
	    contest->engines[best].worth <= contest->engines[kept].worth + AUTO_GAIN)
		return kept;
	return best;
}

/* The best engine, with all paths: with these it may not be the best any more. */
static int take_best(struct contest *contest, unsigned kept, unsigned *taken, struct hd_error *err)
{
	unsigned next = choose_best(contest, kept);
	int rc = 0;

	do {
		*taken = next;
		if (*taken == NONE)
			return refuse(contest, err);
		rc = contest_complete(contest, *taken, kept != NONE, err);
		if (!rc && kept != NONE && *taken != kept)
			rc = contest_settle(contest, *taken, err);
		next = choose_best(contest, kept);
	} while (!rc && next != *taken);
	return rc;
}

/* Compares the engines. kept: the one to be taken unless another is better by AUTO_GAIN, or NONE. */
static int compare(struct contest *contest, unsigned kept, unsigned *taken, struct hd_error *err)
{
	const struct hd_route_request *request = contest->request;
	bool intact;

	int rc = look_for_intact_tree(request, &intact, err);
	if (!rc)
		rc = try_all(contest, intact, kept, err);
	if (rc)
		return rc;
	if (intact && contest->engines[CONTEST_DMODK].routes &&
	    (kept == NONE || kept == CONTEST_DMODK)) {
		*taken = CONTEST_DMODK;
		hd_log(
		    request->log, HD_LOG_INFO,
		    "auto takes dmodk: the fabric is a regular fat tree, and nothing is missing");
		return 0;
	}
	contest->in_place = request->in_place ? request->in_place : request->previous;
	rc = contest_measure(contest, err);
	if (!rc)
		rc = take_best(contest, kept, taken, err);
	if (rc)
		return rc;
	explain(contest, *taken, kept);
	return 0;
}

static int choose(struct contest *contest, struct hd_routes **out, struct hd_error *err)
{
	uint32_t chosen_for = contest->request->fabric->isl_count;
	unsigned taken;
	bool settled;
	int rc = keep(contest, &taken, &chosen_for, &settled, err);

	if (!rc && !settled) {
		chosen_for = contest->request->fabric->isl_count;
		rc = compare(contest, taken, &taken, err);
	}
	if (rc)
		return rc;
	*out = contest_take(contest, taken);
	(*out)->chosen_for = chosen_for;
	return 0;
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	struct contest contest;

	contest_begin(&contest, request);
	int rc = choose(&contest, out, err);
	contest_release(&contest);
	return rc;
}

const struct hd_engine hd_engine_auto = {
    .name = "auto",
    .summary = "the best engine for the fabric: dmodk, updown, spf, turns or rings",
    .description =
	"The one of dmodk, updown, spf, turns and rings whose tables have the highest "
	"effective bisection bandwidth, by a few hundred random bisections. On tori, meshes, "
	"hypercubes and HyperX spf is tried with balance = dimensions, too. On an intact regular "
	"fat tree that is dmodk. The choice stays as long as its tables are in place, "
	"unless that engine refuses the fabric, or many links have come or gone and "
	"another engine is better by more than 0.02. The log says which engine, and by "
	"how much.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_ROOTS) |
		HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) | HD_POLICY_BIT(HD_POLICY_IO_NODES) |
		HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS),
    .delegates = true,
    .route = route,
};
