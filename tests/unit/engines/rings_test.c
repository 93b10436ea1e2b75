/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tori and meshes: their places by the cables alone, and tables that are free of credit loops on two lanes. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cases.h"
#include "engines_testing.h"
#include "oracle_maps.h"
#include "rings_shape.h"

#include <errno.h>

/* ---- places ---- */

struct sizes {
	const char *kind, *settings;
	uint32_t dims;
	uint32_t size[RINGS_DIMS]; /* ascending */
	uint32_t rings; /* dimensions that are rings */
};

static int compare_sizes(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Each link leads to a neighbour in its dimension, and each place has one switch at most. */
static void assert_places(const struct rings_shape *shape)
{
	const struct hd_fabric *fabric = shape->fabric;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		const uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		for (uint32_t dim = 0; dim < shape->dims; dim++) {
			const uint32_t a = rings_shape_place(shape, from, dim);
			const uint32_t b = rings_shape_place(shape, to, dim);
			assert_in_range(a, 0, shape->size[dim] - 1);
			if (dim != shape->dim[link])
				assert_int_equal(a, b);
			else if (shape->ahead[link])
				assert_int_equal((a + 1) % shape->size[dim], b);
			else
				assert_int_equal((b + 1) % shape->size[dim], a);
		}
		assert_int_equal(shape->ahead[link], !shape->ahead[fabric->isl_reverse[link]]);
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t other = 0; other < sw; other++)
			assert_memory_not_equal(shape->at + (size_t)sw * shape->dims,
						shape->at + (size_t)other * shape->dims,
						shape->dims * sizeof(*shape->at));
}

static void expect_sizes(const struct rings_shape *shape, const struct sizes *expected)
{
	uint32_t size[RINGS_DIMS], rings = 0;

	assert_int_equal(shape->dims, expected->dims);
	memcpy(size, shape->size, sizeof(size));
	qsort(size, shape->dims, sizeof(*size), compare_sizes);
	for (uint32_t dim = 0; dim < shape->dims; dim++) {
		assert_int_equal(size[dim], expected->size[dim]);
		rings += shape->round[dim];
	}
	assert_int_equal(rings, expected->rings);
}

static const struct sizes grids[] = {
    {"torus", "dims=8,8", 2, {8, 8}, 2},
    {"torus", "dims=5,6,7", 3, {5, 6, 7}, 3},
    {"torus", "dims=3,5", 2, {3, 5}, 2},
    {"torus", "dims=9", 1, {9}, 1},
    {"torus", "dims=4,6", 3, {2, 2, 6}, 1},
    {"torus", "dims=4,4", 4, {2, 2, 2, 2}, 0},
    {"torus", "dims=3,3,3", 3, {3, 3, 3}, 3},
    {"mesh", "dims=4,5", 2, {4, 5}, 0},
    {"mesh", "dims=3,4,5", 3, {3, 4, 5}, 0},
    {"hypercube", "dimensions=4", 4, {2, 2, 2, 2}, 0},
    {"torus", "dims=5,5,5,5", 4, {5, 5, 5, 5}, 4},
};

static void places_are_found(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(grids) / sizeof(*grids); i++) {
		struct hd_fabric *fabric = generate(grids[i].kind, grids[i].settings);
		struct hd_arena arena = {0};
		struct rings_shape shape;
		struct hd_error err = {""};

		if (rings_shape_find(fabric, &arena, &shape, &err))
			fail_msg("%s %s: %s", grids[i].kind, grids[i].settings, err.text);
		assert_places(&shape);
		expect_sizes(&shape, &grids[i]);
		assert_int_equal(shape.places, fabric->switch_count);
		assert_int_equal(shape.cables_missing, 0);
		hd_arena_release(&arena);
		hd_fabric_free(fabric);
	}
}

static void other_fabrics_are_refused(void **unused)
{
	static const char *const others[][2] = {{"xgft", "children=3,3,3 parents=1,3,3"},
						{"irregular", "switches=40 radix=8 seed=3"},
						{"dragonfly-plus", ""},
						{"kautz", ""}};

	(void)unused;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct hd_fabric *fabric = NULL;
		struct hd_routes *routes = NULL;
		struct hd_error err = {""};

		if (generated_fabric(others[i][0], others[i][1], &fabric, &err))
			continue;
		const struct hd_route_request request = {.fabric = fabric};
		assert_int_equal(route_try("rings", "", &request, &routes, &err), -ENOTSUP);
		assert_non_null(strstr(err.text, "no torus and no mesh"));
		hd_fabric_free(fabric);
	}
}

