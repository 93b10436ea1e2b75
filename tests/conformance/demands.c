/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "demands.h"
#include "facts.h"
#include "variants.h"
#include <errno.h>
#include <heddle/base/random.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool fail(const struct trial *trial, const char *format, ...) HD_PRINTF(2, 3);

/* Prints what went wrong and how to repeat it. Returns false. */
static bool fail(const struct trial *trial, const char *format, ...)
{
	va_list arguments;

	trial->tally->failed++;
	printf("FAILED number %" PRIu64 ": %s %s: engine %s: ", trial->number, trial->sample->kind,
	       trial->sample->recipe, trial->engine->name);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	return false;
}

static int route(const struct trial *trial, const struct hd_fabric *fabric, unsigned threads,
		 const struct hd_routes *previous, struct hd_routes **out, struct hd_error *err)
{
	struct hd_route_request request = {
	    .fabric = fabric, .options = trial->options, .previous = previous, .threads = threads};

	*err = (struct hd_error){0};
	return hd_engine_route(trial->engine, &request, out, err);
}

static bool is_grid(const struct sample *sample)
{
	return !strcmp(sample->kind, "torus") || !strcmp(sample->kind, "mesh") ||
	       !strcmp(sample->kind, "hypercube");
}

/* Hosts above the leaves may be out of each other's reach. */
static bool may_refuse(const struct trial *trial)
{
	const struct sample *sample = trial->sample;

	if (trial->engine->needs_grid)
		return !sample->intact || !is_grid(sample) || sample->fabric->aside_count ||
		       !sample->fabric->isl_count;
	if (!trial->engine->needs_tree)
		return false;
	return !sample->tree || !sample->fabric->host_count || sample->upper_hosts ||
	       !facts_is_tree_still(sample->level, sample->fabric);
}

/* Neighbours with the same number of hosts are not a leaf and its spine. */
static bool must_refuse(const struct trial *trial)
{
	const struct sample *sample = trial->sample;
	const struct hd_fabric *fabric = sample->fabric;

	return trial->engine->needs_tree && is_grid(sample) && sample->intact &&
	       fabric->host_count && fabric->isl_count;
}

static bool check_refusal(const struct trial *trial, int rc, const struct hd_error *err)
{
	trial->tally->refused++;
	if (rc != -ENOTSUP)
		return fail(trial, "error %d, not -ENOTSUP: %s", rc, err->text);
	if (!may_refuse(trial))
		return fail(trial, "refused: %s", err->text);
	if (trial->engine->needs_tree && trial->sample->fabric->host_count &&
	    !strstr(err->text, "0x"))
		return fail(trial, "refused without naming a port: %s", err->text);
	return true;
}

/* (switch, LID) pairs whose LID is in another component. */
static bool count_apart(const struct hd_fabric *fabric, uint64_t *apart)
{
	uint32_t *component = facts_components(fabric), to;
	uint8_t port;

	*apart = 0;
	if (!component)
		return false;
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		if (!hd_fabric_lid_destination(fabric, lid, &to, &port))
			continue;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			*apart += component[sw] != component[to];
	}
	free(component);
	return true;
}

/* Lanes can be too few for the paths from aggregation nodes on switches without hosts, whose
 * entries other lanes use. The engine says so in the log. */
static bool may_leave_out(const struct trial *trial)
{
	return trial->sample->aggregation && !trial->engine->one_lane;
}

static bool judge(const struct trial *trial, const struct hd_fabric *fabric, const char *when,
		  const struct hd_check_report *report)
{
	uint64_t apart;

	if (!count_apart(fabric, &apart))
		return fail(trial, "%s: no memory", when);
	if (may_leave_out(trial) && report->no_route > apart) {
		trial->tally->left_out++;
		apart = report->no_route;
	}
	if (report->no_route != apart || report->dead_end || report->loop)
		return fail(trial,
			    "%s: %" PRIu64 " without a path (%" PRIu64
			    " are in another component), %" PRIu64 " dead ends, %" PRIu64
			    " loops; the first: switch %u, LID %u",
			    when, report->no_route, apart, report->dead_end, report->loop,
			    report->faults[0].source, report->faults[0].lid);
	if (report->credit_loops)
		return fail(trial, "%s: a credit loop of %u links", when,
			    report->faults[report->fault_count - 1].path_length);
	if (trial->engine->one_lane && report->lanes > 1u + trial->sample->aggregation)
		return fail(trial, "%s: %u lanes from an engine that needs one", when,
			    report->lanes);
	if (trial->engine->shortest_paths && report->longer_routes)
		return fail(trial, "%s: %" PRIu64 " paths are longer than the shortest", when,
			    report->longer_routes);
	return true;
}

