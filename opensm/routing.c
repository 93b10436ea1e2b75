/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "routing.h"
#include "policy_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The number of entries that switches get if none of theirs is known. */
static uint64_t count_entries(const struct hd_fabric *fabric)
{
	return (uint64_t)fabric->switch_count * hd_fabric_lids_in_use(fabric);
}

static bool may_keep(const struct routing_request *request, uint64_t policy)
{
	const struct routing *before = request->before;
	char options[sizeof(((struct hd_routes *)0)->options)] = "";

	if (!request->keep || !before || policy != before->policy)
		return false;
	if (request->options)
		hd_options_print(request->options, options, sizeof(options));
	return !strcmp(before->routes->engine, request->engine->name) &&
	       !strcmp(before->routes->options, options);
}

/* The GUID of the port that has a LID, and the LID offset. */
static uint64_t owner_key(const struct hd_fabric *fabric, uint32_t lid, uint32_t *offset)
{
	uint32_t port = fabric->lid_owner[lid];

	*offset = port == HD_NONE ? 0 : lid - fabric->lid[port];
	return port == HD_NONE ? 0 : fabric->port_guid[port];
}

/* True if both fabrics have the same switches and LIDs, as in most sweeps. Tables fit both then. */
static bool same_shape(const struct hd_fabric *a, const struct hd_fabric *b)
{
	if (a->switch_count != b->switch_count || a->lid_count != b->lid_count ||
	    memcmp(a->node_guid, b->node_guid, a->switch_count * sizeof(*a->node_guid)))
		return false;
	for (uint32_t lid = 0; lid < a->lid_count; lid++) {
		uint32_t offset_a, offset_b;

		if (owner_key(a, lid, &offset_a) != owner_key(b, lid, &offset_b) ||
		    offset_a != offset_b)
			return false;
	}
	return true;
}

/* Tables of an earlier routing, with the rows and LIDs of the present fabric. */
struct carried {
	const struct hd_routes *routes; /* NULL = none */
	struct hd_routes *owned;
};

static int carry_over(const struct routing *from, const struct hd_fabric *fabric,
		      struct carried *carried, struct hd_error *err)
{
	int rc = 0;

	*carried = (struct carried){0};
	if (!from)
		return 0;
	if (!same_shape(from->fabric, fabric))
		rc = hd_routes_rebase(from->fabric, from->routes, fabric, &carried->owned, err);
	carried->routes = carried->owned ? carried->owned : rc ? NULL : from->routes;
	return rc;
}

static int route(const struct routing_request *request, struct routing *routing,
		 const struct hd_routes *previous, const struct hd_routes *baseline,
		 struct hd_error *err)
{
	struct hd_route_request wanted = {
	    .fabric = routing->fabric,
	    .options = request->options,
	    .policy = request->policy,
	    .previous = baseline ? previous : NULL,
	    .baseline = baseline,
	    .lanes = request->lanes,
	    .threads = request->threads,
	    .log = request->log,
	};
	int rc = hd_engine_route(request->engine, &wanted, &routing->routes, err);

	if (rc)
		return rc;
	routing->changes = previous ? hd_routes_count_changes(previous, routing->routes)
				    : count_entries(routing->fabric);
	return 0;
}

static struct routing *baseline_of(struct routing *routing)
{
	return routing->baseline ? routing->baseline : routing;
}

static int route_after(const struct routing_request *request, struct routing *routing,
		       struct hd_error *err)
{
	bool keep = may_keep(request, routing->policy);
	struct routing *baseline = keep ? baseline_of(request->before) : NULL;
	struct carried previous, old_baseline = {0};
	int rc = carry_over(request->before, routing->fabric, &previous, err);

	if (!rc)
		rc = carry_over(baseline, routing->fabric, &old_baseline, err);
	if (!rc)
		rc = route(request, routing, previous.routes, old_baseline.routes, err);
	if (!rc && baseline)
		routing->baseline = routing_hold(baseline);
	hd_routes_free(previous.owned);
	hd_routes_free(old_baseline.owned);
	return rc;
}

/* Finds the source switch of packets, by the LID of the sender. */
static int find_sources(struct routing *routing, struct hd_error *err)
{
	const struct hd_routes *routes = routing->routes;

	if (!routes->sl)
		return 0;
	if (routes->switch_count >= ROUTING_NO_ROW)
		return hd_error_set(err, -ENOTSUP, "%u switches, more than there can be LIDs",
				    routes->switch_count);
	routing->source_row = malloc(routes->lid_count * sizeof(*routing->source_row));
	if (!routing->source_row)
		return hd_error_no_memory(err);
	for (uint32_t lid = 0; lid < routes->lid_count; lid++) {
		uint32_t sw;
		uint8_t port;
		bool known = hd_fabric_lid_destination(routing->fabric, lid, &sw, &port);

		routing->source_row[lid] = known ? (uint16_t)sw : ROUTING_NO_ROW;
	}
	return 0;
}

int routing_compute(const struct routing_request *request, struct hd_fabric *fabric,
		    struct routing **out, struct hd_error *err)
{
	struct routing *routing = calloc(1, sizeof(*routing));
	int rc;

	if (!routing)
		return hd_error_no_memory(err);
	routing->engine = request->engine;
	atomic_init(&routing->holders, 1);
	routing->fabric = fabric;
	routing->policy = policy_options_fingerprint(request->policy);
	rc = route_after(request, routing, err);
	if (!rc)
		rc = find_sources(routing, err);
	if (rc) {
		routing->fabric = NULL; /* stays the caller's */
		routing_release(routing);
		return rc;
	}
	*out = routing;
	return 0;
}

struct routing *routing_hold(struct routing *routing)
{
	atomic_fetch_add(&routing->holders, 1);
	return routing;
}

void routing_release(struct routing *routing)
{
	if (!routing || atomic_fetch_sub(&routing->holders, 1) > 1)
		return;
	routing_release(routing->baseline);
	hd_routes_free(routing->routes);
	hd_fabric_free(routing->fabric);
	free(routing->source_row);
	free(routing);
}
