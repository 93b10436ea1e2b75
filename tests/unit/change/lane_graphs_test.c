/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The graphs of tables, right ones and damaged ones, beside a slow walk of all packets, with one lane and with several. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generated.h"
#include "lane_graphs.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>

#define TRIALS 40u /* of each kind of tables */

struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	bool *wanted; /* [lanes * links * links] */
};

static const struct {
	const char *kind, *settings, *engine;
} kinds[] = {{"xgft", "children=3,4,2 parents=1,3,2", "dmodk"},
	     {"xgft", "children=70,3 parents=1,2", "updown"},
	     {"torus", "dims=5,4 hosts=1", "updown"},
	     {"torus", "dims=5,5 hosts=1", "spf"}};

static bool *wanted_at(const struct scene *scene, unsigned lane, uint32_t link, uint32_t next)
{
	const size_t links = scene->fabric->isl_count;

	return &scene->wanted[(lane * links + link) * links + next];
}

static uint32_t link_of(const struct scene *scene, uint32_t sw, uint32_t lid)
{
	const uint8_t port = hd_routes_port(scene->routes, sw, lid);

	return port && port <= hd_node_ports(scene->fabric, sw)
		   ? hd_fabric_find_isl(scene->fabric, sw, port)
		   : HD_NONE;
}

/* One packet; it may go round. */
static void walk(const struct scene *scene, uint32_t sw, uint32_t lid)
{
	const unsigned lane = hd_routes_vl(scene->routes, sw, lid);
	uint32_t before = HD_NONE;

	for (uint32_t hop = 0; hop <= scene->fabric->switch_count; hop++) {
		const uint32_t link = link_of(scene, sw, lid);
		if (link == HD_NONE)
			return;
		if (before != HD_NONE)
			*wanted_at(scene, lane, before, link) = true;
		before = link;
		sw = scene->fabric->isl_to[link];
	}
}

static void walk_all(struct scene *scene)
{
	const struct hd_fabric *fabric = scene->fabric;
	const size_t links = fabric->isl_count;
	uint32_t destination;
	uint8_t port;

	memset(scene->wanted, 0, LANE_GRAPHS_LANES * links * links);
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (hd_fabric_lid_destination(fabric, lid, &destination, &port) && port &&
			    hd_has_adapters(fabric, sw))
				walk(scene, sw, lid);
}

/* All entries of a LID in a few switches lead anywhere. */
static void damage(struct scene *scene, uint64_t *random)
{
	const struct hd_fabric *fabric = scene->fabric;

	for (uint32_t count = (uint32_t)hd_random_below(random, 40); count > 0; count--) {
		uint32_t sw = (uint32_t)hd_random_below(random, fabric->switch_count);
		uint32_t lid = 1 + (uint32_t)hd_random_below(random, fabric->lid_count - 1);
		uint32_t port = (uint32_t)hd_random_below(random, hd_node_ports(fabric, sw) + 3);
		hd_routes_row(scene->routes, sw)[lid] =
		    port > hd_node_ports(fabric, sw) + 1 ? HD_NO_PORT : (uint8_t)port;
	}
}

static void compare(const struct scene *scene, unsigned threads)
{
	const struct hd_fabric *fabric = scene->fabric;
	struct lane_graphs graphs;
	int rc = lane_graphs_init(&graphs, fabric, scene->routes, "tables", threads, NULL, NULL);

	assert_true(rc == 0 || rc == -ELOOP);
	for (unsigned lane = 0; lane < LANE_GRAPHS_LANES; lane++)
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			const uint32_t to = fabric->isl_to[link];
			for (uint32_t next = fabric->isl_base[to]; next < fabric->isl_base[to + 1];
			     next++)
				assert_int_equal(
				    graphs.used >> lane & 1 &&
					hd_dependencies_has(&graphs.lanes[lane], link, next),
				    *wanted_at(scene, lane, link, next));
		}
	lane_graphs_release(&graphs);
}

static void test_graphs_are_those_of_a_slow_walk(void **state)
{
	uint64_t random = 27;
	unsigned several = 0;

	(void)state;
	for (unsigned i = 0; i < TRIALS * sizeof(kinds) / sizeof(*kinds); i++) {
		struct scene scene = {.fabric = NULL};
		const unsigned kind = i % (sizeof(kinds) / sizeof(*kinds));
		assert_int_equal(
		    generated_fabric(kinds[kind].kind, kinds[kind].settings, &scene.fabric, NULL),
		    0);
		const struct hd_route_request request = {.fabric = scene.fabric};
		assert_int_equal(hd_engine_route(hd_engine_find(kinds[kind].engine), &request,
						 &scene.routes, NULL),
				 0);
		scene.wanted = calloc(LANE_GRAPHS_LANES,
				      (size_t)scene.fabric->isl_count * scene.fabric->isl_count);
		assert_non_null(scene.wanted);
		if (i >= sizeof(kinds) / sizeof(*kinds))
			damage(&scene, &random);
		walk_all(&scene);
		const uint16_t lanes = hd_routes_lanes(scene.fabric, scene.routes);
		several += __builtin_popcount(lanes) > 1;
		compare(&scene, 1 + i % 3);
		free(scene.wanted);
		hd_routes_free(scene.routes);
		hd_fabric_free(scene.fabric);
	}
	assert_true(several > 0 && several < TRIALS * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_graphs_are_those_of_a_slow_walk)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
