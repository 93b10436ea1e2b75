/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cycles that path bits stand for, the patterns of paths, and which cycles are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "multipath_cycles.h"
#include "multipath_testing.h"

#include <errno.h>

/* ---- the paper's example ---- */

static uint32_t link_from(const struct hd_fabric *fabric, uint32_t from, uint32_t to)
{
	return hd_fabric_find_isl(fabric, from, to + 1);
}

static void assert_cycle(const struct hd_fabric *fabric, const struct hd_cycle *cycle,
			 const uint32_t *switches)
{
	assert_int_equal(cycle->length, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(cycle->links[i],
				 link_from(fabric, switches[i], switches[(i + 1) % 3]));
}

/* Property: C1 = a c b a and C2 = c d b c. */
static void paper_example_has_two_cycles(void **state)
{
	(void)state;
	struct hd_fabric *fabric = paper_example(2);
	struct hd_cycles *cycles = cycles_of(fabric, B, 2);
	assert_int_equal(cycles->root, B);
	assert_int_equal(cycles->count, 2);
	assert_int_equal(cycles->kept, 2);
	assert_cycle(fabric, &cycles->cycles[0], (const uint32_t[]){A, C, B});
	assert_cycle(fabric, &cycles->cycles[1], (const uint32_t[]){C, D, B});
	hd_cycles_free(cycles);
	hd_fabric_free(fabric);
}

/* "bdca" -> its path bits, "00". */
static void assert_pattern(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
			   const char *switches, const char *bits)
{
	struct hd_arena arena = {0};
	struct multipath_cycle_lists lists;
	struct multipath_path_pattern pattern;
	uint32_t links[4], hops = 0;

	for (; switches[hops + 1]; hops++)
		links[hops] = link_from(fabric, (uint32_t)(switches[hops] - 'a'),
					(uint32_t)(switches[hops + 1] - 'a'));
	assert_int_equal(
	    multipath_cycles_list(fabric, cycles->cycles, cycles->count, &arena, &lists), 0);
	assert_true(multipath_paths_pattern(fabric, &lists, links, hops, &pattern));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(pattern.clockwise >> i & 1, bits[i] == '1');
		assert_int_equal(pattern.counter >> i & 1, bits[i] == '0');
	}
	hd_arena_release(&arena);
}

/* Property: the path bits of the paper's example. */
static void paper_example_has_these_bits(void **state)
{
	static const char *const paths[][2] = {{"ba", "1X"}, {"bca", "01"}, {"bdca", "00"},
					       {"ab", "0X"}, {"acb", "10"}, {"acdb", "11"}};

	(void)state;
	struct hd_fabric *fabric = paper_example(2);
	struct hd_cycles *cycles = cycles_of(fabric, B, 2);
	for (unsigned i = 0; i < 6; i++)
		assert_pattern(fabric, cycles, paths[i][0], paths[i][1]);
	hd_cycles_free(cycles);
	hd_fabric_free(fabric);
}

/*
 * Property: the four cases of definition 2, on links in a row whose lists are made up. Members
 * 1 and 2 are cycles clockwise, -1 and -2 the other way.
 */
static void unions_of_lists(void **state)
{
	static const struct {
		int first[3], second[3];
		const char *bits; /* NULL: not defined */
	} cases[] = {
	    {{1}, {2}, "11"},	  {{1, -2}, {-1, -2}, "X0"}, {{1, 2}, {-1, -2}, "XX"},
	    {{1, 2}, {-1}, "01"}, {{-1}, {1, 2}, "01"},	     {{1}, {-1}, NULL},
	    {{0}, {-1}, "0X"},	  {{1, 2}, {1}, "11"},	     {{-2}, {2}, NULL},
	};
	(void)state;
	/* s0 - s1 - s2: two links from s0 to s2 */
	struct hd_fabric *fabric = generate("mesh", "dims=3 hosts=0");
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t clockwise[4] = {0}, through[3] = {0};
		struct multipath_cycle_lists lists = {.clockwise = clockwise, .through = through};
		struct multipath_path_pattern pattern = {0};
		uint32_t links[2] = {fabric->isl_base[0], HD_NONE};
		for (uint32_t link = fabric->isl_base[1]; link < fabric->isl_base[2]; link++)
			if (fabric->isl_to[link] == 2)
				links[1] = link;
		const int *given[2] = {cases[i].first, cases[i].second};
		for (unsigned hop = 0; hop < 2; hop++)
			for (unsigned m = 0; m < 3 && given[hop][m]; m++) {
				uint32_t at = given[hop][m] > 0 ? links[hop]
								: fabric->isl_reverse[links[hop]];
				clockwise[at] |= UINT64_C(1) << (abs(given[hop][m]) - 1);
			}
		assert_int_equal(multipath_paths_pattern(fabric, &lists, links, 2, &pattern),
				 cases[i].bits != NULL);
		for (unsigned bit = 0; cases[i].bits && bit < 2; bit++) {
			assert_int_equal(pattern.clockwise >> bit & 1, cases[i].bits[bit] == '1');
			assert_int_equal(pattern.counter >> bit & 1, cases[i].bits[bit] == '0');
		}
	}
	hd_fabric_free(fabric);
}

