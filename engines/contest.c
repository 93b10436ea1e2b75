/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "contest.h"
#include "bisections.h"
#include "delegate.h"
#include "dmodk.h"
#include "spf.h"
#include "updown.h"

#include <errno.h>
#include <heddle/fabric/aside.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

_Static_assert(CONTEST_ENGINES < BISECTIONS_TABLES, "the tables in place are measured, too");

static const struct hd_engine *const entrants[CONTEST_ENGINES] = {
    [CONTEST_DMODK] = &hd_engine_dmodk,
    [CONTEST_UPDOWN] = &hd_engine_updown,
    [CONTEST_SPF] = &hd_engine_spf,
};

void contest_begin(struct contest *contest, const struct hd_route_request *request)
{
	*contest = (struct contest){.request = request};
	for (unsigned i = 0; i < CONTEST_ENGINES; i++) {
		contest->engines[i].engine = entrants[i];
		held_log_begin(&contest->engines[i].remarks);
	}
}

unsigned contest_find(const char *name)
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
	struct hd_policy policy = {0};
	struct hd_route_request bare = *request;
	struct hd_fabric *view = NULL;

	if (!own->bare)
		return delegate_route(own->engine, request, false, &own->routes, &own->reason);
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
	rc = delegate_route(own->engine, &bare, false, &own->routes, &own->reason);
	hd_fabric_free(view);
	return rc;
}

int contest_try(struct contest *contest, unsigned number, struct contest_way way,
		struct hd_error *err)
{
	struct contest_engine *own = &contest->engines[number];
	struct hd_route_request request = *contest->request;

	own->bare = way.bare && request.fabric->aside_count;
	request.log = &own->remarks.log;
	if (way.afresh)
		request.previous = request.baseline = NULL;
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

int contest_measure(struct contest *contest, struct hd_error *err)
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

/* Entries that switches do not have for LIDs of adapters. */
static uint64_t count_missing(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint64_t missing = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(routes, sw);
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			missing += row[lid] == HD_NO_PORT && fabric->lid_owner[lid] != HD_NONE;
	}
	return missing;
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

int contest_complete(struct contest *contest, unsigned number, bool afresh, struct hd_error *err)
{
	struct contest_engine *own = &contest->engines[number];
	int rc = 0;

	if (own->bare) {
		hd_routes_free(own->routes);
		own->routes = NULL;
		held_log_release(&own->remarks);
		held_log_begin(&own->remarks);
		rc = contest_try(contest, number, (struct contest_way){.afresh = afresh}, err);
		if (!rc && own->routes)
			rc = measure_again(contest, own, err);
	}
	if (own->routes)
		own->missing = count_missing(contest->request->fabric, own->routes);
	return rc;
}

int contest_serve(struct contest *contest, bool afresh, unsigned *number, struct hd_error *err)
{
	const struct contest_engine *first = &contest->engines[*number];
	const struct hd_log *log = contest->request->log;
	const double least = first->worth - CONTEST_SERVE;
	unsigned best = *number;
	int rc = 0;

	if (!contest->request->fabric->aside_count || !first->missing)
		return 0;
	for (unsigned i = 0; !rc && i < CONTEST_ENGINES; i++) {
		const struct contest_engine *other = &contest->engines[i];
		if (i == *number || !other->routes || other->worth < least)
			continue;
		rc = contest_complete(contest, i, afresh, err);
		if (!rc && other->routes && other->worth >= least &&
		    other->missing < contest->engines[best].missing)
			best = i;
	}
	if (rc || best == *number)
		return rc;
	hd_log(log, HD_LOG_INFO,
	       "%s leaves out %" PRIu64 " entries for aggregation nodes that %s has",
	       first->engine->name, first->missing - contest->engines[best].missing,
	       contest->engines[best].engine->name);
	*number = best;
	return 0;
}

unsigned contest_best(const struct contest *contest)
{
	double best = 0;
	unsigned number = 0;

	for (unsigned i = 0; i < CONTEST_ENGINES; i++)
		if (contest->engines[i].routes && contest->engines[i].worth > best)
			best = contest->engines[i].worth;
	while (number < CONTEST_ENGINES && (!contest->engines[number].routes ||
					    contest->engines[number].worth < best - CONTEST_EQUAL))
		number++;
	return number;
}

#define REASON_MOST 160

void contest_print_others(const struct contest *contest, unsigned one, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < CONTEST_ENGINES; i++) {
		const struct contest_engine *other = &contest->engines[i];
		if (i == one || !other->routes)
			continue;
		snprintf(text + used, size - used, ", %s %.3f", other->engine->name, other->worth);
		used = strlen(text);
	}
	for (unsigned i = 0; i < CONTEST_ENGINES; i++) {
		const struct contest_engine *other = &contest->engines[i];
		if (!other->refusal)
			continue;
		bool cut = strlen(other->reason.text) > REASON_MOST;
		snprintf(text + used, size - used, "; %s refuses: %.*s%s", other->engine->name,
			 REASON_MOST, other->reason.text, cut ? "..." : "");
		used = strlen(text);
	}
}

struct hd_routes *contest_take(struct contest *contest, unsigned number)
{
	struct contest_engine *taken = &contest->engines[number];
	struct hd_routes *routes = taken->routes;

	held_log_write(&taken->remarks, contest->request->log);
	taken->routes = NULL;
	return routes;
}

void contest_release(struct contest *contest)
{
	for (unsigned i = 0; i < CONTEST_ENGINES; i++) {
		hd_routes_free(contest->engines[i].routes);
		held_log_release(&contest->engines[i].remarks);
	}
}
