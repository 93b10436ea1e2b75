/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the traffic would do by other tables: of other engines, with more LIDs, with adaptive routing, with a key. */
#include "catalogue.h"
#include "ebb_report.h"
#include "message.h"
#include "need.h"
#include "progress.h"
#include "why.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ALL_ENGINES_HOSTS                                                                          \
	2000u /* larger fabrics: the engine that chooses among the others, alone */
#define SAME 1e-9
#define NOTABLE 0.01 /* of the largest part of what crosses the hot link: less does not count */

int why_take_try(const struct typed *typed, void *place)
{
	struct why_tries *tries = place;

	if (tries->count == WHY_TRIES_MAX)
		return message_error("option '--try' is given more than %u times", WHY_TRIES_MAX);
	int status = table_source_take_engine(typed, &tries->engines[tries->count]);
	tries->count += !status;
	return status;
}

static double capacity_of(const struct why_view *view, uint32_t link)
{
	double capacity = view->measured->links[link].capacity;

	return capacity > 0 ? capacity : 1;
}

static uint32_t busiest(const struct why_view *view, const double *bytes, uint32_t from,
			uint32_t to)
{
	uint32_t best = from;

	for (uint32_t link = from; link < to; link++)
		if (bytes[link] / capacity_of(view, link) > bytes[best] / capacity_of(view, best))
			best = link;
	return best;
}

static double share_of(const struct why_view *view, const double *bytes, uint32_t link)
{
	return link < view->measured->link_count ? bytes[link] / capacity_of(view, link) : 0;
}

/* The largest share of a link that carries a part of what crosses the hot link today. */
static double hot_share(const struct why_view *view, const struct why_loads *loads)
{
	double largest = 0, worst = 0;

	for (uint32_t link = 0; loads->hot && link < view->fabric->isl_count; link++)
		largest = fmax(largest, loads->hot[link]);
	for (uint32_t link = 0; loads->hot && link < view->fabric->isl_count; link++)
		if (loads->hot[link] > NOTABLE * largest)
			worst = fmax(worst, share_of(view, loads->all, link));
	return worst;
}

static void find_same(struct why_view *view, struct why_choice *choice)
{
	for (const struct why_choice *other = view->choices; other < choice; other++)
		if (!*other->refused && !other->same_as &&
		    fabs(other->busiest - choice->busiest) < SAME &&
		    fabs(other->hot - choice->hot) < SAME &&
		    fabs(other->lost - choice->lost) < SAME) {
			choice->same_as = other;
			return;
		}
}

/* Loads of the estimate by other tables, of all of it and of what crosses the hot link. */
static int find_loads(const struct why_view *view, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, const struct hd_spread *spread,
		      struct why_loads *loads, struct hd_error *err)
{
	struct hd_estimate_projection projection = {fabric, routes, spread, HD_NONE};
	struct hd_estimate_load load;
	int rc = hd_estimate_project(view->estimate, &projection, &load, err);

	if (rc)
		return rc;
	loads->all = load.link_bytes;
	loads->lost = load.lost;
	projection.link = why_hot_link(view);
	if (projection.link == HD_NONE)
		return 0;
	rc = hd_estimate_project(view->estimate, &projection, &load, err);
	loads->hot = rc ? NULL : load.link_bytes;
	return rc;
}

/* Judges the loads and frees them, or notes why there are none. */
static void end_choice(struct why_view *view, struct why_choice *choice, int rc,
		       const struct hd_error *reason, struct why_loads *loads)
{
	if (!rc) {
		/* In units of what the same is today: the first choice, which is judged before the others. */
		const uint32_t isls = view->fabric->isl_count, hot = why_hot_link(view);
		const double *today = view->estimate->link_bytes;
		double unit = isls ? share_of(view, today, busiest(view, today, 0, isls)) : 0;
		double hot_unit = hot == HD_NONE ? 0 : share_of(view, today, hot);
		choice->busiest_link = isls ? busiest(view, loads->all, 0, isls) : HD_NONE;
		choice->busiest =
		    unit > 0 ? share_of(view, loads->all, choice->busiest_link) / unit : 0;
		choice->hot = hot_unit > 0 ? hot_share(view, loads) / hot_unit : 0;
		choice->lost = view->estimate->bytes > 0 ? loads->lost / view->estimate->bytes : 0;
		find_same(view, choice);
	} else {
		need_enough(rc);
		snprintf(choice->refused, sizeof(choice->refused), "%s",
			 *reason->text ? reason->text : "refused");
	}
	free(loads->all);
	free(loads->hot);
}

static struct why_choice *next_choice(struct why_view *view)
{
	return &view->choices[view->choice_count++];
}

/* The engines that are asked for; else all that are no choice among others, or in large fabrics only one that is. */
static uint32_t list_engines(const struct why_choosing *choosing, const struct why_view *view,
			     struct table_source *list)
{
	const struct hd_engine *const *engines;
	unsigned count;
	uint32_t listed = 0;

