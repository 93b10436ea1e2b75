/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interconnects for the tests of the room ir_router. */
#ifndef IR_TESTING_H
#define IR_TESTING_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check_call_testing.h"
#include "generate_testing.h"

#include <heddle/engines.h>
#include <heddle/ir_router.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBNETS_MAX 6u
#define PREFIX UINT64_C(0xfec0000000000001)

/* The subnets of one interconnect, and what is made from them. */
struct scene {
	uint32_t count;
	struct hd_fabric *fabrics[SUBNETS_MAX];
	struct hd_routes *routes[SUBNETS_MAX];
	struct hd_map *maps[SUBNETS_MAX];
	struct hd_interconnect *interconnect;
	struct hd_isfr_plan *plan;
	struct hd_relay_tables tables;
	struct hd_walker *walker;
};

static inline struct hd_routes *route(const struct hd_fabric *fabric, const char *name)
{
	const struct hd_engine *engine = hd_engine_find(name);
	struct hd_options *options = hd_engine_options(engine);
	const struct hd_route_request request = {
	    .fabric = fabric, .options = options, .threads = 1};
	struct hd_routes *routes = NULL;

	CHECK(hd_engine_route(engine, &request, &routes, &err));
	hd_options_free(options);
	return routes;
}

/* Subnets of one `interconnect`, without tables; `settings` besides the number of subnets. */
static inline void scene_generate(struct scene *scene, uint32_t subnets, const char *settings)
{
	char text[200];

	*scene = (struct scene){.count = subnets};
	for (uint32_t i = 0; i < subnets; i++) {
		snprintf(text, sizeof(text), "subnets=%u part=%u %s", subnets, i + 1, settings);
		scene->fabrics[i] = generate("interconnect", text);
	}
}

static inline void scene_join(struct scene *scene)
{
	struct hd_subnet list[SUBNETS_MAX];

	for (uint32_t i = 0; i < scene->count; i++)
		list[i] = (struct hd_subnet){PREFIX + i, "subnet", scene->fabrics[i],
					     scene->routes[i], scene->maps[i]};
	hd_interconnect_free(scene->interconnect);
	scene->interconnect = NULL;
	CHECK(hd_interconnect_new(list, scene->count, &scene->interconnect, &err));
	hd_isfr_plan_free(scene->plan);
	scene->plan = NULL;
	CHECK(hd_isfr_plan_new(scene->interconnect, &scene->plan, &err));
}

/* Tables by an engine, maps by ISFR or ISSR, and a walker with routers of the same kind. */
static inline void scene_route(struct scene *scene, const char *engine, bool isfr)
{
	scene_join(scene);
	for (uint32_t i = 0; i < scene->count; i++) {
		scene->routes[i] = route(scene->fabrics[i], engine);
		if (isfr)
			CHECK(hd_isfr_map(scene->plan, i, NULL, &scene->maps[i], NULL, &err));
		else
			CHECK(
			    hd_issr_map(scene->interconnect, i, NULL, &scene->maps[i], NULL, &err));
	}
	scene_join(scene);
	scene->tables = (struct hd_relay_tables){scene->interconnect, scene->plan};
	struct hd_relay relay =
	    isfr ? hd_relay_isfr(&scene->tables) : hd_relay_issr(&scene->tables);
	CHECK(hd_walker_new(scene->interconnect, &relay, &scene->walker, &err));
}

static inline void scene_release(struct scene *scene)
{
	hd_walker_free(scene->walker);
	hd_isfr_plan_free(scene->plan);
	hd_interconnect_free(scene->interconnect);
	for (uint32_t i = 0; i < scene->count; i++) {
		hd_map_free(scene->maps[i]);
		hd_routes_free(scene->routes[i]);
		hd_fabric_free(scene->fabrics[i]);
	}
}

/* The fabric without the cable at a port of a node, or without all cables of the node (port 0). */
static inline struct hd_fabric *without(const struct hd_fabric *fabric, uint64_t guid,
					uint32_t port)
{
	struct hd_builder *builder = hd_builder_from(fabric);
	uint32_t node = hd_fabric_find_node(fabric, guid);
	struct hd_fabric *damaged = NULL;

	assert_true(node != HD_NONE);
	for (uint32_t i = 1; i <= hd_node_ports(fabric, node); i++)
		if (!port || i == port)
			hd_builder_unlink(builder, node, i);
	CHECK(hd_builder_build(builder, &damaged, &err));
	hd_builder_free(builder);
	return damaged;
}

/* Replaces a subnet of the scene by a damaged one. */
static inline void scene_damage(struct scene *scene, uint32_t subnet, uint64_t guid, uint32_t port)
{
	struct hd_fabric *damaged = without(scene->fabrics[subnet], guid, port);

	hd_fabric_free(scene->fabrics[subnet]);
	scene->fabrics[subnet] = damaged;
}

#endif
