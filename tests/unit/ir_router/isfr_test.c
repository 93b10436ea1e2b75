/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ISFR: subnets and routers are routed like one fat tree; damage moves only what it must. */
#include "ir_testing.h"

#define ROUTER(i) (UINT64_C(0x400000) + 256 * (i))
#define SWITCH(i) (UINT64_C(0x200000) + 16 * (i)) /* leaves, then middle switches, by subnet */

/* ---- if the routers were switches ---- */

/* Follows the tables of the fabric in which the routers are switches. */
static uint32_t walk_whole(const struct hd_fabric *fabric, const struct hd_routes *routes,
			   uint64_t source, uint64_t destination, uint32_t *links)
{
	uint32_t from = hd_fabric_find_host(fabric, hd_fabric_find_port(fabric, source));
	uint32_t to = hd_fabric_find_port(fabric, destination);
	uint32_t sw = fabric->host_switch[from], count = 0;

	for (;;) {
		uint8_t out = hd_routes_port(routes, sw, fabric->lid[to]);
		if (fabric->peer[hd_port_index(fabric, sw, out)] == to)
			return count;
		links[count] = hd_fabric_find_isl(fabric, sw, out);
		sw = fabric->isl_to[links[count++]];
		assert_true(count < 10);
	}
}

static uint64_t guid_of(const struct scene *scene, uint32_t subnet, uint32_t host)
{
	return scene->fabrics[subnet]->port_guid[scene->fabrics[subnet]->host_port[host]];
}

static bool is_adapter(const struct scene *scene, uint32_t subnet, uint32_t host)
{
	const struct hd_fabric *fabric = scene->fabrics[subnet];

	return fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_CA;
}

/* The joined fabric and `whole` have the same switches by GUID, so the same links have the same
 * numbers in both. */
static void assert_same_path(const struct scene *scene, const struct hd_fabric *whole,
			     const struct hd_routes *routes, uint32_t from, uint32_t source,
			     uint32_t to, uint32_t destination)
{
	struct hd_journey journey;
	uint32_t links[10];
	uint32_t count = walk_whole(whole, routes, guid_of(scene, from, source),
				    guid_of(scene, to, destination), links);

	hd_walk(scene->walker, from, source, to, destination, &journey);
	assert_int_equal(journey.end, HD_JOURNEY_ARRIVED);
	assert_int_equal(journey.link_count, count);
	assert_memory_equal(journey.links, links, count * sizeof(*links));
}

static uint32_t compare_with_switches(uint32_t subnets, const char *settings)
{
	struct scene scene;
	char text[100];
	uint32_t compared = 0;

	scene_generate(&scene, subnets, settings);
	scene_route(&scene, "dmodk", true);
	snprintf(text, sizeof(text), "subnets=%u switches=yes %s", subnets, settings);
	struct hd_fabric *whole = generate("interconnect", text);
	struct hd_routes *routes = route(whole, "dmodk");
	assert_int_equal(whole->isl_count, hd_walker_joined(scene.walker)->isl_count);
	for (uint32_t from = 0; from < subnets; from++)
		for (uint32_t to = 0; to < subnets; to++)
			for (uint32_t a = 0; a < scene.fabrics[from]->host_count; a++)
				for (uint32_t b = 0; b < scene.fabrics[to]->host_count; b++) {
					if (!is_adapter(&scene, from, a) ||
					    !is_adapter(&scene, to, b) || (from == to && a == b))
						continue;
					assert_same_path(&scene, whole, routes, from, a, to, b);
					compared++;
				}
	hd_routes_free(routes);
	hd_fabric_free(whole);
	scene_release(&scene);
	return compared;
}

/*
 * Property: for the paper's fabrics of 2, 3 and 6 subnets, all paths between hosts, within subnets
 * and across them, are link by link those of D-mod-K in the same fabric with switches in the place
 * of the routers.
 */
static void as_if_routers_were_switches(void **state)
{
	(void)state;
	assert_int_equal(compare_with_switches(2, ""), 144 * 143);
	assert_int_equal(compare_with_switches(3, ""), 216 * 215);
	assert_int_equal(compare_with_switches(6, ""), 432 * 431);
	assert_int_equal(
	    compare_with_switches(2, "sideways=2 leaves=4 hosts=6 middles=3 routers=4"), 48 * 47);
}

/* ---- dedicated paths ---- */

