/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/compare.h>

#include "cable_tangle.h"
#include "match_keys.h"
#include "match_search.h"

#include <heddle/base/grow.h>
#include <stdlib.h>
#include <string.h>

/* What a comparison works with. An end is a number of both fabrics: a planned port, or behind these a live port that
 * the plan does not have; with SHAPE a planned hub, behind these a live hub that the plan does not have, behind these
 * all adapters, and all routers, with one cable, and
 * both ends of all cables from a switch to itself. */
struct comparing {
	const struct hd_compare_request *request;
	struct hd_comparison *out;
	struct match_graph plan, live; /* SHAPE */
	struct match_shape shape; /* SHAPE */
	uint32_t *key_live, *key_plan; /* GUID, NAME */
	uint32_t room;
	struct hd_error *err;
};

static bool by_shape(const struct comparing *comparing)
{
	return comparing->out->match == HD_MATCH_SHAPE;
}

/* ---- the list ---- */

static uint32_t *copy(struct hd_arena *arena, const uint32_t *list, uint32_t count)
{
	uint32_t *own = hd_arena_alloc(arena, count, sizeof(*own));

	if (own && count)
		memcpy(own, list, count * sizeof(*own));
	return own;
}

static int add(void *context, enum hd_fabric_difference_kind kind, uint32_t mends,
	       const uint32_t *expected, uint32_t expected_count, const uint32_t *found,
	       uint32_t found_count)
{
	struct comparing *comparing = context;
	struct hd_comparison *out = comparing->out;
	struct hd_fabric_difference *list =
	    hd_grow(out->differences, out->count, 1, &comparing->room, sizeof(*list));

	if (!list)
		return hd_error_no_memory(comparing->err);
	out->differences = list;
	list[out->count] =
	    (struct hd_fabric_difference){.kind = kind,
					  .mends = mends,
					  .expected_count = expected_count,
					  .found_count = found_count,
					  .expected = copy(&out->arena, expected, expected_count),
					  .found = copy(&out->arena, found, found_count)};
	if (hd_arena_check(&out->arena))
		return hd_error_no_memory(comparing->err);
	out->count++;
	out->mends += mends;
	return 0;
}

static int add_one(struct comparing *comparing, enum hd_fabric_difference_kind kind,
		   uint32_t expected, uint32_t found)
{
	return add(comparing, kind, 1, &expected, expected != HD_NONE, &found, found != HD_NONE);
}

/* ---- nodes ---- */

/* The place that the plan has for the live node that is at this place, or HD_NONE. */
static uint32_t home_of(const struct comparing *comparing, uint32_t place)
{
	uint32_t live = comparing->out->live_of[place];

	return live == HD_NONE ? HD_NONE : comparing->key_plan[live];
}

/* The number of nodes that have changed places in a ring from this place on; 0: it does not close. The ring is
 * listed once, from its first place on. */
static uint32_t ring_of(const struct comparing *comparing, uint32_t place, uint32_t most)
{
	uint32_t size = 1, at = home_of(comparing, place);

	while (at != HD_NONE && at != place && size < most) {
		at = home_of(comparing, at);
		size++;
	}
	return at == place ? size : 0;
}

static int add_node_ring(struct comparing *comparing, uint32_t place, uint32_t size)
{
	struct hd_arena *arena = &comparing->out->arena;
	uint32_t *expected = hd_arena_alloc(arena, size, sizeof(*expected));
	uint32_t *found = hd_arena_alloc(arena, size, sizeof(*found)), at = place;

	if (hd_arena_check(arena))
		return hd_error_no_memory(comparing->err);
	for (uint32_t i = 0; i < size; i++, at = home_of(comparing, at)) {
		if (at < place)
			return 0;
		expected[i] = at;
		found[i] = comparing->out->live_of[at];
	}
	return add(comparing, HD_DIFFERENCE_NODES_EXCHANGED, size - 1, expected, size, found, size);
}