/* ---- random fabrics ---- */

/* Links of all cables with `link` <= last that are in a tree of `cycles`' root or back edges. */
static uint32_t hops_over(const struct hd_fabric *fabric, const bool *closed, uint32_t from,
			  uint32_t to)
{
	uint32_t *hops = calloc(fabric->switch_count, sizeof(*hops)), found;

	memset(hops, 0xFF, fabric->switch_count * sizeof(*hops));
	hops[from] = 0;
	for (uint32_t round = 0; round < fabric->switch_count; round++)
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t near = hd_isl_from(fabric, link), far = fabric->isl_to[link];
			if (!closed[link] && hops[near] != HD_NONE && hops[near] + 1 < hops[far])
				hops[far] = hops[near] + 1;
		}
	found = hops[to];
	free(hops);
	return found;
}

/* A cycle is closed, simple, and as short as the back edges that are not its turn yet allow. */
static void assert_good_cycle(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
			      const struct hd_cycle *cycle)
{
	bool *closed = calloc(fabric->isl_count, sizeof(*closed));
	bool *passed = calloc(fabric->switch_count, sizeof(*passed));
	uint32_t back = cycle->links[0];

	for (uint32_t i = 0; i < cycle->length; i++) {
		uint32_t next = cycle->links[(i + 1) % cycle->length];
		assert_int_equal(fabric->isl_to[cycle->links[i]], hd_isl_from(fabric, next));
		assert_false(passed[hd_isl_from(fabric, next)]);
		passed[hd_isl_from(fabric, next)] = true;
	}
	assert_true(hd_isl_from(fabric, back) < fabric->isl_to[back]);
	for (uint32_t i = 0; i < cycles->count; i++) {
		uint32_t other = cycles->cycles[i].links[0];
		closed[other] = closed[fabric->isl_reverse[other]] = other >= back;
	}
	assert_int_equal(cycle->length, 1 + hops_over(fabric, closed, fabric->isl_to[back],
						      hd_isl_from(fabric, back)));
	free(passed);
	free(closed);
}

/* Rank of the cycles as sets of cables, modulo 2. */
static uint32_t rank_of(const struct hd_fabric *fabric, const struct hd_cycles *cycles)
{
	uint32_t rank = 0, links = fabric->isl_count;
	bool *rows = calloc((size_t)(cycles->count + 1) * links, sizeof(*rows));

	for (uint32_t i = 0; i < cycles->count; i++)
		for (uint32_t at = 0; at < cycles->cycles[i].length; at++) {
			uint32_t link = cycles->cycles[i].links[at];
			uint32_t reverse = fabric->isl_reverse[link];
			rows[(size_t)i * links + (link < reverse ? link : reverse)] = true;
		}
	for (uint32_t link = 0; link < links; link++) {
		uint32_t pivot = rank;
		while (pivot < cycles->count && !rows[(size_t)pivot * links + link])
			pivot++;
		if (pivot == cycles->count)
			continue;
		for (uint32_t at = 0; at < links; at++) {
			bool kept = rows[(size_t)rank * links + at];
			rows[(size_t)rank * links + at] = rows[(size_t)pivot * links + at];
			rows[(size_t)pivot * links + at] = kept;
		}
		for (uint32_t row = rank + 1; row < cycles->count; row++)
			for (uint32_t at = 0; rows[(size_t)row * links + link] && at < links; at++)
				if (at != link)
					rows[(size_t)row * links + at] ^=
					    rows[(size_t)rank * links + at];
		rank++;
	}
	free(rows);
	return rank;
}

