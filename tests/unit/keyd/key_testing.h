/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers that the tests of keys share: a fabric with its tree and its tables without keys, and the
 * proof of a key by these tables with the key's entries laid over them. */
#ifndef KEY_TESTING_H
#define KEY_TESTING_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "variants.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/fabric.h>
#include <heddle/keyd/key.h>

struct scene {
	struct hd_fabric *fabric;
	struct hd_key_tree *tree;
	struct hd_routes *base;
};

/* Takes over the fabric. False: it is no tree for keys, or has no tables; then all is released. */
static inline bool scene_begin(struct scene *scene, struct hd_fabric *fabric)
{
	const struct hd_engine *engine = hd_engine_find("dmodk");
	struct hd_options *options = hd_engine_options(engine);
	struct hd_route_request request = {.fabric = fabric, .options = options};
	struct hd_error err = {""};

	*scene = (struct scene){.fabric = fabric};
	int rc = hd_key_tree_new(fabric, &scene->tree, &err);
	if (rc)
		assert_int_equal(rc, -ENOTSUP);
	if (!rc && hd_engine_route(engine, &request, &scene->base, &err)) {
		hd_key_tree_free(scene->tree);
		rc = -ENOTSUP;
	}
	hd_options_free(options);
	if (rc)
		hd_fabric_free(fabric);
	return !rc;
}

static inline struct hd_fabric *with_lmc(struct hd_fabric *fabric, unsigned lmc)
{
	struct hd_fabric *out = NULL;
	struct hd_error err = {""};

	if (hd_fabric_assign_lids(fabric, lmc, &out, &err))
		fail_msg("%s", err.text);
	hd_fabric_free(fabric);
	return out;
}

static inline void scene_xgft(struct scene *scene, const char *settings, unsigned lmc)
{
	assert_true(scene_begin(scene, with_lmc(generate("xgft", settings), lmc)));
}

static inline void scene_end(struct scene *scene)
{
	hd_routes_free(scene->base);
	hd_key_tree_free(scene->tree);
	hd_fabric_free(scene->fabric);
}

/* ---- traffic ---- */

struct traffic {
	struct hd_key_flow *flows;
	uint32_t count;
};

static inline void traffic_release(struct traffic *traffic)
{
	free(traffic->flows);
}

/* Numbers 0 .. count - 1 in random order. */
static inline uint32_t *shuffled(uint32_t count, uint64_t *random)
{
	uint32_t *items = malloc((count + 1) * sizeof(*items));

	for (uint32_t i = 0; i < count; i++)
		items[i] = i;
	variants_shuffle(items, count, random);
	return items;
}

/* Each of the first `count` hosts of a random placement sends to another one's place. */
static inline struct traffic permutation(const struct hd_fabric *fabric, uint32_t count,
					 uint64_t *random)
{
	struct traffic traffic = {.flows = malloc((count + 1) * sizeof(*traffic.flows))};
	uint32_t *place = shuffled(fabric->host_count, random), *to = shuffled(count, random);

	for (uint32_t i = 0; i < count; i++)
		if (to[i] != i)
			traffic.flows[traffic.count++] =
			    (struct hd_key_flow){place[i], place[to[i]]};
	free(place);
	free(to);
	return traffic;
}

/* Flows between random hosts: hosts may send and receive several. */
static inline struct traffic random_flows(const struct hd_fabric *fabric, uint32_t count,
					  uint64_t *random)
{
	struct traffic traffic = {.flows = malloc((count + 1) * sizeof(*traffic.flows)),
				  .count = count};

	for (uint32_t i = 0; i < count; i++)
		traffic.flows[i] =
		    (struct hd_key_flow){(uint32_t)hd_random_below(random, fabric->host_count),
					 (uint32_t)hd_random_below(random, fabric->host_count)};
	return traffic;
}

/* ---- keys ---- */

static inline int key_try(const struct scene *scene, const struct traffic *traffic,
			  unsigned offsets, bool best_effort, struct hd_key **out,
			  struct hd_error *err)
{
	struct hd_key_request request = {.tree = scene->tree,
					 .flows = traffic->flows,
					 .flow_count = traffic->count,
					 .offsets = offsets,
					 .best_effort = best_effort};

	return hd_key_make(&request, out, err);
}