/* By name, a node whose name others have too is known by its place. */
static bool has_same_name(const struct comparing *comparing, uint32_t place, uint32_t live)
{
	return comparing->out->match == HD_MATCH_NAME &&
	       !strcmp(comparing->request->expected->node_name[place],
		       comparing->request->live->node_name[live]);
}

static bool has_same_guid(const struct comparing *comparing, uint32_t place, uint32_t live)
{
	return comparing->request->expected->node_guid[place] ==
	       comparing->request->live->node_guid[live];
}

static int compare_place(struct comparing *comparing, uint32_t place)
{
	uint32_t live = comparing->out->live_of[place], home = home_of(comparing, place);
	uint32_t size;

	if (live == HD_NONE)
		return add_one(comparing, HD_DIFFERENCE_NODE_MISSING, place, HD_NONE);
	if (home == place || has_same_name(comparing, place, live))
		return 0;
	if (home == HD_NONE)
		return add_one(comparing,
			       has_same_guid(comparing, place, live) ? HD_DIFFERENCE_NODE_RENAMED
								     : HD_DIFFERENCE_NODE_REPLACED,
			       place, live);
	size = ring_of(comparing, place, comparing->request->expected->node_count);
	if (size)
		return add_node_ring(comparing, place, size);
	return add_one(comparing, HD_DIFFERENCE_NODE_MOVED, place, live);
}

static int compare_nodes(struct comparing *comparing)
{
	const struct hd_fabric *plan = comparing->request->expected,
			       *live = comparing->request->live;
	int rc = 0;

	for (uint32_t node = 0; !rc && node < plan->node_count; node++)
		rc = compare_place(comparing, node);
	for (uint32_t node = 0; !rc && node < live->node_count; node++)
		if (comparing->out->expected_of[node] == HD_NONE)
			rc = add_one(comparing, HD_DIFFERENCE_NODE_EXTRA, HD_NONE, node);
	return rc;
}

static int compare_hubs(struct comparing *comparing)
{
	const struct match_graph *plan = &comparing->plan, *live = &comparing->live;
	int rc = 0;

	for (uint32_t hub = 0; !rc && hub < plan->count; hub++)
		if (comparing->shape.image[hub] == HD_NONE &&
		    hd_is_switch(plan->fabric, plan->node[hub]))
			rc = add_one(comparing, HD_DIFFERENCE_NODE_MISSING, plan->node[hub],
				     HD_NONE);
	for (uint32_t hub = 0; !rc && hub < live->count; hub++)
		if (comparing->shape.origin[hub] == HD_NONE &&
		    hd_is_switch(live->fabric, live->node[hub]))
			rc = add_one(comparing, HD_DIFFERENCE_NODE_EXTRA, HD_NONE, live->node[hub]);
	return rc;
}

/* ---- cables ---- */

/* A cable, its lower end first. */
struct cable {
	struct loose_cable ends;
	uint32_t rate;
};

static uint32_t ends_of(const struct comparing *comparing)
{
	if (by_shape(comparing))
		return comparing->plan.count + comparing->live.count + 3;
	return comparing->request->expected->port_count + comparing->request->live->port_count;
}

static bool leads_home(const struct hd_fabric *fabric, uint32_t port)
{
	return fabric->port_node[fabric->peer[port]] == fabric->port_node[port];
}

/* An adapter with several cables that is not mapped counts like those with one. */
static uint32_t end_in_shape(const struct comparing *comparing, bool live, uint32_t port)
{
	const struct match_graph *graph = live ? &comparing->live : &comparing->plan;
	uint32_t node = graph->fabric->port_node[port], hub = graph->hub[node];
	bool mapped = hub != HD_NONE &&
		      (live ? comparing->shape.origin : comparing->shape.image)[hub] != HD_NONE;

	if (leads_home(graph->fabric, port))
		return comparing->plan.count + comparing->live.count + 2;
	if (!mapped && !hd_is_switch(graph->fabric, node))
		return comparing->plan.count + comparing->live.count +
		       (graph->fabric->node_type[node] == HD_ROUTER);
	if (!live)
		return hub;
	return mapped ? comparing->shape.origin[hub] : comparing->plan.count + hub;
}