/* Property: |E| - |V| + parts cycles, each a good one, all of them independent; whole fabrics
 * and such of several parts. */
static void cycles_are_independent(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 120; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_cyclic(number, 20, (unsigned)(number % 10), recipe);
		if (number % 3 == 2)
			fabric = with_links_removed(fabric, 15, number);
		struct hd_cycles *cycles = cycles_of(fabric, 0, 16);
		if (number % 3 != 2)
			assert_int_equal(cycles->count, number % 10);
		for (uint32_t i = 0; i < cycles->count; i++)
			assert_good_cycle(fabric, cycles, &cycles->cycles[i]);
		assert_int_equal(rank_of(fabric, cycles), cycles->count);
		hd_cycles_free(cycles);
		hd_fabric_free(fabric);
	}
}

/* ---- selection ---- */

/* Pairs to which bit `cycle` gives a choice; only_new: that have none by the bits before it. */
static uint32_t pairs_that_gain(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
				uint32_t kept, uint32_t cycle, bool only_new)
{
	uint32_t gain = 0;

	for (uint32_t from = 0; from < fabric->switch_count; from++)
		for (uint32_t to = 0; to < fabric->switch_count; to++) {
			struct hd_arena arena = {0};
			struct oracle_multipath_paths paths;
			uint32_t seen[16] = {0};
			bool served = false;
			if (from == to)
				continue;
			assert_true(
			    oracle_multipath_list(fabric, cycles, from, to, &arena, &paths));
			for (uint32_t i = 0; i < paths.count; i++)
				for (uint32_t bit = 0; bit < cycles->count; bit++) {
					int value = oracle_multipath_bit(&paths.paths[i], bit);
					if (value >= 0 && paths.paths[i].has_pattern)
						seen[bit] |= 1u << value;
				}
			for (uint32_t bit = 0; bit < kept; bit++)
				served |= seen[bit] == 3;
			gain += seen[cycle] == 3 && !(only_new && served);
			hd_arena_release(&arena);
		}
	return gain;
}

/* Property: each bit stands for a cycle that gives as many pairs their second path as any that
 * is left, and of those for one that gives most pairs a choice. */
static void best_cycles_are_kept(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 24; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_cyclic(number, 16, 4, recipe);
		struct hd_cycles *cycles = cycles_of(fabric, 0, 3);
		assert_int_equal(cycles->kept, 3);
		for (uint32_t bit = 0; bit < 3; bit++) {
			uint32_t second = pairs_that_gain(fabric, cycles, bit, bit, true);
			uint32_t any = pairs_that_gain(fabric, cycles, bit, bit, false);
			for (uint32_t other = bit + 1; other < cycles->count; other++) {
				uint32_t less = pairs_that_gain(fabric, cycles, bit, other, true);
				assert_true(second >= less);
				assert_true(second > less ||
					    any >=
						pairs_that_gain(fabric, cycles, bit, other, false));
			}
		}
		hd_cycles_free(cycles);
		hd_fabric_free(fabric);
	}
}

/* Property: sixteen cycles can all have a bit; what is too much is refused with figures. */
static void limits(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    generate("irregular", "switches=15 radix=6 cycles=16 hosts=1 seed=3");
	struct hd_cycles *cycles = cycles_of(fabric, 0, 16), *none = NULL;
	struct hd_error err = {""};
	assert_int_equal(cycles->kept, 16);
	hd_cycles_free(cycles);
	hd_fabric_free(fabric);
	fabric = generate("torus", "dims=5,5,5");
	assert_int_equal(hd_cycles_find(fabric, 0, 7, &none, &err), -E2BIG);
	assert_non_null(strstr(err.text, "251 independent cycles"));
	hd_fabric_free(fabric);
	fabric = generate("torus", "dims=6,6"); /* 37 cycles */
	assert_int_equal(hd_cycles_find(fabric, 0, 7, &none, &err), -E2BIG);
	assert_non_null(strstr(err.text, "more than 67108864 paths"));
	assert_null(none);
	hd_fabric_free(fabric);
}

