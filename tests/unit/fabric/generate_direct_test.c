/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* HyperX, Slim Fly, Dragonfly and Jellyfish: sizes, degrees, distances, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "generate_testing.h"

static uint32_t degree(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->isl_base[sw + 1] - fabric->isl_base[sw];
}

/* Cables from one switch to another. */
static uint32_t cables_between(const struct hd_fabric *fabric, uint32_t a, uint32_t b)
{
	uint32_t cables = 0;

	for (uint32_t i = fabric->isl_base[a]; i < fabric->isl_base[a + 1]; i++)
		cables += fabric->isl_to[i] == b;
	return cables;
}

/* Hops from `from` to the switch farthest away; -1 if some cannot be reached. */
static int eccentricity(const struct hd_fabric *fabric, uint32_t from)
{
	uint32_t *queue = calloc(fabric->switch_count, sizeof(*queue)), tail = 1;
	int *hops = calloc(fabric->switch_count, sizeof(*hops)), farthest = 0;

	hops[from] = 1;
	queue[0] = from;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t sw = queue[head];
		farthest = hops[sw] - 1;
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
			if (!hops[fabric->isl_to[i]]) {
				hops[fabric->isl_to[i]] = hops[sw] + 1;
				queue[tail++] = fabric->isl_to[i];
			}
	}
	free(hops);
	free(queue);
	return tail == fabric->switch_count ? farthest : -1;
}

static void assert_diameter(const struct hd_fabric *fabric, int expected)
{
	int diameter = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		int farthest = eccentricity(fabric, sw);
		assert_true(farthest >= 0);
		diameter = farthest > diameter ? farthest : diameter;
	}
	assert_int_equal(diameter, expected);
}

/* All switches have that many links, no two of them lead to the same switch, no port is left. */
static void assert_simple_and_regular(const struct hd_fabric *fabric, uint32_t links)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		assert_int_equal(degree(fabric, sw), links);
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
			assert_int_equal(cables_between(fabric, sw, fabric->isl_to[i]), 1);
		for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++)
			assert_int_not_equal(fabric->peer[hd_port_index(fabric, sw, port)],
					     HD_NONE);
	}
}

/* ---- HyperX ---- */

/* Neighbours differ in one coordinate, and all that do are neighbours. */
static void hyperx_lines_are_meshed(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("hyperx", "dims=3,4,2 hosts=2");
	assert_size(fabric, 48, 24, 24 * (2 + 3 + 1) / 2);
	assert_simple_and_regular(fabric, 6);
	for (uint32_t a = 0; a < 24; a++)
		for (uint32_t b = 0; b < 24; b++) {
			int differ = (a / 8 != b / 8) + (a / 2 % 4 != b / 2 % 4) + (a % 2 != b % 2);
			assert_int_equal(cables_between(fabric, a, b), differ == 1);
		}
	assert_diameter(fabric, 3);
	hd_fabric_free(fabric);
}

/* A port number means the same step along its dimension everywhere. */
static void hyperx_ports_mean_steps(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("hyperx", "dims=3,4 hosts=2 parallel=2");
	assert_size(fabric, 24, 12, 12 * (2 + 3) * 2 / 2);
	assert_cabled(fabric, "S_1_2", 2, "H_1_2_1", 1);
	assert_cabled(fabric, "S_1_2", 3, "S_2_2", 5);
	assert_cabled(fabric, "S_1_2", 4, "S_2_2", 6);
	assert_cabled(fabric, "S_1_2", 5, "S_0_2", 3);
	assert_cabled(fabric, "S_1_3", 7, "S_1_0", 11);
	assert_cabled(fabric, "S_1_3", 10, "S_1_1", 10);
	assert_cabled(fabric, "S_1_3", 11, "S_1_2", 7);
	hd_fabric_free(fabric);
}

/* ---- Slim Fly ---- */

/* 2 q^2 switches of degree (3 q - d) / 2, two hops apart at most: primes, and powers of 2 and 3. */
static void slim_fly_has_diameter_two(void **state)
{
	static const uint32_t orders[] = {3, 4, 5, 7, 8, 9, 11, 13, 16, 17};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		uint32_t q = orders[i], links = q % 4 == 3 ? (3 * q + 1) / 2 : (3 * q - q % 4) / 2;
		uint32_t switches = 2 * q * q, hosts = (links + 1) / 2;
		char settings[32];
		snprintf(settings, sizeof(settings), "q=%u", q);
		struct hd_fabric *fabric = generate("slim-fly", settings);
		assert_size(fabric, switches * hosts, switches, switches * links / 2);
		assert_simple_and_regular(fabric, links);
		assert_diameter(fabric, 2);
		hd_fabric_free(fabric);
	}
}

/* That of q = 5 is the graph of Hoffman and Singleton: neighbours share no neighbour, and two
 * others share one. No other graph of 50 nodes and degree 7 has diameter 2. */