static uint32_t end_of(const struct comparing *comparing, bool live, uint32_t port)
{
	const struct hd_fabric *plan = comparing->request->expected,
			       *fabric = comparing->request->live;

	if (by_shape(comparing))
		return end_in_shape(comparing, live, port);
	if (!live)
		return port;
	uint32_t place = comparing->out->expected_of[fabric->port_node[port]],
		 number = hd_port_number(fabric, port);
	if (place != HD_NONE && number <= hd_node_ports(plan, place))
		return hd_port_index(plan, place, number);
	return plan->port_count + port;
}

/* Whether a port is of a node that only one of the fabrics has. */
static bool is_shadow(const struct comparing *comparing, bool live, uint32_t port)
{
	const struct hd_comparison *out = comparing->out;
	const struct hd_fabric *fabric =
	    live ? comparing->request->live : comparing->request->expected;
	uint32_t node = fabric->port_node[port];

	if (!by_shape(comparing))
		return (live ? out->expected_of : out->live_of)[node] == HD_NONE;
	uint32_t hub = (live ? &comparing->live : &comparing->plan)->hub[node];
	return hd_is_switch(fabric, node) && !leads_home(fabric, port) &&
	       (live ? comparing->shape.origin : comparing->shape.image)[hub] == HD_NONE;
}

/* Whether the comparison looks at the cable at a port. Each is listed at one of its ends. */
static bool is_listed(const struct comparing *comparing, const struct hd_fabric *fabric,
		      uint32_t port)
{
	uint32_t peer = fabric->peer[port];

	if (peer == HD_NONE || peer < port)
		return false;
	if (!by_shape(comparing))
		return true;
	return !fabric->aside[port] && !fabric->aside[peer] &&
	       (!leads_home(fabric, port) || hd_is_switch(fabric, fabric->port_node[port]));
}

static struct cable cable_at(const struct comparing *comparing, bool live, uint32_t port)
{
	const struct hd_fabric *fabric =
	    live ? comparing->request->live : comparing->request->expected;
	uint32_t peer = fabric->peer[port], own = end_of(comparing, live, port),
		 far = end_of(comparing, live, peer);
	bool swap = far < own;

	return (struct cable){.ends = {.end = {swap ? far : own, swap ? own : far},
				       .port = {swap ? peer : port, swap ? port : peer},
				       .shadow = is_shadow(comparing, live, port) ||
						 is_shadow(comparing, live, peer)},
			      .rate = (uint32_t)fabric->width[port] << 8 | fabric->speed[port]};
}

static int compare_cables(const void *a, const void *b)
{
	const struct cable *x = a, *y = b;

	for (unsigned end = 0; end < 2; end++)
		if (x->ends.end[end] != y->ends.end[end])
			return x->ends.end[end] < y->ends.end[end] ? -1 : 1;
	if (x->rate != y->rate)
		return x->rate < y->rate ? -1 : 1;
	return x->ends.port[0] < y->ends.port[0] ? -1 : x->ends.port[0] > y->ends.port[0];
}

struct cables {
	struct cable *list;
	uint32_t count;
};

static int list_cables(const struct comparing *comparing, bool live, struct cables *out)
{
	const struct hd_fabric *fabric =
	    live ? comparing->request->live : comparing->request->expected;

	out->list = calloc(fabric->port_count + 1u, sizeof(*out->list));
	if (!out->list)
		return hd_error_no_memory(comparing->err);
	for (uint32_t port = 0; port < fabric->port_count; port++)
		if (is_listed(comparing, fabric, port))
			out->list[out->count++] = cable_at(comparing, live, port);
	qsort(out->list, out->count, sizeof(*out->list), compare_cables);
	return 0;
}

/* What is compared: cables that both have go to the front of the lists, in pairs; the others to loose[]. */
struct comparison_lists {
	struct cables plan, live;
	struct loose_cables loose[2];
};