/* Property: each of the 72 hosts of a subnet has a router port of its own in each other subnet, and
 * all its foreign traffic comes down by one link of its own. */
static void one_port_for_each_host(void **state)
{
	struct scene scene;
	struct hd_isfr_report report;
	struct hd_journey_report all;
	struct hd_map *map = NULL;

	(void)state;
	scene_generate(&scene, 2, "");
	scene_route(&scene, "dmodk", true);
	CHECK(hd_isfr_map(scene.plan, 0, NULL, &map, &report, &err));
	assert_int_equal(report.by_reason[HD_ISFR_USED], 72);
	assert_int_equal(report.assigned.ports, 72);
	assert_int_equal(report.assigned.most, 1);
	CHECK(hd_walk_all(scene.walker, &all, &err));
	for (uint32_t i = 0; i < scene.interconnect->port_count; i++) {
		const struct hd_fabric *joined = hd_walker_joined(scene.walker);
		const struct hd_router_port *port = &scene.interconnect->ports[i];
		uint32_t router =
		    hd_fabric_find_node(joined, scene.interconnect->router_guid[port->router]);
		uint32_t link = hd_fabric_find_isl(joined, router, port->number);
		assert_int_equal(all.flows[link], 72); /* from the hosts of the other subnet */
	}
	hd_journey_report_release(&all);
	hd_map_free(map);
	scene_release(&scene);
}

/* ---- damage ---- */

static void count_reasons(struct scene *scene, uint32_t subnet, uint32_t *reasons)
{
	struct hd_isfr_report report;
	struct hd_map *map = NULL;

	scene_join(scene);
	CHECK(hd_isfr_map(scene->plan, subnet, NULL, &map, &report, &err));
	memcpy(reasons, report.by_reason, sizeof(report.by_reason));
	assert_int_equal(report.assigned.unreachable, 0);
	hd_map_free(map);
}

/* All pairs arrive in the scene as it is now, without a credit loop. */
static void assert_all_arrive(struct scene *scene, const char *engine, uint64_t pairs)
{
	struct hd_journey_report report;

	scene_route(scene, engine, true);
	CHECK(hd_walk_all(scene->walker, &report, &err));
	assert_int_equal(report.pairs, pairs);
	assert_int_equal(report.by_end[HD_JOURNEY_ARRIVED], pairs);
	assert_int_equal(report.cycle_length, 0);
	hd_journey_report_release(&report);
}

/* Property: a missing cable to a router takes ISFR from the destinations of that cable alone: one in
 * the own subnet, one in the other. */
static void a_router_cable(void **state)
{
	uint32_t reasons[HD_ISFR_REASON_COUNT];
	struct scene scene;

	(void)state;
	scene_generate(&scene, 3, "");
	scene_damage(&scene, 0, ROUTER(5), 3);
	count_reasons(&scene, 0, reasons);
	assert_int_equal(reasons[HD_ISFR_NO_CABLE], 2); /* a host in each other subnet */
	assert_int_equal(reasons[HD_ISFR_USED], 142);
	count_reasons(&scene, 1, reasons);
	assert_int_equal(reasons[HD_ISFR_NO_CABLE], 1); /* the host below the cable */
	assert_int_equal(reasons[HD_ISFR_USED], 143);
	assert_all_arrive(&scene, "dmodk", 216 * 215);
	scene_release(&scene);
}

/* Property: a router that is gone from one subnet takes its share, 6 of 72 hosts, and no more. */
static void a_router(void **state)
{
	uint32_t reasons[HD_ISFR_REASON_COUNT];
	struct scene scene;

	(void)state;
	scene_generate(&scene, 2, "");
	scene_damage(&scene, 1, ROUTER(3), 0);
	count_reasons(&scene, 0, reasons);
	assert_int_equal(reasons[HD_ISFR_NO_CABLE], 6);
	assert_int_equal(reasons[HD_ISFR_USED], 66);
	assert_all_arrive(&scene, "dmodk", 144 * 143);
	scene_release(&scene);
}