static bool check_clean(const struct trial *trial, const struct hd_fabric *fabric,
			const struct hd_routes *routes, const char *when)
{
	struct hd_check_report *report = NULL;
	struct hd_error err;
	int rc = hd_check(fabric, routes, NULL, &report, &err);

	if (rc)
		return fail(trial, "%s: checker: error %d: %s", when, rc, err.text);
	bool good = judge(trial, fabric, when, report);
	if (report->lanes > trial->tally->lanes)
		trial->tally->lanes = report->lanes;
	hd_check_report_free(report);
	return good;
}

/* Routes again and expects the same tables. */
static bool check_same(const struct trial *trial, const struct hd_fabric *fabric,
		       const struct hd_routes *routes, const struct hd_routes *previous,
		       unsigned threads, const char *when)
{
	struct hd_routes *again = NULL;
	struct hd_error err;
	int rc = route(trial, fabric, threads, previous, &again, &err);

	if (rc)
		return fail(trial, "%s: error %d: %s", when, rc, err.text);
	uint64_t changes = hd_routes_count_changes(routes, again);
	bool same = hd_routes_equal(routes, again);
	hd_routes_free(again);
	if (!same && previous && may_leave_out(trial)) {
		trial->tally->reshuffled++;
		return true;
	}
	return same || fail(trial, "%s: %" PRIu64 " entries differ", when, changes);
}

/* Whatever the switches contain, the tables that come out are clean. The engine may refuse only
 * what it may refuse without previous tables as well. */
static bool check_nonsense(const struct trial *trial, struct hd_routes *previous)
{
	uint64_t random = trial->number;
	struct hd_routes *routes = NULL;
	struct hd_error err;

	for (size_t i = 0; i < (size_t)previous->switch_count * previous->stride; i++)
		previous->lft[i] = (uint8_t)hd_random_below(&random, i % 3 ? 12 : 256);
	for (size_t i = 0; previous->sl && i < (size_t)previous->switch_count * previous->stride;
	     i++)
		previous->sl[i] = (uint8_t)hd_random_below(&random, 256);
	int rc = route(trial, trial->sample->fabric, 1, previous, &routes, &err);
	if (rc == -ENOTSUP && may_refuse(trial))
		return true;
	if (rc)
		return fail(trial, "nonsense as previous tables: error %d: %s", rc, err.text);
	bool good =
	    check_clean(trial, trial->sample->fabric, routes, "nonsense as previous tables");
	hd_routes_free(routes);
	return good;
}

static bool check_order(const struct trial *trial, const struct hd_routes *routes)
{
	struct hd_fabric *shuffled = NULL;
	struct hd_error err;
	int rc = variants_shuffled(trial->sample->fabric, trial->number, &shuffled, &err);

	if (rc)
		return fail(trial, "described in another order: error %d: %s", rc, err.text);
	bool same = check_same(trial, shuffled, routes, NULL, 1, "described in another order");
	hd_fabric_free(shuffled);
	return same;
}

/* ---- one cable less ---- */

struct cut {
	uint32_t sw[2]; /* the two ends */
	uint8_t port[2];
	const struct hd_fabric *before, *after;
};

static uint64_t uses(const struct cut *cut, const struct hd_routes *routes, uint32_t lid)
{
	return (uint64_t)(hd_routes_port(routes, cut->sw[0], lid) == cut->port[0]) +
	       (hd_routes_port(routes, cut->sw[1], lid) == cut->port[1]);
}

static uint64_t differs(const struct hd_routes *a, const struct hd_routes *b, uint32_t lid)
{
	uint64_t count = 0;

	for (uint32_t sw = 0; sw < a->switch_count; sw++)
		count += hd_routes_port(a, sw, lid) != hd_routes_port(b, sw, lid);
	return count;
}

static bool same_levels(const struct cut *cut)
{
	uint8_t *before = facts_levels(cut->before), *after = facts_levels(cut->after);
	bool same = before && after && !memcmp(before, after, cut->before->switch_count);

	free(before);
	free(after);
	return same;
}

/* True if nothing but the lost cable can have changed the choice of paths. */
static bool must_stay(const struct trial *trial, const struct cut *cut)
{
	const struct sample *sample = trial->sample;

	if (sample->aggregation)
		return false; /* their paths must fit beside all others, and may have to move */
	if (trial->engine->keeps_entries)
		return true;
	return sample->tree && !sample->upper_hosts && sample->fabric->host_count &&
	       facts_is_tree_still(sample->level, cut->before) &&
	       facts_is_tree_still(sample->level, cut->after) && same_levels(cut);
}