static int same_ends(const struct cable *a, const struct cable *b)
{
	for (unsigned end = 0; end < 2; end++)
		if (a->ends.end[end] != b->ends.end[end])
			return a->ends.end[end] < b->ends.end[end] ? -1 : 1;
	return 0;
}

static void split(struct comparison_lists *lists)
{
	uint32_t a = 0, b = 0, pairs = 0;

	while (a < lists->plan.count || b < lists->live.count) {
		int order = a == lists->plan.count ? 1
			    : b == lists->live.count
				? -1
				: same_ends(&lists->plan.list[a], &lists->live.list[b]);
		if (!order) {
			lists->plan.list[pairs] = lists->plan.list[a++];
			lists->live.list[pairs++] = lists->live.list[b++];
		} else if (order < 0) {
			lists->loose[0].list[lists->loose[0].count++] = lists->plan.list[a++].ends;
		} else {
			lists->loose[1].list[lists->loose[1].count++] = lists->live.list[b++].ends;
		}
	}
	lists->plan.count = lists->live.count = pairs;
}

static bool other_rate(const struct hd_compare_request *request, uint32_t plan, uint32_t live)
{
	uint32_t width = request->width ? request->width : plan >> 8;
	uint32_t speed = request->speed ? (uint32_t)request->speed : plan & 0xFF;
	bool other_width = width && live >> 8 && width != live >> 8;

	return other_width || (speed && (live & 0xFF) && speed != (live & 0xFF));
}

static bool leads_to_host(const struct hd_fabric *fabric, uint32_t port)
{
	return !hd_is_switch(fabric, fabric->port_node[port]) ||
	       !hd_is_switch(fabric, fabric->port_node[fabric->peer[port]]);
}

/* Whether all planned cables to hosts, or all others, have one rate. */
static bool is_uniform(const struct hd_fabric *plan, bool to_hosts)
{
	uint32_t first = HD_NONE;

	for (uint32_t port = 0; port < plan->port_count; port++) {
		if (plan->peer[port] == HD_NONE || leads_to_host(plan, port) != to_hosts)
			continue;
		first = first == HD_NONE ? port : first;
		if (plan->width[port] != plan->width[first] ||
		    plan->speed[port] != plan->speed[first])
			return false;
	}
	return true;
}

/* By shape, a cable of another rate may be at a place that another mapping would not have given it. */
static int compare_rates(struct comparing *comparing, const struct comparison_lists *lists)
{
	const struct hd_compare_request *request = comparing->request;
	bool all = !by_shape(comparing) || (request->width && request->speed);
	bool compared[2] = {all || is_uniform(request->expected, false),
			    all || is_uniform(request->expected, true)};
	int rc = 0;

	for (uint32_t i = 0; !rc && i < lists->plan.count; i++) {
		uint32_t port = lists->plan.list[i].ends.port[0];
		if (compared[leads_to_host(request->expected, port)] &&
		    other_rate(request, lists->plan.list[i].rate, lists->live.list[i].rate))
			rc = add_one(comparing, HD_DIFFERENCE_RATE, port,
				     lists->live.list[i].ends.port[0]);
	}
	return rc;
}

static int compare_all_cables(struct comparing *comparing)
{
	struct comparison_lists lists = {.plan = {NULL, 0}};
	const struct tangle_sink sink = {add, comparing};
	int rc = list_cables(comparing, false, &lists.plan);

	if (!rc)
		rc = list_cables(comparing, true, &lists.live);
	lists.loose[0].list = rc ? NULL : calloc(lists.plan.count + 1u, sizeof(struct loose_cable));
	lists.loose[1].list = rc ? NULL : calloc(lists.live.count + 1u, sizeof(struct loose_cable));
	if (!rc && (!lists.loose[0].list || !lists.loose[1].list))
		rc = hd_error_no_memory(comparing->err);
	if (!rc) {
		comparing->out->planned = lists.plan.count;
		split(&lists);
		comparing->out->agreeing = lists.plan.count;
		rc = cable_tangle_sort(ends_of(comparing), &lists.loose[0], &lists.loose[1], &sink);
		if (rc)
			hd_error_no_memory(comparing->err);
	}
	if (!rc && comparing->request->rates)
		rc = compare_rates(comparing, &lists);
	free(lists.plan.list);
	free(lists.live.list);
	free(lists.loose[0].list);
	free(lists.loose[1].list);
	return rc;
}

