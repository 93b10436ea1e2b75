/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rings on random tori and meshes with holes, parallel cables, hosts of different number, several LIDs: sound tables, the
 * same in any order of discovery and with any number of threads, or a refusal with a reason. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cases.h"
#include "engines_testing.h"
#include "oracle_maps.h"

#include <errno.h>

#define ROUNDS CASES(150u, 40u)
#define MESHES CASES(200u, 50u)
#define ORACLE_PORTS 420u

static uint32_t below(uint64_t *random, uint32_t bound)
{
	return (uint32_t)hd_random_below(random, bound);
}

/* Up to 4 dimensions of 2 to 7 places, and up to so many switches. */
static struct hd_fabric *random_grid(uint64_t *random, uint32_t most)
{
	const bool torus = below(random, 2);
	const uint32_t dims = 1 + below(random, 4);
	char settings[128] = "dims=";
	uint32_t places = 1;

	for (uint32_t dim = 0; dim < dims; dim++) {
		uint32_t size = 2u + torus + below(random, 5);
		size = places * size > most ? 2u + torus : size;
		if (dim && places * size > most)
			break;
		places *= size;
		snprintf(settings + strlen(settings), sizeof(settings) - strlen(settings),
			 dim ? ",%" PRIu32 : "%" PRIu32, size);
	}
	snprintf(settings + strlen(settings), sizeof(settings) - strlen(settings),
		 " hosts=%" PRIu32, 1 + below(random, 3));
	return generate(torus ? "torus" : "mesh", settings);
}

/* A second cable beside some, on new switches with room for it. */
static void double_cables(struct hd_fabric **fabric, uint32_t count, uint64_t *random)
{
	struct hd_builder *builder = hd_builder_from(*fabric);
	uint32_t used[1024] = {0};
	struct hd_error err = {""};

	for (uint32_t i = 0; (*fabric)->isl_count && i < count; i++) {
		const uint32_t link = below(random, (*fabric)->isl_count);
		const uint32_t ends[2] = {hd_isl_from(*fabric, link), (*fabric)->isl_to[link]};
		uint32_t port[2] = {0};

		for (unsigned end = 0; end < 2; end++)
			for (uint32_t p = 1; p <= hd_node_ports(*fabric, ends[end]); p++)
				if (p > used[ends[end]] &&
				    (*fabric)->peer[hd_port_index(*fabric, ends[end], p)] ==
					HD_NONE) {
					port[end] = p;
					break;
				}
		if (!port[0] || !port[1] || ends[0] == ends[1])
			continue;
		used[ends[0]] = port[0];
		used[ends[1]] = port[1];
		assert_int_equal(hd_builder_link(builder, ends[0], port[0], ends[1], port[1], 4,
						 HD_SPEED_EDR, &err),
				 0);
	}
	*fabric = rebuilt(builder, *fabric);
}

/* Some hosts, cables and switches go. */
static void damage(struct hd_fabric **fabric, uint64_t *random)
{
	struct hd_fabric *next = NULL;
	struct hd_error err = {""};

	for (uint32_t left = below(random, 6); left; left--) {
		const uint32_t kind = below(random, 3), sw = below(random, (*fabric)->switch_count);
		const uint32_t first = (*fabric)->isl_base[sw], end = (*fabric)->isl_base[sw + 1];
		struct hd_fabric_change lost = {.lost = true, .index = sw};

		if (kind == 0 && (*fabric)->switch_count < 3)
			continue;
		if (kind == 1 && first == end)
			continue;
		if (kind == 2 && (*fabric)->host_count < 3)
			continue;
		if (kind == 1) {
			lost.cable = true;
			lost.index = hd_port_index(
			    *fabric, sw, (*fabric)->isl_port[first + below(random, end - first)]);
		}
		if (kind == 2)
			lost.index = (*fabric)->port_node[(*fabric)->host_port[below(
			    random, (*fabric)->host_count)]];
		if (hd_fabric_without(*fabric, &lost, 1, below(random, (*fabric)->switch_count),
				      &next, &err))
			continue;
		hd_fabric_free(*fabric);
		*fabric = next;
	}
}

static void with_lids(struct hd_fabric **fabric, unsigned lmc)
{
	struct hd_fabric *next = NULL;
	struct hd_error err = {""};

	assert_int_equal(hd_fabric_assign_lids(*fabric, lmc, &next, &err), 0);
	hd_fabric_free(*fabric);
	*fabric = next;
}

