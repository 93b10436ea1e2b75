/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of paths holds what walking the tables gives, for every route. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "paths.h"
#include "testing.h"

#include "random_tables.h"

#define FABRICS 100
#define TABLE_BYTES ((size_t)1 << 24)

struct facts {
	uint32_t longest; /* links on a path */
	bool whole; /* all arrive */
};

static void assert_same_links(const struct paths *paths, size_t entry, const uint32_t *links,
			      int hops)
{
	assert_int_equal(paths_broken(paths, entry), hops < 0);
	if (hops < 0)
		return;
	assert_true((uint32_t)hops <= paths->stride);
	for (uint32_t i = 0; i < paths->stride; i++)
		assert_int_equal(paths_link(paths->links, paths->wide, entry + i),
				 (int)i < hops ? links[i] : paths->fabric->isl_count);
}

/* All routes that begin at the switch of host `source`. */
static void walk_from(const struct paths *paths, uint32_t source, struct facts *facts)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t links[256];

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		for (uint32_t i = 0; i < paths_lids(paths, host); i++) {
			uint32_t lid = fabric->lid[fabric->host_port[host]] + i;
			int hops = paths_walk(paths, source, host, lid, links, 256);
			if (paths->links)
				assert_same_links(paths, paths_entry(paths, source, host, i), links,
						  hops);
			facts->whole = facts->whole && hops >= 0;
			if (hops > (int)facts->longest)
				facts->longest = (uint32_t)hops;
		}
	}
}

static struct facts walk_everything(const struct paths *paths)
{
	const struct hd_fabric *fabric = paths->fabric;
	struct facts facts = {.whole = true};

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (fabric->host_base[sw] < fabric->host_base[sw + 1])
			walk_from(paths, fabric->host_base[sw], &facts);
	return facts;
}

static void assert_true_paths(const struct hd_fabric *fabric, const struct hd_routes *routes,
			      size_t table_bytes, unsigned threads, struct facts *facts)
{
	struct hd_error err = {""};
	struct hd_arena arena = {0};
	struct paths paths;

	CHECK(paths_init(&paths, fabric, routes, true, table_bytes, threads, &arena, &err));
	*facts = walk_everything(&paths);
	assert_int_equal(paths.longest, facts->longest);
	assert_int_equal(paths.stride, facts->longest ? facts->longest : 1);
	assert_int_equal(paths.whole, facts->whole);
	size_t entries = (size_t)paths.rows * paths.columns * paths.stride;
	size_t bytes = entries * (paths.wide ? sizeof(uint32_t) : sizeof(uint16_t));
	assert_int_equal(paths.links != NULL, bytes <= table_bytes);
	hd_arena_release(&arena);
}

static void tables_are_what_walking_gives(void **state)
{
	(void)state;
	uint32_t broken = 0;
	for (uint64_t number = 0; number < FABRICS; number++) {
		uint64_t random = number;
		struct facts facts;
		struct hd_fabric *fabric = random_fabric(&random);
		struct hd_routes *routes = random_tables(fabric, &random, number % 3 == 0);
		assert_true_paths(fabric, routes, TABLE_BYTES, 1 + number % 2, &facts);
		assert_true_paths(fabric, routes, 0, 1 + number % 2, &facts);
		broken += !facts.whole;
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	assert_true(broken > FABRICS / 10 && broken < FABRICS / 2);
}

/* The links that lead once round the ring, by the switch they leave. */
static void find_way_round(const struct hd_fabric *ring, uint32_t *way)
{
	uint32_t sw = 0, link = ring->isl_base[0];

	for (uint32_t i = 0; i < ring->switch_count; i++) {
		uint32_t back = ring->isl_reverse[link];
		way[sw] = link;
		sw = ring->isl_to[link];
		link = ring->isl_base[sw] + (ring->isl_base[sw] == back);
	}
	assert_int_equal(sw, 0);
}

/* Shortest paths, but to the hosts of switch `last` all go round the ring the same way. */
static struct hd_routes *round_to(const struct hd_fabric *ring, const uint32_t *way, uint32_t last)
{
	uint64_t random = last;
	struct hd_routes *routes = random_tables(ring, &random, false);
	uint32_t lid = ring->lid[ring->host_port[ring->host_base[last]]];

	for (uint32_t sw = 0; sw < ring->switch_count; sw++)
		if (sw != last)
			hd_routes_row(routes, sw)[lid] = ring->isl_port[way[sw]];
	return routes;
}

/* One row alone has the longest path, each in turn: asking a few rows cannot tell. */
static void tables_are_wide_enough_wherever_the_longest_path_begins(void **state)
{
	(void)state;
	struct hd_fabric *ring = generate("torus", "dims=41 hosts=1");
	uint32_t way[41];
	assert_int_equal(ring->switch_count, 41);
	find_way_round(ring, way);
	for (uint32_t last = 0; last < 41; last++) {
		struct facts facts;
		struct hd_routes *routes = round_to(ring, way, last);
		assert_true_paths(ring, routes, TABLE_BYTES, 2, &facts);
		assert_int_equal(facts.longest, 40);
		assert_true_paths(ring, routes, 41 * 41 * 40 * sizeof(uint16_t) - 1, 1, &facts);
		hd_routes_free(routes);
	}
	hd_fabric_free(ring);
}

/* A fabric with more links than 16 bits can number has a table, too, and it is as exact. */
static void many_links_have_a_table(void **state)
{
	(void)state;
	uint64_t random = 1;
	struct facts facts;
	struct hd_fabric *fabric = generate("xgft", "children=1,200 parents=1,200");
	struct hd_routes *routes = random_tables(fabric, &random, true);
	assert_true(fabric->isl_count > PATHS_NARROW_LINKS);
	assert_true_paths(fabric, routes, TABLE_BYTES, 2, &facts);
	assert_false(facts.whole);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tables_are_what_walking_gives),
	    cmocka_unit_test(tables_are_wide_enough_wherever_the_longest_path_begins),
	    cmocka_unit_test(many_links_have_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