static bool is_host(const struct hd_fabric *fabric, uint32_t lid)
{
	uint32_t owner = fabric->lid_owner[lid];

	return owner != HD_NONE && !hd_is_switch(fabric, fabric->port_node[owner]);
}

static bool compare_cut(const struct trial *trial, const struct cut *cut,
			const struct hd_routes *before, const struct hd_routes *after)
{
	uint64_t affected = 0, changed = 0;
	uint32_t moved = 0, moved_hosts = 0;

	for (uint32_t lid = 1; lid < before->lid_count; lid++) {
		uint64_t used = uses(cut, before, lid), different = differs(before, after, lid);
		affected += used;
		changed += different;
		if (different && !used && !moved)
			moved = lid;
		if (different && !used)
			moved_hosts += is_host(cut->before, lid);
	}
	trial->tally->cuts++;
	if (moved && must_stay(trial, cut))
		return fail(trial,
			    "without switch %u port %u LID %u changed, which did not use it; %u "
			    "LIDs of hosts did",
			    cut->sw[0], cut->port[0], moved, moved_hosts);
	if (moved) {
		trial->tally->reshuffled++;
		return true;
	}
	trial->tally->affected += affected;
	trial->tally->changed += changed;
	return true;
}

/* The cable is back, and entries that had to leave it may return. */
static bool route_repaired(const struct trial *trial, const struct cut *cut,
			   const struct hd_routes *routes)
{
	struct hd_routes *previous = NULL, *again = NULL;
	struct hd_error err;
	int rc = hd_routes_rebase(cut->after, routes, cut->before, &previous, &err);

	if (!rc)
		rc = route(trial, cut->before, 1, previous, &again, &err);
	if (!rc)
		trial->tally->returned += hd_routes_count_changes(previous, again);
	hd_routes_free(previous);
	if (rc)
		return fail(trial, "cable back: error %d: %s", rc, err.text);
	bool good = check_clean(trial, cut->before, again, "cable back");
	hd_routes_free(again);
	return good;
}

static bool route_cut(const struct trial *trial, const struct cut *cut,
		      const struct hd_routes *routes)
{
	struct hd_routes *previous = NULL, *again = NULL;
	struct hd_error err;
	int rc = hd_routes_rebase(cut->before, routes, cut->after, &previous, &err);

	if (!rc)
		rc = route(trial, cut->after, 1, previous, &again, &err);
	hd_routes_free(previous);
	if (rc == -ENOTSUP && (trial->engine->needs_tree || trial->engine->needs_grid))
		return true;
	if (rc)
		return fail(trial, "one cable less: error %d: %s", rc, err.text);
	bool good = check_clean(trial, cut->after, again, "one cable less") &&
		    compare_cut(trial, cut, routes, again) && route_repaired(trial, cut, again);
	hd_routes_free(again);
	return good;
}

static bool check_cut(const struct trial *trial, const struct hd_routes *routes)
{
	const struct hd_fabric *fabric = trial->sample->fabric;
	struct hd_fabric *after = NULL;
	uint64_t random = trial->number;
	struct hd_error err;

	if (!fabric->isl_count)
		return true;
	uint32_t link = (uint32_t)hd_random_below(&random, fabric->isl_count);
	uint32_t back = fabric->isl_reverse[link];
	int rc = variants_without_link(fabric, link, &after, &err);
	if (rc)
		return fail(trial, "one cable less: error %d: %s", rc, err.text);
	struct cut cut = {.sw = {fabric->isl_to[back], fabric->isl_to[link]},
			  .port = {fabric->isl_port[link], fabric->isl_port[back]},
			  .before = fabric,
			  .after = after};
	bool good = route_cut(trial, &cut, routes);
	hd_fabric_free(after);
	return good;
}

void demands_make(const struct trial *trial)
{
	const struct hd_fabric *fabric = trial->sample->fabric;
	struct hd_routes *routes = NULL;
	struct hd_error err;
	int rc = route(trial, fabric, 1, NULL, &routes, &err);

	if (rc) {
		check_refusal(trial, rc, &err);
		return;
	}
	trial->tally->routed++;
	if (must_refuse(trial))
		fail(trial, "routed a fabric that is not a tree");
	else if (check_clean(trial, fabric, routes, "afresh") &&
		 check_same(trial, fabric, routes, NULL, 2, "two threads") &&
		 check_same(trial, fabric, routes, NULL, 4, "four threads") &&
		 check_same(trial, fabric, routes, routes, 1,
			    "its own tables as previous tables") &&
		 check_order(trial, routes) && check_cut(trial, routes))
		check_nonsense(trial, routes);
	hd_routes_free(routes);
}