static void assert_sound(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 uint32_t lanes)
{
	struct hd_check_report *report = check(fabric, routes);

	assert_clean(fabric, routes);
	assert_in_range(report->lanes, 0, lanes);
	if (fabric->port_count <= ORACLE_PORTS) {
		struct oracle_maps *oracle = oracle_maps_new(fabric, routes);
		assert_false(oracle->loop);
		if (oracle->lanes) /* some hosts are at different switches */
			assert_int_equal(oracle->lanes, report->lanes_used);
		oracle_maps_free(oracle);
	}
	hd_check_report_free(report);
}

/* The same tables from another order of discovery, and with another number of threads. */
static void assert_same_again(const struct hd_fabric *fabric, const char *settings,
			      const struct hd_routes *routes, uint64_t seed)
{
	struct hd_fabric *shuffled = NULL;
	struct hd_error err = {""};
	struct hd_routes *other;

	assert_int_equal(variants_shuffled(fabric, seed, &shuffled, &err), 0);
	other = route_request("rings", settings,
			      &(struct hd_route_request){.fabric = shuffled, .threads = 5});
	assert_true(hd_routes_equal(routes, other));
	hd_routes_free(other);
	hd_fabric_free(shuffled);
}

/* spf and turns after rings, and rings after these: all are sound. */
static void assert_follows(const struct hd_fabric *fabric, const struct hd_routes *rings)
{
	static const char *const others[] = {"spf", "turns"};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct hd_routes *routes = NULL, *back = NULL;
		struct hd_route_request request = {.fabric = fabric, .previous = rings};
		struct hd_error err = {""};

		if (!route_try(others[i], "", &request, &routes, &err)) {
			assert_null(routes->maps);
			assert_sound(fabric, routes, 15);
			request.previous = routes;
			if (!route_try("rings", "vls=3", &request, &back, &err))
				assert_sound(fabric, back, 3);
			hd_routes_free(back);
		}
		hd_routes_free(routes);
	}
}

static void tables_are_sound_or_refused(void **unused)
{
	uint64_t random = 2828;
	unsigned refused = 0;

	(void)unused;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct hd_fabric *fabric = random_grid(&random, round % 3 ? 24 : 80);
		const unsigned lanes = 1 + below(&random, 4);
		struct hd_routes *routes = NULL;
		struct hd_error err = {""};
		char settings[64];

		double_cables(&fabric, below(&random, 4), &random);
		damage(&fabric, &random);
		with_lids(&fabric, below(&random, 3));
		snprintf(settings, sizeof(settings), "vls=%u spread=%s", lanes,
			 below(&random, 2) ? "all" : "needed");
		const struct hd_route_request request = {.fabric = fabric};
		int rc = route_try("rings", settings, &request, &routes, &err);
		if (rc) {
			assert_int_equal(rc, -ENOTSUP);
			assert_true(err.text[0]);
			assert_null(routes);
			refused++;
		} else {
			assert_sound(fabric, routes, lanes);
			assert_same_again(fabric, settings, routes, round + 1);
			assert_follows(fabric, routes);
		}
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	print_message("%u of %u refused\n", refused, ROUNDS);
	assert_true(refused * 3 < ROUNDS * 2);
}

/* On meshes there is one lane for the order of dimensions, and another for the spanning tree if holes need that. */
static void meshes_with_holes_are_sound_on_three_lanes(void **unused)
{
	uint64_t random = 7;
	unsigned trees = 0;

	(void)unused;
	for (unsigned round = 0; round < MESHES; round++) {
		struct hd_fabric *fabric = generate("mesh", round % 2 ? "dims=5,5" : "dims=4,4,2");
		struct hd_routes *routes = NULL, *again = NULL;
		struct hd_error err = {""};

		for (unsigned i = 0; i < 3; i++)
			damage(&fabric, &random);
		const struct hd_route_request request = {.fabric = fabric};
		if (!route_try("rings", "vls=3", &request, &routes, &err)) {
			assert_sound(fabric, routes, 2);
			trees += routes->maps != NULL;
			again = route_after("rings", "vls=3", fabric, routes);
			assert_true(hd_routes_equal(routes, again));
		}
		hd_routes_free(again);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	print_message("%u with a spanning tree\n", trees);
	assert_true(trees > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tables_are_sound_or_refused),
	    cmocka_unit_test(meshes_with_holes_are_sound_on_three_lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