/* Property: cables inside a subnet do not change the map. */
static void a_cable_inside(void **state)
{
	struct scene scene;
	struct hd_map *before = NULL, *after = NULL;
	struct hd_map_difference *list = NULL;
	uint32_t count = 1;

	(void)state;
	scene_generate(&scene, 2, "");
	scene_join(&scene);
	CHECK(hd_isfr_map(scene.plan, 0, NULL, &before, NULL, &err));
	scene_damage(&scene, 0, SWITCH(2), 14); /* leaf to middle */
	scene_damage(&scene, 1, SWITCH(13), 20);
	scene_join(&scene);
	CHECK(hd_isfr_map(scene.plan, 0, NULL, &after, NULL, &err));
	CHECK(hd_map_compare(before, after, &list, &count, &err));
	assert_int_equal(count, 0);
	assert_all_arrive(&scene, "dmodk", 144 * 143);
	hd_map_free(before);
	hd_map_free(after);
	scene_release(&scene);
}

/* Property: with a leaf gone, the hosts of all other leaves keep ISFR, each with a port of its own. */
static void a_leaf(void **state)
{
	struct scene scene;
	struct hd_isfr_report report;
	struct hd_map *map = NULL;

	(void)state;
	scene_generate(&scene, 2, "");
	scene_damage(&scene, 1, SWITCH(12 + 1), 0);
	scene_join(&scene);
	CHECK(hd_isfr_map(scene.plan, 0, NULL, &map, &report, &err));
	assert_int_equal(report.by_reason[HD_ISFR_USED], 60);
	assert_int_equal(report.assigned.destinations, 60);
	assert_int_equal(report.assigned.most, 1);
	hd_map_free(map);
	scene_release(&scene);
}

/* Property: destinations in a subnet that is no tree fall back, those in other subnets do not. */
static void a_subnet_that_is_no_tree(void **state)
{
	uint32_t reasons[HD_ISFR_REASON_COUNT];
	struct scene scene;

	(void)state;
	scene_generate(&scene, 3, "");
	for (uint32_t leaf = 0; leaf < 3; leaf++) /* 21 of 72 cables, here and there */
		for (uint32_t port = 0; port < 7; port++)
			scene_damage(&scene, 2, SWITCH(24 + leaf), 13 + (3 * leaf + port) % 12);
	count_reasons(&scene, 0, reasons);
	assert_int_equal(reasons[HD_ISFR_USED], 72);
	assert_int_equal(reasons[HD_ISFR_NO_TREE], 72);
	assert_all_arrive(&scene, "updown", 216 * 215);
	scene_release(&scene);
}

/* Property: routers at the leaves of a subnet are not on its top. */
static void routers_below_the_top(void **state)
{
	struct scene scene;
	struct hd_isfr_path path;

	(void)state;
	scene_generate(&scene, 2, "");
	struct hd_builder *builder = hd_builder_from(scene.fabrics[1]);
	const struct hd_fabric *fabric = scene.fabrics[1];
	for (uint32_t router = 0; router < 12; router++) {
		uint32_t node = hd_fabric_find_node(fabric, ROUTER(router));
		for (uint32_t port = 7; port <= 12; port++)
			hd_builder_unlink(builder, node, port);
	}
	uint32_t host = hd_fabric_find_node(fabric, UINT64_C(0x100000) + 16 * 72);
	hd_builder_unlink(builder, host, 1);
	CHECK(hd_builder_link(builder, hd_fabric_find_node(fabric, SWITCH(12)), 1,
			      hd_fabric_find_node(fabric, ROUTER(0)), 7, 4, HD_SPEED_EDR, &err));
	struct hd_fabric *changed = NULL;
	CHECK(hd_builder_build(builder, &changed, &err));
	hd_builder_free(builder);
	hd_fabric_free(scene.fabrics[1]);
	scene.fabrics[1] = changed;
	scene_join(&scene);
	assert_int_equal(scene.plan->subnets[1].reason, HD_ISFR_NOT_ON_TOP);
	assert_int_equal(hd_isfr_path(scene.plan, 0, 1, 5, &path), HD_ISFR_NOT_ON_TOP);
	assert_int_equal(hd_isfr_path(scene.plan, 1, 0, 5, &path), HD_ISFR_NOT_ON_TOP);
	scene_release(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_if_routers_were_switches),
	    cmocka_unit_test(one_port_for_each_host),
	    cmocka_unit_test(a_router_cable),
	    cmocka_unit_test(a_router),
	    cmocka_unit_test(a_cable_inside),
	    cmocka_unit_test(a_leaf),
	    cmocka_unit_test(a_subnet_that_is_no_tree),
	    cmocka_unit_test(routers_below_the_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
