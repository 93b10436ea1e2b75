/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dmodk on trees with routers above them, and on trees whose tops are shared by several positions. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"

#include <errno.h>
#include <heddle/fabric/regular_tree.h>

static const char *const shapes[] = {
    "subnets=2",
    "subnets=3 leaves=4 hosts=6 middles=3 routers=4 sideways=2",
    "subnets=2 leaves=5 hosts=4 middles=2 uplinks=1 routers=3 sideways=1",
};

static struct hd_fabric *make(const char *shape, const char *more)
{
	char settings[200];

	snprintf(settings, sizeof(settings), "%s %s", shape, more);
	return generate("interconnect", settings);
}

/* Property: a subnet with routers on its top is routed; all switches reach all hosts and routers,
 * and the paths, those between routers included, close no credit loop. */
static void routers_are_reached(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct hd_fabric *fabric = make(shapes[i], "part=1");
		struct hd_routes *routes = route("dmodk", "", fabric);
		assert_clean(fabric, routes);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Property: each cable from a leaf is the first one to the same number of router ports. */
static void routers_are_balanced(void **state)
{
	struct hd_fabric *fabric = make("subnets=2", "part=1");
	struct hd_routes *routes = route("dmodk", "", fabric);

	(void)state;
	for (uint32_t leaf = 0; leaf < 6; leaf++) {
		uint32_t count[HD_PORTS_MAX + 1] = {0};
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			uint32_t port = fabric->host_port[host];
			if (fabric->node_type[fabric->port_node[port]] == HD_ROUTER)
				count[hd_routes_port(routes, leaf, fabric->lid[port])]++;
		}
		for (uint32_t port = 13; port <= 24; port++)
			assert_int_equal(count[port], 6); /* 72 ports over 12 cables */
	}
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Routes again with the tables in place. */
static struct hd_routes *route_again(const struct hd_fabric *before, const struct hd_routes *routes,
				     const struct hd_fabric *fabric)
{
	const struct hd_engine *engine = hd_engine_find("dmodk");
	struct hd_options *options = hd_engine_options(engine);
	struct hd_routes *previous = NULL, *again = NULL;

	assert_int_equal(hd_routes_rebase(before, routes, fabric, &previous, NULL), 0);
	hd_tree_labels_release(previous->labels);
	previous->labels = hd_tree_labels_hold(routes->labels);
	const struct hd_route_request request = {
	    .fabric = fabric, .options = options, .previous = previous, .threads = 1};
	assert_int_equal(hd_engine_route(engine, &request, &again, NULL), 0);
	hd_routes_free(previous);
	hd_options_free(options);
	return again;
}

/*
 * Property: with any cable between switches lost, all hosts are still reached without a credit
 * loop; few entries move, and all return with the cable.
 */
static void a_lost_cable(const char *more)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct hd_fabric *whole = make(shapes[i], more);
		struct hd_routes *routes = route("dmodk", "", whole);
		uint64_t entries = (uint64_t)whole->switch_count * whole->lid_count;
		for (uint32_t link = 0; link < whole->isl_count; link += 7) {
			struct hd_fabric *damaged = NULL;
			assert_int_equal(variants_without_link(whole, link, &damaged, NULL), 0);
			struct hd_routes *moved = route_again(whole, routes, damaged);
			assert_clean(damaged, moved);
			assert_true(hd_routes_count_changes(routes, moved) * 5 < entries);
			struct hd_routes *back = route_again(damaged, moved, whole);
			assert_int_equal(hd_routes_count_changes(routes, back), 0);
			hd_routes_free(back);
			hd_routes_free(moved);
			hd_fabric_free(damaged);
		}
		hd_routes_free(routes);
		hd_fabric_free(whole);
	}
}

static void a_lost_cable_below_routers(void **state)
{
	(void)state;
	a_lost_cable("part=2");
}

static void a_lost_cable_below_shared_tops(void **state)
{
	(void)state;
	a_lost_cable("switches=yes");
}

/* Property: with shared tops too, each host is reached from the other subtrees by one cable of its
 * leaf's spines alone: all traffic from afar comes down by one path. */
static void one_path_down(void **state)
{
	struct hd_fabric *fabric = make("subnets=2", "switches=yes");
	struct hd_routes *routes = route("dmodk", "", fabric);

	(void)state;
	assert_clean(fabric, routes);
	for (uint32_t host = 0; host < 72; host++) {
		uint32_t lid = fabric->lid[fabric->host_port[host]], top = HD_NONE;
		for (uint32_t leaf = 12; leaf < 18; leaf++) { /* of the second subtree */
			uint32_t link =
			    hd_fabric_find_isl(fabric, leaf, hd_routes_port(routes, leaf, lid));
			uint32_t middle = fabric->isl_to[link];
			link =
			    hd_fabric_find_isl(fabric, middle, hd_routes_port(routes, middle, lid));
			uint32_t here = fabric->isl_to[link];
			assert_true(top == HD_NONE || top == here);
			top = here;
		}
	}
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(routers_are_reached),
	    cmocka_unit_test(routers_are_balanced),
	    cmocka_unit_test(a_lost_cable_below_routers),
	    cmocka_unit_test(a_lost_cable_below_shared_tops),
	    cmocka_unit_test(one_path_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