/* Property: a root that is no switch is refused, a host's index as well as one beyond all nodes. */
static void root_is_a_switch(void **state)
{
	(void)state;
	struct hd_fabric *fabric = paper_example(1);
	const uint32_t roots[] = {fabric->switch_count, fabric->node_count, HD_NONE};
	for (unsigned i = 0; i < 3; i++) {
		struct hd_cycles *none = NULL;
		struct hd_error err = {""};
		assert_int_equal(hd_cycles_find(fabric, roots[i], 1, &none, &err), -EINVAL);
		assert_non_null(strstr(err.text, "the fabric has 4"));
		assert_null(none);
	}
	hd_fabric_free(fabric);
}

/* ---- table sizes ---- */

/*
 * Property: in the paper's example a lies on one cycle: 2 entries for each destination, of which
 * the paper counts the three others (figure 5c: 6). b and c lie on both. After merging a has 2
 * entries for each of the others and one for its own host.
 */
static void table_sizes_of_the_paper_example(void **state)
{
	(void)state;
	struct hd_fabric *fabric = paper_example(2);
	struct hd_cycles *cycles = cycles_of(fabric, B, 2);
	struct hd_routes *routes = route("multipath", "deadlock=off", fabric);
	struct hd_path_table tables[4];
	static const uint32_t through[] = {1, 2, 2, 1};
	assert_int_equal(hd_path_tables_measure(fabric, cycles, routes, tables, NULL), 0);
	for (uint32_t sw = 0; sw < 4; sw++) {
		assert_int_equal(tables[sw].cycles, through[sw]);
		assert_int_equal(tables[sw].counted, 4u << through[sw]);
	}
	assert_int_equal(tables[A].merged, 2 * 3 + 1);
	/* b: to a 1X, 01, 00; to c (bc X1, bac 1X where it is not that) and to d by bit 1 */
	assert_in_range(tables[B].merged, 3 + 2 + 2 + 1, 3 + 3 + 3 + 1);
	hd_routes_free(routes);
	hd_cycles_free(cycles);
	hd_fabric_free(fabric);
}

/* Entries of one switch for one destination by brute force: a set of cubes found greedily is
 * never smaller than the number of ports, nor larger than the number of LIDs. */
static uint64_t ports_in_use(const struct hd_fabric *fabric, const struct hd_routes *routes,
			     uint32_t sw)
{
	uint64_t ports = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		bool seen[256] = {false};
		for (uint32_t offset = 0;
		     offset < hd_port_lid_count(fabric, fabric->host_port[host]); offset++) {
			uint8_t port = hd_routes_port(routes, sw, host_lid(fabric, host) + offset);
			ports += !seen[port];
			seen[port] = true;
		}
	}
	return ports;
}

/* Property: merged tables are no larger than what the cycles through the switch allow, that no
 * larger than without don't-cares, and no smaller than the ports in use; other tables can be
 * measured too, and those of another fabric are refused. */
static void merged_tables_keep_to_the_count(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 60; number++) {
		char recipe[200];
		unsigned bits = (unsigned)(number % 7);
		struct hd_fabric *fabric = with_lmc(draw_cyclic(number, 10, bits, recipe), bits);
		struct hd_cycles *cycles = cycles_of(fabric, 0, bits);
		struct hd_routes *routes = route_rooted(fabric, 0, "");
		struct hd_path_table *tables = calloc(fabric->switch_count, sizeof(*tables));
		assert_int_equal(hd_path_tables_measure(fabric, cycles, routes, tables, NULL), 0);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			assert_in_range(tables[sw].merged, ports_in_use(fabric, routes, sw),
					tables[sw].counted);
			assert_true(tables[sw].counted <= (uint64_t)fabric->switch_count << bits);
		}
		routes->lid_count--;
		assert_int_equal(hd_path_tables_measure(fabric, cycles, routes, tables, NULL),
				 -EINVAL);
		free(tables);
		hd_routes_free(routes);
		hd_cycles_free(cycles);
		hd_fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paper_example_has_two_cycles),
	    cmocka_unit_test(paper_example_has_these_bits),
	    cmocka_unit_test(unions_of_lists),
	    cmocka_unit_test(cycles_are_independent),
	    cmocka_unit_test(best_cycles_are_kept),
	    cmocka_unit_test(limits),
	    cmocka_unit_test(root_is_a_switch),
	    cmocka_unit_test(table_sizes_of_the_paper_example),
	    cmocka_unit_test(merged_tables_keep_to_the_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