/* ---- tables ---- */

/* Free of credit loops by the checker and by the oracle, on at most so many lanes. */
static void assert_sound(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 uint32_t lanes)
{
	struct hd_check_report *report = check(fabric, routes);

	assert_clean(fabric, routes);
	assert_in_range(report->lanes, 1, lanes);
	if (fabric->port_count <= 420) {
		struct oracle_maps *oracle = oracle_maps_new(fabric, routes);
		assert_false(oracle->loop);
		assert_int_equal(oracle->lanes, report->lanes_used);
		oracle_maps_free(oracle);
	}
	hd_check_report_free(report);
}

static void whole_grids_have_shortest_paths_on_two_lanes(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(grids) / sizeof(*grids); i++) {
		struct hd_fabric *fabric = generate(grids[i].kind, grids[i].settings);
		struct hd_routes *routes = route("rings", "vls=2", fabric);
		struct hd_check_report *report = check(fabric, routes);

		assert_sound(fabric, routes, grids[i].rings ? 2 : 1);
		assert_int_equal(report->longer_routes, 0);
		hd_check_report_free(report);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

static void one_lane_is_refused_for_rings(void **unused)
{
	struct hd_fabric *fabric = generate("torus", "dims=5,6");
	const struct hd_route_request request = {.fabric = fabric};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	(void)unused;
	assert_int_equal(route_try("rings", "vls=1", &request, &routes, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "need two virtual lanes"));
	hd_fabric_free(fabric);
	fabric = generate("torus", "dims=4,4");
	routes = route("rings", "vls=1", fabric);
	assert_sound(fabric, routes, 1);
	assert_null(routes->sl);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* ---- holes ---- */

/* The grid without some switches and cables, as switch 0 sees it. */
static struct hd_fabric *with_holes(const struct hd_fabric *whole, uint32_t switches,
				    uint32_t cables, uint64_t *random)
{
	struct hd_fabric *fabric = NULL, *next;
	struct hd_error err = {""};

	assert_int_equal(variants_copy(whole, &fabric, &err), 0);
	for (uint32_t i = 0; i < switches + cables; i++) {
		const uint32_t sw = 1 + (uint32_t)hd_random_below(random, fabric->switch_count - 1);
		const uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		const uint32_t link =
		    fabric->isl_base[sw] + (uint32_t)hd_random_below(random, links);
		const struct hd_fabric_change lost = {
		    .lost = true,
		    .cable = i >= switches,
		    .index = i < switches ? sw : hd_port_index(fabric, sw, fabric->isl_port[link])};
		if (hd_fabric_without(fabric, &lost, 1, 0, &next, &err))
			fail_msg("%s", err.text);
		hd_fabric_free(fabric);
		fabric = next;
	}
	return fabric;
}

static const char *const holed[] = {"dims=5,5",	  "dims=8,8", "dims=4,6",  "dims=3,5,4",
				    "dims=5,5,5", "dims=12",  "dims=4,4,4"};

/* The tables stay as they are if they are in place and nothing changes. */
static void assert_stays(const struct hd_fabric *fabric, const char *settings,
			 const struct hd_routes *routes)
{
	struct hd_routes *again = route_after("rings", settings, fabric, routes);

	assert_true(hd_routes_equal(routes, again));
	hd_routes_free(again);
}

/* With two lanes the engine refuses few grids with holes, and with three none in which the switches have places. */
static void paths_go_round_holes(void **unused)
{
	uint64_t random = 28;
	unsigned refused = 0, rounds = 0;

	(void)unused;
	for (size_t i = 0; i < sizeof(holed) / sizeof(*holed); i++) {
		struct hd_fabric *whole = generate("torus", holed[i]);
		for (uint32_t round = 0; round < UNDER_SANITIZERS(12, 24); round++) {
			struct hd_fabric *fabric =
			    with_holes(whole, round % 3, round / 3 % 4, &random);
			const struct hd_route_request request = {.fabric = fabric};
			struct hd_routes *routes = NULL;
			struct hd_error err = {""};
			int rc = route_try("rings", "vls=2", &request, &routes, &err);

			rounds++;
			refused += rc != 0;
			if (rc)
				assert_int_equal(rc, -ENOTSUP);
			else
				assert_sound(fabric, routes, 2);
			if (!rc)
				assert_stays(fabric, "vls=2", routes);
			hd_routes_free(routes);
			routes = NULL;
			rc = route_try("rings", "vls=3", &request, &routes, &err);
			if (rc)
				assert_non_null(strstr(err.text, "no torus and no mesh"));
			else
				assert_sound(fabric, routes, 3);
			if (!rc)
				assert_stays(fabric, "vls=3", routes);
			hd_routes_free(routes);
			hd_fabric_free(fabric);
		}
		hd_fabric_free(whole);
	}
	print_message("%u of %u refused on two lanes\n", refused, rounds);
	assert_true(refused * 8 < rounds);
}

/* One cable: two lanes, whichever it is. */
static void any_cable_may_be_missing(void **unused)
{
	struct hd_fabric *whole = generate("torus", "dims=5,6");

	(void)unused;
	for (uint32_t link = 0; link < whole->isl_count; link += UNDER_SANITIZERS(3, 1)) {
		struct hd_fabric *fabric = NULL;
		struct hd_error err = {""};

		assert_int_equal(variants_without_link(whole, link, &fabric, &err), 0);
		struct hd_routes *routes = route("rings", "vls=2", fabric);
		assert_sound(fabric, routes, 2);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	hd_fabric_free(whole);
}

/* One switch: two lanes, whichever it is. */
static void any_switch_may_be_missing(void **unused)
{
	struct hd_fabric *whole = generate("torus", "dims=5,4,3");

	(void)unused;
	for (uint32_t sw = 1; sw < whole->switch_count; sw += UNDER_SANITIZERS(3, 1)) {
		const struct hd_fabric_change lost = {.lost = true, .index = sw};
		struct hd_fabric *fabric = NULL;
		struct hd_error err = {""};

		assert_int_equal(hd_fabric_without(whole, &lost, 1, 0, &fabric, &err), 0);
		struct hd_routes *routes = route("rings", "vls=2", fabric);
		assert_sound(fabric, routes, 2);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	hd_fabric_free(whole);
}

/* ---- tables in place ---- */

static bool same_column(const struct hd_routes *a, const struct hd_routes *b, uint32_t lid)
{
	for (uint32_t sw = 0; sw < a->switch_count; sw++)
		if (hd_routes_port(a, sw, lid) != hd_routes_port(b, sw, lid))
			return false;
	return true;
}

/* Whether some switch sends the LID over this cable. */
static bool uses(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t lid,
		 uint32_t link)
{
	const uint32_t back = fabric->isl_reverse[link];

	return hd_routes_port(routes, hd_isl_from(fabric, link), lid) == fabric->isl_port[link] ||
	       hd_routes_port(routes, hd_isl_from(fabric, back), lid) == fabric->isl_port[back];
}

/* After a loss the entries for a LID stay if none of them has lost its cable; when the cable is back, all are as before. */
static void entries_stay_and_come_home(void **unused)
{
	struct hd_fabric *whole = generate("torus", "dims=6,5 hosts=2");
	struct hd_routes *home = route("rings", "vls=2", whole);

	(void)unused;
	for (uint32_t link = 0; link < whole->isl_count; link += 7) {
		struct hd_fabric *fabric = NULL;
		struct hd_error err = {""};

		assert_int_equal(variants_without_link(whole, link, &fabric, &err), 0);
		struct hd_route_request request = {
		    .fabric = fabric, .previous = home, .baseline = home};
		struct hd_routes *damaged = route_request("rings", "vls=2", &request);
		assert_sound(fabric, damaged, 2);
		for (uint32_t lid = 1; lid < whole->lid_count; lid++)
			if (!uses(whole, home, lid, link))
				assert_true(same_column(home, damaged, lid));
		request.previous = damaged;
		struct hd_routes *again = route_request("rings", "vls=2", &request);
		assert_true(hd_routes_equal(damaged, again));
		request = (struct hd_route_request){
		    .fabric = whole, .previous = damaged, .baseline = home};
		struct hd_routes *healed = route_request("rings", "vls=2", &request);
		assert_sound(whole, healed, 2);
		assert_int_equal(hd_routes_count_changes(home, healed), 0);
		hd_routes_free(healed);
		hd_routes_free(again);
		hd_routes_free(damaged);
		hd_fabric_free(fabric);
	}
	hd_routes_free(home);
	hd_fabric_free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(places_are_found),
	    cmocka_unit_test(other_fabrics_are_refused),
	    cmocka_unit_test(whole_grids_have_shortest_paths_on_two_lanes),
	    cmocka_unit_test(one_lane_is_refused_for_rings),
	    cmocka_unit_test(paths_go_round_holes),
	    cmocka_unit_test(any_cable_may_be_missing),
	    cmocka_unit_test(any_switch_may_be_missing),
	    cmocka_unit_test(entries_stay_and_come_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
