/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tables are worth, beside a slow count over all bisections of a few hosts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bisections.h"
#include "engines_testing.h"

#define HOSTS 6u
#define CLOSE .004 /* a random sample of the bisections */

struct count {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	double shares;
	unsigned paths;
};

/* The links from host to host, without any sharing with bisections.c. Returns their number. */
static unsigned links_between(const struct count *count, uint32_t from, uint32_t to,
			      uint32_t *links)
{
	const struct hd_fabric *fabric = count->fabric;
	uint32_t sw = fabric->host_switch[from];
	unsigned hops = 0;

	while (sw != fabric->host_switch[to]) {
		links[hops] = link_taken(fabric, count->routes, sw, host_lid(fabric, to));
		assert_int_not_equal(links[hops], HD_NONE);
		sw = fabric->isl_to[links[hops++]];
	}
	return hops;
}

/* The first half of order[] sends to the second. */
static void count_one(struct count *count, const uint32_t *order)
{
	uint32_t links[HOSTS / 2][16], load[64] = {0};
	unsigned hops[HOSTS / 2];

	for (unsigned i = 0; i < HOSTS / 2; i++) {
		hops[i] = links_between(count, order[i], order[HOSTS / 2 + i], links[i]);
		for (unsigned hop = 0; hop < hops[i]; hop++)
			load[links[i][hop]]++;
	}
	for (unsigned i = 0; i < HOSTS / 2; i++) {
		uint32_t largest = 1;
		for (unsigned hop = 0; hop < hops[i]; hop++)
			if (load[links[i][hop]] > largest)
				largest = load[links[i][hop]];
		count->shares += 1.0 / largest;
		count->paths++;
	}
}

/* All orders that begin with the first `fixed` items. */
static void count_all(struct count *count, uint32_t *order, unsigned fixed)
{
	if (fixed == HOSTS) {
		count_one(count, order);
		return;
	}
	for (unsigned i = fixed; i < HOSTS; i++) {
		uint32_t item = order[i];
		order[i] = order[fixed];
		order[fixed] = item;
		count_all(count, order, fixed + 1);
		order[fixed] = order[i];
		order[i] = item;
	}
}

static double worth_of(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       unsigned threads)
{
	double worth = -1;

	assert_int_equal(bisections_worth(fabric, &routes, 1, threads, NULL, &worth), 0);
	return worth;
}

/* Property: the worth is the mean over all bisections, up to the error of a sample. */
static void the_worth_is_that_of_all_bisections(void **state)
{
	static const char *const cases[][2] = {{"mesh", "dims=3 hosts=2"},
					       {"torus", "dims=6 hosts=1"},
					       {"xgft", "children=3,2 parents=1,2"}};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct hd_fabric *fabric = generate(cases[i][0], cases[i][1]);
		struct hd_routes *routes = route("spf", "", fabric);
		struct count count = {.fabric = fabric, .routes = routes};
		uint32_t order[HOSTS] = {0, 1, 2, 3, 4, 5};
		assert_int_equal(fabric->host_count, HOSTS);
		count_all(&count, order, 0);
		double worth = worth_of(fabric, routes, 1), exact = count.shares / count.paths;
		if (worth < exact - CLOSE || worth > exact + CLOSE)
			fail_msg("%s: %f instead of %f", cases[i][0], worth, exact);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Properties: tables are worth the same alone and beside others, and with any number of threads. */
static void neither_threads_nor_others_matter(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=4,4 hosts=3");
	struct hd_routes *tables[] = {route("spf", "", fabric), route("updown", "", fabric)};
	double worth[2];
	assert_int_equal(
	    bisections_worth(fabric, (const struct hd_routes *const *)tables, 2, 3, NULL, worth),
	    0);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(worth[i] == worth_of(fabric, tables[i], 1));
		assert_true(worth[i] == worth_of(fabric, tables[i], 4));
		hd_routes_free(tables[i]);
	}
	hd_fabric_free(fabric);
}

/* Property: paths that do not arrive are worth nothing, and end. */
static void broken_paths_are_worth_nothing(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("mesh", "dims=2 hosts=1");
	struct hd_routes *routes = route("spf", "", fabric);
	uint32_t lid = host_lid(fabric, 0), sw = fabric->host_switch[0];
	assert_true(worth_of(fabric, routes, 1) == 1);
	hd_routes_row(routes, 1 - sw)[lid] = HD_NO_PORT;
	double half = worth_of(fabric, routes, 1);
	assert_true(half > .4 && half < .6);
	hd_routes_row(routes, 1 - sw)[lid] = fabric->isl_port[fabric->isl_base[1 - sw]];
	hd_routes_row(routes, sw)[lid] = fabric->isl_port[fabric->isl_base[sw]]; /* a loop */
	assert_true(worth_of(fabric, routes, 1) == half);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static bool refuse(void *context)
{
	(void)context;
	return false;
}

/* Property: it ends as soon as it is not wanted, and one host is enough for it. */
static void it_stops_and_it_needs_no_hosts(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=4,4 hosts=1");
	struct hd_routes *routes = route("spf", "", fabric);
	const struct hd_go_on stop = {refuse, NULL};
	double worth = 0;
	assert_int_equal(
	    bisections_worth(fabric, (const struct hd_routes *const *)&routes, 1, 1, &stop, &worth),
	    -ECANCELED);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	fabric = generate("torus", "dims=3 hosts=0");
	routes = route("spf", "", fabric);
	assert_true(worth_of(fabric, routes, 1) == 1);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_worth_is_that_of_all_bisections),
	    cmocka_unit_test(neither_threads_nor_others_matter),
	    cmocka_unit_test(broken_paths_are_worth_nothing),
	    cmocka_unit_test(it_stops_and_it_needs_no_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