static void slim_fly_of_five_is_a_moore_graph(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("slim-fly", "q=5 hosts=1");
	assert_size(fabric, 50, 50, 175);
	for (uint32_t a = 0; a < 50; a++)
		for (uint32_t b = 0; b < a; b++) {
			uint32_t shared = 0;
			for (uint32_t i = fabric->isl_base[a]; i < fabric->isl_base[a + 1]; i++)
				shared += cables_between(fabric, fabric->isl_to[i], b);
			assert_int_equal(shared, !cables_between(fabric, a, b));
		}
	hd_fabric_free(fabric);
}

/* (0, x, y) and (1, m, c) are neighbours if y = m x + c. */
static void slim_fly_halves_are_lines_and_points(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("slim-fly", "q=7 hosts=2");
	/* degree 11: 4 links in the own half, on ports 3 .. 6; 3 * 4 + 6 = 18 = 4 modulo 7 */
	assert_cabled(fabric, "S_0_4_4", 7 + 3, "S_1_3_6", 7 + 4);
	assert_cabled(fabric, "S_0_0_6", 7 + 3, "S_1_3_6", 7 + 0);
	assert_cabled(fabric, "S_1_3_6", 2, "H_1_3_6_1", 1);
	hd_fabric_free(fabric);
}

/* ---- Dragonfly ---- */

/* All switches of a group are neighbours; all pairs of groups have `cables` cables. */
static void assert_groups(const struct hd_fabric *fabric, uint32_t groups, uint32_t size,
			  uint32_t cables)
{
	uint32_t *between = calloc((size_t)groups * groups, sizeof(*between));

	assert_int_equal(fabric->switch_count, groups * size);
	for (uint32_t a = 0; a < fabric->switch_count; a++)
		for (uint32_t b = 0; b < fabric->switch_count; b++) {
			if (a / size == b / size)
				assert_int_equal(cables_between(fabric, a, b), a != b);
			else
				between[a / size * groups + b / size] +=
				    cables_between(fabric, a, b);
		}
	for (uint32_t pair = 0; pair < groups * groups; pair++)
		assert_int_equal(between[pair], pair / groups == pair % groups ? 0 : cables);
	free(between);
}

/* By default as many groups as global ports can reach: nothing is left free. */
static void dragonfly_is_balanced_by_default(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("dragonfly", "switches=4 global-links=2 hosts=2");
	assert_size(fabric, 72, 36, 36 * (3 + 2) / 2);
	assert_groups(fabric, 9, 4, 1);
	assert_simple_and_regular(fabric, 5);
	assert_diameter(fabric, 3);
	hd_fabric_free(fabric);
	fabric = generate("dragonfly", "switches=8 global-links=4 hosts=4");
	assert_size(fabric, 1056, 264, 264 * (7 + 4) / 2);
	assert_groups(fabric, 33, 8, 1);
	hd_fabric_free(fabric);
}

/* With fewer groups each pair gets several cables; ports that are left over stay free. */
static void dragonfly_pairs_groups_evenly(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    generate("dragonfly", "switches=4 global-links=2 hosts=1 groups=4");
	assert_groups(fabric, 4, 4, 2); /* 8 ports, 2 to each of 3 others, 2 free */
	hd_fabric_free(fabric);
	fabric = generate("dragonfly", "switches=5 global-links=0 hosts=1");
	assert_groups(fabric, 1, 5, 0);
	hd_fabric_free(fabric);
	fabric = generate("dragonfly", "switches=1 global-links=4 hosts=1");
	assert_groups(fabric, 5, 1, 1);
	hd_fabric_free(fabric);
}

/* ---- Jellyfish ---- */

static struct hd_fabric *jellyfish(uint32_t switches, uint32_t links, uint32_t seed)
{
	char settings[96];

	snprintf(settings, sizeof(settings), "switches=%u degree=%u hosts=1 seed=%u", switches,
		 links, seed);
	return generate("jellyfish", settings);
}

/* Of all sizes, sparse and dense, from a ring to all pairs: regular, connected, no cable doubled. */
static void jellyfish_is_regular_and_connected(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 40; seed++)
		for (uint32_t switches = 3; switches < 24; switches++)
			for (uint32_t links = 2; links < switches; links++) {
				if (switches * links % 2)
					continue;
				struct hd_fabric *fabric = jellyfish(switches, links, seed);
				assert_size(fabric, switches, switches, switches * links / 2);
				assert_simple_and_regular(fabric, links);
				assert_int_equal(reachable_switches(fabric), switches);
				hd_fabric_free(fabric);
			}
}

/* Rings fall apart nearly always: their parts are joined. */
static void parts_of_a_jellyfish_are_joined(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 20; seed++) {
		struct hd_fabric *fabric = jellyfish(300, 2, seed);
		assert_simple_and_regular(fabric, 2);
		assert_int_equal(reachable_switches(fabric), 300);
		hd_fabric_free(fabric);
	}
}