/* ---- matching ---- */

static int try_keys(struct comparing *comparing, bool by_name, bool must, bool *taken)
{
	const struct hd_compare_request *request = comparing->request;
	struct hd_comparison *out = comparing->out;
	struct match_keys keys;
	int rc = match_keys_find(request->expected, request->live, by_name, &out->arena, &keys,
				 comparing->err);

	*taken = false;
	if (rc || (!must && 2 * keys.switches < request->expected->switch_count))
		return rc;
	rc = match_keys_place(&keys, comparing->err);
	*taken = !rc;
	out->match = by_name ? HD_MATCH_NAME : HD_MATCH_GUID;
	out->live_of = keys.live_of;
	out->expected_of = keys.plan_of;
	comparing->key_live = keys.key_live;
	comparing->key_plan = keys.key_plan;
	return rc;
}

static int match_by_shape(struct comparing *comparing)
{
	const struct hd_fabric *expected = comparing->request->expected,
			       *live = comparing->request->live;
	struct hd_comparison *out = comparing->out;
	int rc = match_graph_make(expected, &out->arena, &comparing->plan, comparing->err);

	out->match = HD_MATCH_SHAPE;
	out->live_of = hd_arena_alloc(&out->arena, expected->node_count, sizeof(uint32_t));
	out->expected_of = hd_arena_alloc(&out->arena, live->node_count, sizeof(uint32_t));
	if (hd_arena_check(&out->arena))
		return hd_error_no_memory(comparing->err);
	if (!rc)
		rc = match_graph_make(live, &out->arena, &comparing->live, comparing->err);
	if (!rc)
		rc = match_search(&comparing->plan, &comparing->live, &out->arena,
				  &comparing->shape, comparing->err);
	if (rc)
		return rc;
	memset(out->live_of, 0xFF, expected->node_count * sizeof(uint32_t));
	memset(out->expected_of, 0xFF, live->node_count * sizeof(uint32_t));
	for (uint32_t hub = 0; hub < comparing->plan.count; hub++)
		if (comparing->shape.image[hub] != HD_NONE) {
			uint32_t node = comparing->live.node[comparing->shape.image[hub]];
			out->live_of[comparing->plan.node[hub]] = node;
			out->expected_of[node] = comparing->plan.node[hub];
		}
	return 0;
}

static int find_matching(struct comparing *comparing)
{
	enum hd_match match = comparing->request->match;
	bool taken = false;
	int rc = 0;

	if (match == HD_MATCH_AUTO || match == HD_MATCH_GUID)
		rc = try_keys(comparing, false, match == HD_MATCH_GUID, &taken);
	if (!rc && !taken && (match == HD_MATCH_AUTO || match == HD_MATCH_NAME))
		rc = try_keys(comparing, true, match == HD_MATCH_NAME, &taken);
	return rc || taken ? rc : match_by_shape(comparing);
}

int hd_fabric_compare(const struct hd_compare_request *request, struct hd_comparison *out,
		      struct hd_error *err)
{
	struct comparing comparing = {.request = request, .out = out, .err = err};
	int rc = find_matching(&comparing);

	if (!rc)
		rc = by_shape(&comparing) ? compare_hubs(&comparing) : compare_nodes(&comparing);
	return rc ? rc : compare_all_cables(&comparing);
}

void hd_comparison_release(struct hd_comparison *comparison)
{
	free(comparison->differences);
	hd_arena_release(&comparison->arena);
	*comparison = (struct hd_comparison){.count = 0};
}