static inline struct hd_key *key_for(const struct scene *scene, const struct traffic *traffic,
				     unsigned offsets, bool best_effort)
{
	struct hd_key *key = NULL;
	struct hd_error err = {""};

	if (key_try(scene, traffic, offsets, best_effort, &key, &err))
		fail_msg("%s", err.text);
	return key;
}

/* ---- proof ---- */

/* Lays the entries over a copy of the tables without keys. Each (switch, LID) must come once. */
static inline struct hd_routes *overlaid(const struct scene *scene,
					 const struct hd_key_overlay *overlay)
{
	struct hd_routes *routes = hd_routes_copy(scene->base);

	assert_non_null(routes);
	for (uint32_t i = 0; i < overlay->count; i++) {
		const struct hd_key_entry *entry = &overlay->entries[i], *before = entry - 1;
		if (i)
			assert_true(before->switch_guid < entry->switch_guid ||
				    (before->switch_guid == entry->switch_guid &&
				     before->lid < entry->lid));
		uint32_t sw = hd_fabric_find_node(scene->fabric, entry->switch_guid);
		assert_true(hd_is_switch(scene->fabric, sw));
		hd_routes_row(routes, sw)[entry->lid] = entry->port;
	}
	return routes;
}

/* Walks a flow's path in the tables; counts it on each link. */
static inline void walk_flow(const struct hd_fabric *fabric, const struct hd_routes *routes,
			     uint32_t source, uint32_t lid, uint32_t *flows)
{
	uint32_t sw = fabric->host_switch[source], to = 0;
	uint8_t last = 0;

	assert_true(hd_fabric_lid_destination(fabric, lid, &to, &last));
	for (uint32_t hops = 0; sw != to; hops++) {
		assert_true(hops < fabric->switch_count);
		uint32_t link = hd_fabric_find_isl(fabric, sw, hd_routes_port(routes, sw, lid));
		assert_true(link != HD_NONE);
		flows[link]++;
		sw = fabric->isl_to[link];
	}
	assert_int_equal(hd_routes_port(routes, sw, lid), last);
}

/* Most flows of the key on a link, by the tables. Compares the loads and the paths of the key with
 * what the walks find. */
static inline uint32_t walk_key(const struct scene *scene, const struct hd_key *key,
				const struct hd_key_shift *shift, unsigned first_offset)
{
	const struct hd_fabric *fabric = scene->fabric;
	struct hd_key_overlay overlay = {0};
	struct hd_error err = {""};
	struct hd_key_loads *loads = hd_key_loads_new(scene->tree);
	uint32_t *flows = calloc(fabric->isl_count + 1, sizeof(*flows)), most = 0;

	if (hd_key_overlay(scene->tree, key, shift, first_offset, &overlay, &err))
		fail_msg("%s", err.text);
	struct hd_routes *routes = overlaid(scene, &overlay);
	for (uint32_t i = 0; i < key->flow_count; i++) {
		const struct hd_key_route *route = &key->routes[i];
		if (route->left_out)
			continue;
		walk_flow(fabric, routes, route->source,
			  fabric->lid[fabric->host_port[route->destination]] + first_offset +
			      route->offset,
			  flows);
	}
	hd_key_loads_add(loads, scene->tree, key, shift, 1);
	assert_memory_equal(loads->flows, flows, fabric->isl_count * sizeof(*flows));
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		most = flows[link] > most ? flows[link] : most;
	hd_key_loads_free(loads);
	hd_routes_free(routes);
	hd_key_overlay_release(&overlay);
	free(flows);
	return most;
}

/* All LIDs must be reached from all switches. Whether there is no credit loop. */
static inline bool check_overlaid(const struct scene *scene, const struct hd_key *key,
				  const struct hd_key_shift *shift, unsigned first_offset)
{
	struct hd_key_overlay overlay = {0};
	struct hd_check_report *report = NULL;
	struct hd_error err = {""};

	assert_int_equal(hd_key_overlay(scene->tree, key, shift, first_offset, &overlay, &err), 0);
	struct hd_routes *routes = overlaid(scene, &overlay);
	assert_int_equal(hd_check(scene->fabric, routes, NULL, &report, &err), 0);
	assert_int_equal(report->no_route + report->dead_end + report->loop, 0);
	bool clean = hd_check_clean(report);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_key_overlay_release(&overlay);
	return clean;
}

#endif
