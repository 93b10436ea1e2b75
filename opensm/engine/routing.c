/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "routing.h"
#include "policy_options.h"

#include <errno.h>
#include <heddle/fabric/changes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what outlasts a routing ---- */

struct hd_stored_tables *routing_memory_find(const struct routing_memory *memory,
					     const char *engine)
{
	for (uint32_t i = 0; i < memory->baseline_count; i++)
		if (!strcmp(memory->baselines[i]->routes->engine, engine))
			return memory->baselines[i];
	return NULL;
}

/* Whether tables were made with these options; NULL: no options. */
static bool same_options(const struct hd_routes *routes, const struct hd_options *options)
{
	char text[sizeof(routes->options)] = "";

	if (options)
		hd_options_print(options, text, sizeof(text));
	return !strcmp(routes->options, text);
}

static void forget_baselines(struct routing_memory *memory)
{
	while (memory->baseline_count)
		hd_stored_tables_free(memory->baselines[--memory->baseline_count]);
}

/* A baseline for the routing's engine, which has none yet. */
static int add_baseline(struct routing_memory *memory, const struct routing *routing,
			struct hd_error *err)
{
	struct hd_stored_tables *stored;
	bool grown;
	int rc;

	if (memory->baseline_count == sizeof(memory->baselines) / sizeof(memory->baselines[0]))
		return 0;
	stored = hd_stored_tables_new();
	if (!stored)
		return hd_error_no_memory(err);
	stored->policy = routing->policy;
	rc = hd_stored_tables_add(stored, routing->fabric, routing_base(routing), &grown, err);
	if (rc)
		hd_stored_tables_free(stored);
	else
		memory->baselines[memory->baseline_count++] = stored;
	return rc;
}

int routing_memory_note(struct routing_memory *memory, const struct routing *routing,
			struct hd_error *err)
{
	struct hd_stored_tables *baseline;
	bool grown = false;
	int rc;

	hd_stored_tables_free(memory->in_place);
	memory->in_place = NULL;
	baseline = routing_memory_find(memory, routing->engine->name);
	if (routing->afresh && (baseline || !memory->replaced)) {
		forget_baselines(memory);
		baseline = NULL;
	}
	memory->replaced = false;
	rc = baseline ? hd_stored_tables_add(baseline, routing->fabric, routing_base(routing),
					     &grown, err)
		      : add_baseline(memory, routing, err);
	memory->changed |= grown || !baseline || routing->changes || routing->other_shape;
	return rc;
}

void routing_memory_note_other(struct routing_memory *memory)
{
	hd_stored_tables_free(memory->in_place);
	memory->in_place = NULL;
	memory->replaced = true;
	memory->changed = true;
}

void routing_memory_clear(struct routing_memory *memory)
{
	forget_baselines(memory);
	hd_stored_tables_free(memory->in_place);
	*memory = (struct routing_memory){.changed = true};
}

/* ---- computing a routing ---- */

/* The number of entries that switches get if none of theirs is known. */
static uint64_t count_entries(const struct hd_fabric *fabric)
{
	return (uint64_t)fabric->switch_count * hd_fabric_lids_in_use(fabric);
}

/* Whether a GUID and offset of LIDs are the same, for all LIDs. */
static bool same_lids(const struct hd_fabric *a, const struct hd_fabric *b)
{
	for (uint32_t lid = 0; lid < a->lid_count; lid++) {
		uint32_t port_a = a->lid_owner[lid], port_b = b->lid_owner[lid];

		if ((port_a == HD_NONE) != (port_b == HD_NONE))
			return false;
		if (port_a != HD_NONE && (a->port_guid[port_a] != b->port_guid[port_b] ||
					  a->lid[port_a] != b->lid[port_b]))
			return false;
	}
	return true;
}

/* True if both fabrics have the same switches and LIDs, as in most sweeps. Tables fit both then. */
static bool same_shape(const struct hd_fabric *a, const struct hd_fabric *b)
{
	return a->switch_count == b->switch_count && a->lid_count == b->lid_count &&
	       !memcmp(a->node_guid, b->node_guid, a->switch_count * sizeof(*a->node_guid)) &&
	       same_lids(a, b);
}

static int carry_stored(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			struct routing_carried *carried, struct hd_error *err)
{
	if (hd_stored_tables_fit(stored, fabric)) {
		carried->routes = stored->routes;
		return 0;
	}
	int rc = hd_stored_tables_get(stored, fabric, &carried->owned, err);

	carried->routes = carried->owned;
	return rc;
}

static int carry_baseline(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			  struct routing_carried *carried, struct hd_error *err)
{
	int rc = 0;

	if (hd_stored_tables_fit(stored, fabric))
		carried->routes = stored->routes;
	else if (!(rc = hd_stored_tables_baseline(stored, fabric, &carried->owned, err)))
		carried->routes = carried->owned;
	return rc;
}

