/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "auto.h"
#include "contest.h"
#include "lane_options.h"
#include "resolved_policy.h"

#include <errno.h>
#include <heddle/fabric/regular_tree.h>

static const struct hd_option options[] = {LANE_OPTIONS};

#define NONE CONTEST_ENGINES

/* ---- engines that made tables before ---- */

static uint32_t difference(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

/* Whether the fabric has nearly the links for which the tables were made. */
static bool is_home(const struct hd_routes *routes, uint32_t links)
{
	uint64_t apart = difference(routes->chosen_for, links);

	return !routes->chosen_for || apart * 100 <= (uint64_t)links * AUTO_HOME;
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

/* Tries the engine of these tables. *kept is its number if it has routed. */
static int try_engine_of(struct contest *contest, const struct hd_routes *tables, unsigned *kept,
			 struct hd_error *err)
{
	unsigned number = engine_of(tables);

	*kept = NONE;
	if (number == NONE || contest->engines[number].tried)
		return 0;
	int rc = contest_try(contest, number, (struct contest_way){0}, err);
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
	if (home && is_home(home, links)) {
		rc = try_engine_of(contest, home, kept, err);
		*settled = *kept != NONE;
		*chosen_for = home->chosen_for;
		if (*settled && *kept != engine_of(previous))
			hd_log(contest->request->log, HD_LOG_INFO,
			       "auto takes %s again, which it chose for this fabric",
			       contest->engines[*kept].engine->name);
	}
	if (!rc && !*settled) {
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

/* Tries all engines that have not been tried, until one is known to be the best. */
static int try_all(struct contest *contest, bool intact, bool afresh, struct hd_error *err)
{
	const struct hd_policy *policy = contest->request->policy;
	bool only_trees = policy && (policy->root_count || policy->io_count);
	const struct contest_way way = {.afresh = afresh, .bare = !intact};
	bool enough = false;
	int rc = 0;

	for (unsigned i = 0; !rc && !enough && i < CONTEST_ENGINES; i++) {
		if (!contest->engines[i].tried)
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
	       "auto %s %s: effective bisection bandwidth %.3f%s",
	       taken == kept ? "keeps" : "takes", engine->engine->name, engine->worth, others);
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

/* The best engine, with all paths: one that has them all, if there is any about as good. With all
 * paths it may not be the best. */
static int take_best(struct contest *contest, unsigned kept, unsigned *taken, struct hd_error *err)
{
	unsigned next = choose_best(contest, kept);
	int rc = 0;

	do {
		*taken = next;
		if (*taken == NONE)
			return refuse(contest, err);
		rc = contest_complete(contest, *taken, kept != NONE, err);
		next = choose_best(contest, kept);
	} while (!rc && next != *taken);
	return rc || *taken == kept ? rc : contest_serve(contest, kept != NONE, taken, err);
}

/* Compares the engines. kept: the one to be taken unless another is better by AUTO_GAIN, or NONE. */
static int compare(struct contest *contest, unsigned kept, unsigned *taken, struct hd_error *err)
{
	const struct hd_route_request *request = contest->request;
	bool intact;

	int rc = look_for_intact_tree(request, &intact, err);
	if (!rc)
		rc = try_all(contest, intact, kept != NONE, err);
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
    .summary = "the best engine for the fabric: dmodk, updown or spf",
    .description = "The one of dmodk, updown and spf whose tables have the highest effective "
		   "bisection bandwidth, by a few hundred random bisections. On an intact regular "
		   "fat tree that is dmodk. If its tables leave out aggregation nodes, another "
		   "engine that serves more of them may be worse by 0.05. The choice stays as long "
		   "as its tables are in place, "
		   "unless that engine refuses the fabric, or many links have come or gone and "
		   "another engine is better by more than 0.01. The log says which engine, and by "
		   "how much.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_ROOTS) |
		HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) | HD_POLICY_BIT(HD_POLICY_IO_NODES) |
		HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS),
    .delegates = true,
    .route = route,
};