static void jellyfish_seeds_decide(void **state)
{
	(void)state;
	struct hd_fabric *first = jellyfish(64, 8, 1), *again = jellyfish(64, 8, 1);
	struct hd_fabric *other = jellyfish(64, 8, 2);
	assert_true(same_fabric(first, again));
	assert_false(same_fabric(first, other));
	hd_fabric_free(first);
	hd_fabric_free(again);
	hd_fabric_free(other);
}

/* Over many seeds every two switches are neighbours about equally often. */
static void jellyfish_prefers_no_pair(void **state)
{
	enum { SWITCHES = 10, SEEDS = 2000 };
	uint32_t seen[SWITCHES * SWITCHES] = {0};

	(void)state;
	for (uint32_t seed = 0; seed < SEEDS; seed++) {
		struct hd_fabric *fabric = jellyfish(SWITCHES, 3, seed);
		for (uint32_t a = 0; a < SWITCHES; a++)
			for (uint32_t b = 0; b < SWITCHES; b++)
				seen[a * SWITCHES + b] += cables_between(fabric, a, b);
		hd_fabric_free(fabric);
	}
	/* a third of the seeds: 667 on average, with a standard deviation of 21 */
	for (uint32_t a = 0; a < SWITCHES; a++)
		for (uint32_t b = 0; b < a; b++)
			assert_in_range(seen[a * SWITCHES + b], 550, 790);
}

static void impossible_direct_networks_are_refused(void **state)
{
	(void)state;
	assert_refused("hyperx", "", "'dims' is missing");
	assert_refused("hyperx", "dims=200,60", "would need 259 ports");
	assert_refused("hyperx", "dims=40,40,40", "64000 switches");
	assert_refused("slim-fly", "", "'q' is missing");
	assert_refused("slim-fly", "q=2", "3..254");
	assert_refused("slim-fly", "q=6", "6 is no power of a prime");
	assert_refused("slim-fly", "q=45", "45 is no power of a prime");
	assert_refused("slim-fly", "q=157 hosts=0", "49298 switches");
	assert_refused("slim-fly", "q=5 hosts=250", "would need 257 ports");
	assert_refused("dragonfly", "global-links=1 hosts=1", "'switches' is missing");
	assert_refused("dragonfly", "switches=2 global-links=1 hosts=1 groups=4",
		       "2 global ports (2 switches x 1 global-links), fewer than the 3 other");
	assert_refused("dragonfly", "switches=200 global-links=10 hosts=60",
		       "would need 269 ports");
	assert_refused("dragonfly", "switches=100 global-links=10 hosts=1", "100100 switches");
	assert_refused("jellyfish", "switches=9", "'degree' is missing");
	assert_refused("jellyfish", "switches=9 degree=9", "at most 8 neighbours");
	assert_refused("jellyfish", "switches=9 degree=1", "do not connect them all");
	assert_refused("jellyfish", "switches=2 degree=0", "do not connect them all");
	assert_refused("jellyfish", "switches=9 degree=3", "9 x 3 ends, an odd number");
	assert_refused("jellyfish", "switches=300 degree=250 hosts=5", "would need 255 ports");
}

/* The smallest of each. */
static void small_direct_networks(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("hyperx", "dims=1 hosts=0");
	assert_size(fabric, 0, 1, 0);
	hd_fabric_free(fabric);
	fabric = generate("dragonfly", "switches=1 global-links=0 hosts=3");
	assert_size(fabric, 3, 1, 0);
	hd_fabric_free(fabric);
	fabric = generate("jellyfish", "switches=1 degree=0 hosts=3");
	assert_size(fabric, 3, 1, 0);
	hd_fabric_free(fabric);
	fabric = generate("jellyfish", "switches=2 degree=1");
	assert_size(fabric, 2, 2, 1);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hyperx_lines_are_meshed),
	    cmocka_unit_test(hyperx_ports_mean_steps),
	    cmocka_unit_test(slim_fly_has_diameter_two),
	    cmocka_unit_test(slim_fly_of_five_is_a_moore_graph),
	    cmocka_unit_test(slim_fly_halves_are_lines_and_points),
	    cmocka_unit_test(dragonfly_is_balanced_by_default),
	    cmocka_unit_test(dragonfly_pairs_groups_evenly),
	    cmocka_unit_test(jellyfish_is_regular_and_connected),
	    cmocka_unit_test(parts_of_a_jellyfish_are_joined),
	    cmocka_unit_test(jellyfish_seeds_decide),
	    cmocka_unit_test(jellyfish_prefers_no_pair),
	    cmocka_unit_test(impossible_direct_networks_are_refused),
	    cmocka_unit_test(small_direct_networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