/*
 * The tables from which an engine starts, if the last routing of this run of OpenSM was not ours: those
 * in the switches from an earlier run, or the engine's baseline if an engine that is not ours has
 * replaced the tables. NULL: none.
 */
static const struct hd_stored_tables *stored_start(const struct routing_request *request,
						   const struct hd_stored_tables *baseline)
{
	const struct routing_memory *memory = request->memory;

	return memory->in_place ? memory->in_place : memory->replaced ? baseline : NULL;
}

int routing_carry(const struct hd_fabric *from, const struct hd_routes *routes,
		  const struct hd_fabric *to, struct routing_carried *carried, struct hd_error *err)
{
	int rc = 0;

	*carried = (struct routing_carried){.routes = routes};
	if (!routes || same_shape(from, to))
		return 0;
	rc = hd_routes_rebase(from, routes, to, &carried->owned, err);
	carried->routes = carried->owned;
	return rc;
}

/* The engine's tables of a routing. */
static int carry_base(const struct routing *routing, const struct hd_fabric *fabric,
		      struct routing_carried *carried, struct hd_error *err)
{
	return routing_carry(routing->fabric, routing_base(routing), fabric, carried, err);
}

/* The tables from which the engine starts: those of the last sweep, or stored ones. */
static int carry_start(const struct routing_request *request, struct routing *routing,
		       const struct hd_stored_tables *stored, struct routing_carried *carried,
		       struct hd_error *err)
{
	const struct routing *before = request->before;
	int rc;

	if (!before && !stored)
		return 0;
	if (!before) {
		rc = carry_stored(stored, routing->fabric, carried, err);
		routing->other_shape = carried->owned != NULL;
		return rc;
	}
	rc = carry_base(routing_swept(before), routing->fabric, carried, err);
	routing->other_shape = carried->owned != NULL;
	return rc;
}

/* Counts the entries that differ from those in place, which are not `previous` after a repair. */
static int count_changes(const struct routing_request *request, struct routing *routing,
			 const struct hd_routes *previous, struct hd_error *err)
{
	struct routing_carried in_place = {.routes = previous};
	int rc = 0;

	if (!previous || request->memory->replaced) {
		routing->changes = count_entries(routing->fabric);
		return 0;
	}
	if (request->before && request->before->swept)
		rc = carry_base(request->before, routing->fabric, &in_place, err);
	if (!rc)
		routing->changes = hd_routes_count_changes(in_place.routes, routing->routes);
	hd_routes_free(in_place.owned);
	return rc;
}

/*
 * The engine starts from the tables in place, unless its options or the policy have changed: then
 * the change would have no effect. Tables of another engine are in place if that one refuses now, or
 * if this one refused before and has to go back to its baseline. An engine that has only refused so
 * far is asked afresh: from other tables it might accept in one sweep what it refused in the last.
 */
static bool may_keep(const struct routing_request *request, uint64_t policy,
		     const struct hd_stored_tables *stored, const struct hd_stored_tables *baseline)
{
	const struct routing *before = request->before;
	const struct hd_routes *in_place = before   ? routing_base(before)
					   : stored ? stored->routes
						    : NULL;

	if (!request->keep || !in_place || policy != (before ? before->policy : stored->policy))
		return false;
	if (!strcmp(in_place->engine, request->engine->name))
		return same_options(in_place, request->options);
	if (!before && request->memory->other_list)
		return false;
	return baseline
		   ? baseline->policy == policy && same_options(baseline->routes, request->options)
		   : request->takes_over;
}

/* Whether the last sweep routed the same from the same. */
static bool is_at_rest(const struct routing_request *request, const struct routing *routing)
{
	const struct routing *last = request->before ? routing_swept(request->before) : NULL;

	return last && !routing->afresh && !request->memory->replaced &&
	       last->engine == request->engine && !request->engine->from_module &&
	       last->unicast_lanes == request->lanes &&
	       hd_fabric_same(last->fabric, routing->fabric);
}

static int ask_engine(const struct routing_request *request, struct routing *routing,
		      const struct hd_routes *previous, const struct hd_routes *baseline,
		      struct hd_error *err)
{
	struct hd_route_request wanted = {
	    .fabric = routing->fabric,
	    .options = request->options,
	    .policy = request->policy,
	    .previous = routing->afresh ? NULL : previous,
	    .baseline = baseline,
	    .in_place = routing->afresh ? previous : NULL,
	    .lanes = request->lanes,
	    .threads = request->threads,
	    .log = request->log,
	};

	return hd_engine_route(request->engine, &wanted, &routing->routes, err);
}

static int keep_tables(struct routing *routing, const struct hd_routes *previous,
		       struct hd_error *err)
{
	routing->routes = hd_routes_copy(previous);
	return routing->routes ? 0 : hd_error_no_memory(err);
}