	for (uint32_t i = 0; i < choosing->tries->count; i++)
		list[listed++] = choosing->tries->engines[i];
	if (listed)
		return listed;
	engines = hd_engines(&count);
	for (unsigned i = 0; i < count && listed < WHY_TRIES_MAX; i++) {
		if (engines[i]->delegates != (view->fabric->host_count > ALL_ENGINES_HOSTS))
			continue;
		list[listed].engine = engines[i];
		snprintf(list[listed++].name, sizeof(list->name), "%s", engines[i]->name);
	}
	return listed;
}

static void try_engines(const struct why_choosing *choosing, struct why_view *view,
			const struct hd_fabric *fabric)
{
	struct table_source *list = need(calloc(WHY_TRIES_MAX, sizeof(*list)));

	const uint32_t count = list_engines(choosing, view, list);
	for (uint32_t i = 0; i < count; i++) {
		const struct table_source *source = &list[i];
		struct why_choice *choice = next_choice(view);
		const struct hd_route_request request = {.fabric = fabric,
							 .options = source->options,
							 .policy = choosing->policy,
							 .threads = choosing->threads};
		struct why_loads loads = {.all = NULL};
		struct hd_routes *routes = NULL;
		struct hd_error reason = {""};
		unsigned lmc = hd_fabric_largest_lmc(fabric);
		choice->even_lids = fabric != view->fabric;
		if (choice->even_lids)
			snprintf(choice->name, sizeof(choice->name), "%s, LMC %u", source->name,
				 lmc);
		else
			snprintf(choice->name, sizeof(choice->name), "%s", source->name);
		progress_update("the same traffic by %s", choice->name);
		int rc = hd_engine_route(source->engine, &request, &routes, &reason);
		if (!rc)
			rc = find_loads(view, fabric, routes, NULL, &loads, &reason);
		hd_routes_free(routes);
		end_choice(view, choice, rc, &reason, &loads);
	}
	free(list);
}

/* The same with more LIDs. */
static void try_lids(const struct why_choosing *choosing, struct why_view *view)
{
	struct hd_fabric *more = NULL;
	struct hd_error reason = {""};
	unsigned lmc = choosing->tries->lmc;

	if (!lmc || lmc == hd_fabric_largest_lmc(view->fabric))
		return;
	if (!need_enough(hd_fabric_assign_lids(view->fabric, lmc, &more, &reason))) {
		try_engines(choosing, view, more);
	} else {
		struct why_choice *choice = next_choice(view);
		snprintf(choice->name, sizeof(choice->name), "LMC %u", lmc);
		snprintf(choice->refused, sizeof(choice->refused), "%s", reason.text);
	}
	hd_fabric_free(more);
}

/* Adaptive routing and a key, on the tables of today */
static void try_adaptive(const struct why_choosing *choosing, struct why_view *view)
{
	struct why_choice *choice = next_choice(view);
	struct ebb_adaptive adaptive = {.make = true};
	struct why_loads loads = {.all = NULL};
	struct hd_error reason = {""};

	snprintf(choice->name, sizeof(choice->name), "adaptive routing on today's tables");
	progress_update("the same traffic with adaptive routing");
	int rc = ebb_adaptive_load(&adaptive, view->fabric, view->routes, choosing->threads, NULL,
				   &reason);
	if (!rc && !adaptive.plan->adaptive)
		rc = hd_error_set(&reason, -ENOTSUP, "no entry can be adaptive");
	if (!rc)
		rc =
		    find_loads(view, view->fabric, view->routes, &adaptive.spread, &loads, &reason);
	ebb_adaptive_release(&adaptive);
	end_choice(view, choice, rc, &reason, &loads);
}

static void judge_today(struct why_view *view)
{
	const double *bytes = view->estimate->link_bytes;
	struct why_choice *today = next_choice(view);
	struct why_loads loads = {.all = NULL};
	struct hd_error reason = {""};
	const uint32_t isls = view->fabric->isl_count, links = view->measured->link_count;

	snprintf(today->name, sizeof(today->name), "%s, as today", view->tables_name);
	double unit = isls ? share_of(view, bytes, busiest(view, bytes, 0, isls)) : 0;
	view->hosts_link = isls < links ? busiest(view, bytes, isls, links) : HD_NONE;
	view->hosts =
	    isls < links ? share_of(view, bytes, view->hosts_link) / (unit > 0 ? unit : 1) : 0;
	int rc = find_loads(view, view->fabric, view->routes, NULL, &loads, &reason);
	end_choice(view, today, rc, &reason, &loads);
}

void why_choose(const struct why_choosing *choosing, struct why_view *view)
{
	view->choices = need(calloc(2 * (size_t)WHY_TRIES_MAX + 4, sizeof(*view->choices)));
	judge_today(view);
	if (choosing->tries->none)
		return;
	progress_begin("the same traffic by other tables");
	try_engines(choosing, view, view->fabric);
	try_lids(choosing, view);
	try_adaptive(choosing, view);
	struct why_choice *choice = next_choice(view);
	struct why_loads loads = {.all = NULL};
	struct hd_error reason = {""};
	snprintf(choice->name, sizeof(choice->name), "a routing key on today's tables");
	progress_update("the same traffic with a routing key");
	int rc = find_loads(view, view->fabric, view->routes, NULL, &loads, &reason);
	if (!rc)
		rc = why_key_loads(view, choosing->threads, &loads, &reason);
	end_choice(view, choice, rc, &reason, &loads);
	progress_end();
}