static int route(const struct routing_request *request, struct routing *routing,
		 const struct hd_routes *previous, const struct hd_routes *baseline,
		 struct hd_error *err)
{
	int rc = is_at_rest(request, routing)
		     ? keep_tables(routing, previous, err)
		     : ask_engine(request, routing, previous, baseline, err);

	return rc ? rc : count_changes(request, routing, previous, err);
}

static int route_after(const struct routing_request *request, struct routing *routing,
		       struct hd_error *err)
{
	const struct hd_stored_tables *baseline =
	    routing_memory_find(request->memory, request->engine->name);
	const struct hd_stored_tables *stored = stored_start(request, baseline);
	struct routing_carried previous = {0}, old_baseline = {0};
	int rc = carry_start(request, routing, stored, &previous, err);

	routing->afresh = !may_keep(request, routing->policy, stored, baseline);
	if (!rc && !routing->afresh && baseline)
		rc = carry_baseline(baseline, routing->fabric, &old_baseline, err);
	if (!rc)
		rc = route(request, routing, previous.routes, old_baseline.routes, err);
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
	routing->unicast_lanes = request->lanes;
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

/* ---- a finished routing ---- */

/* What a routing has of the one that it is made from, whatever its tables are. */
static void take_over(struct routing *routing, const struct routing *from)
{
	routing->engine = from->engine;
	routing->adaptive = from->adaptive;
	routing->lanes = from->lanes;
	routing->lane_tables = from->lane_tables;
	memcpy(routing->multicast_fault, from->multicast_fault, sizeof(from->multicast_fault));
	routing->policy = from->policy;
	routing->unicast_lanes = from->unicast_lanes;
}

int routing_repaired(struct routing *before, struct hd_fabric *fabric, struct hd_routes *routes,
		     uint64_t changes, struct routing **out, struct hd_error *err)
{
	struct routing *routing = calloc(1, sizeof(*routing));
	int rc;

	if (!routing)
		return hd_error_no_memory(err);
	take_over(routing, before);
	routing->changes = changes;
	routing->other_shape = fabric->node_count != before->fabric->node_count;
	routing->repaired = true;
	atomic_init(&routing->holders, 1);
	routing->fabric = fabric;
	routing->routes = routes;
	routing->swept = routing_hold(before->swept ? before->swept : before);
	rc = find_sources(routing, err);
	if (rc) {
		routing->fabric = NULL; /* these stay the caller's */
		routing->routes = NULL;
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

void routing_take_keys(struct routing *routing, struct hd_routes *routes)
{
	if (routing->base)
		hd_routes_free(routing->routes);
	else
		routing->base = routing->routes;
	routing->routes = routes;
}

void routing_take_pins(struct routing *routing, struct hd_ar_pins *pins)
{
	hd_ar_pins_release(&routing->pins);
	routing->pins = *pins;
	*pins = (struct hd_ar_pins){0};
}

/* Member by member: other threads change the number of holders of `routing` meanwhile. */
struct routing *routing_with_keys(struct routing *routing, struct hd_routes *routes)
{
	struct routing *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	take_over(made, routing);
	made->fabric = routing->fabric;
	made->alive = routing->alive;
	made->routes = routes;
	made->origin = routing_hold(routing->origin ? routing->origin : routing);
	made->base = routing_base(made->origin);
	made->swept = routing->swept;
	made->source_row = routing->source_row;
	made->changes = routing->changes;
	made->afresh = routing->afresh;
	made->other_shape = routing->other_shape;
	made->repaired = routing->repaired;
	made->snapshot_ms = routing->snapshot_ms;
	made->tables_ms = routing->tables_ms;
	made->hops_ms = routing->hops_ms;
	atomic_init(&made->holders, 1);
	return made;
}

struct routing *routing_of_fabric(struct hd_fabric *fabric)
{
	struct routing *made = calloc(1, sizeof(*made));

	if (!made) {
		hd_fabric_free(fabric);
		return NULL;
	}
	made->fabric = fabric;
	atomic_init(&made->holders, 1);
	return made;
}

struct hd_routes *routing_recycle(struct routing *routing)
{
	struct hd_routes *routes = NULL;

	if (routing->origin && atomic_load(&routing->holders) == 1) {
		routes = routing->routes;
		routing->routes = NULL;
	}
	routing_release(routing);
	return routes;
}

static void free_whole(struct routing *routing)
{
	hd_routes_free(routing->base);
	hd_fabric_free(routing->fabric);
	hd_fabric_free(routing->alive);
	free(routing->source_row);
	routing_release(routing->swept);
}

void routing_release(struct routing *routing)
{
	if (!routing || atomic_fetch_sub(&routing->holders, 1) > 1)
		return;
	hd_routes_free(routing->routes);
	hd_ar_pins_release(&routing->pins);
	if (routing->origin)
		routing_release(routing->origin);
	else
		free_whole(routing);
	free(routing);
}
