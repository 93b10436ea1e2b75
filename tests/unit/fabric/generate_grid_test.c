/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Torus, mesh, hypercube and Dragonfly+: sizes, degrees, directions, refusals. */
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

/* Every switch of a torus has two cables a dimension; a ring of two has one, of one none. */
static void torus_has_two_cables_a_dimension(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=4,4,4");
	assert_size(fabric, 64, 64, 3 * 64);
	for (uint32_t sw = 0; sw < 64; sw++)
		assert_int_equal(degree(fabric, sw), 6);
	hd_fabric_free(fabric);
	fabric = generate("torus", "dims=3,2,1 hosts=2 parallel=3");
	assert_size(fabric, 12, 6, 3 * (6 + 3));
	assert_int_equal(reachable_switches(fabric), 6);
	hd_fabric_free(fabric);
}

/* The same port number leads the same way from every switch, and rings close. */
static void torus_ports_mean_directions(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=3,4 hosts=2");
	assert_cabled(fabric, "S_1_2", 2, "H_1_2_1", 1);
	assert_cabled(fabric, "S_1_2", 3, "S_2_2", 4);
	assert_cabled(fabric, "S_2_2", 3, "S_0_2", 4);
	assert_cabled(fabric, "S_1_2", 5, "S_1_3", 6);
	assert_cabled(fabric, "S_1_3", 5, "S_1_0", 6);
	hd_fabric_free(fabric);
}

static void mesh_is_a_torus_cut_open(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("mesh", "dims=3,4 hosts=1");
	assert_size(fabric, 12, 12, 2 * 4 + 3 * 3);
	assert_cabled(fabric, "S_1_2", 2, "S_2_2", 3);
	uint32_t edge = hd_port_index(fabric, node_named(fabric, "S_2_2"), 2);
	assert_int_equal(fabric->peer[edge], HD_NONE);
	assert_int_equal(reachable_switches(fabric), 12);
	hd_fabric_free(fabric);
}

/* Neighbours in a hypercube differ in one bit, the one of the port. */
static void hypercube_neighbours_differ_in_one_bit(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("hypercube", "dimensions=5 hosts=3");
	assert_size(fabric, 96, 32, 5 * 32 / 2);
	for (uint32_t sw = 0; sw < 32; sw++)
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
			assert_int_equal(sw ^ fabric->isl_to[i], 1u << (fabric->isl_port[i] - 4));
	hd_fabric_free(fabric);
	fabric = generate("hypercube", "dimensions=0 hosts=4");
	assert_size(fabric, 4, 1, 0);
	hd_fabric_free(fabric);
}

/* Cables between two islands, from the names of their spines. */
static void count_global_cables(const struct hd_fabric *fabric, uint32_t islands, uint32_t *cables)
{
	for (uint32_t i = 0; i < fabric->isl_count; i++) {
		unsigned level[2], island[2], index[2];
		uint32_t far = fabric->isl_to[i], near = hd_isl_from(fabric, i);
		assert_int_equal(
		    sscanf(fabric->node_name[near], "S%u_%u_%u", &level[0], &island[0], &index[0]),
		    3);
		assert_int_equal(
		    sscanf(fabric->node_name[far], "S%u_%u_%u", &level[1], &island[1], &index[1]),
		    3);
		if (level[0] == 2 && level[1] == 2)
			cables[island[0] * islands + island[1]]++;
		else
			assert_int_equal(island[0], island[1]);
	}
}

/* Islands are complete bipartite, and every two of them share the same number of cables. */
static void dragonfly_plus_pairs_islands_evenly(void **state)
{
	(void)state;
	uint32_t cables[5 * 5] = {0};
	struct hd_fabric *fabric =
	    generate("dragonfly-plus", "islands=5 leaves=3 spines=4 hosts=2 global-links=3");
	/* 12 global ports an island, 3 to each of 4 others */
	assert_size(fabric, 30, 5 * 7, 5 * 12 + 5 * 12 / 2);
	count_global_cables(fabric, 5, cables);
	for (uint32_t pair = 0; pair < 25; pair++)
		assert_int_equal(cables[pair], pair / 5 == pair % 5 ? 0 : 3);
	assert_int_equal(reachable_switches(fabric), 35);
	hd_fabric_free(fabric);
}

/* Global ports that do not divide evenly among the other islands stay free. */
static void dragonfly_plus_leaves_odd_ports_free(void **state)
{
	(void)state;
	uint32_t cables[4 * 4] = {0};
	struct hd_fabric *fabric =
	    generate("dragonfly-plus", "islands=4 leaves=2 spines=2 hosts=2 global-links=2");
	count_global_cables(fabric, 4, cables);
	for (uint32_t pair = 0; pair < 16; pair++)
		assert_int_equal(cables[pair], pair / 4 == pair % 4 ? 0 : 1);
	hd_fabric_free(fabric);
	fabric = generate("dragonfly-plus", "islands=1 leaves=2 spines=2 hosts=1 global-links=0");
	assert_size(fabric, 2, 4, 4);
	hd_fabric_free(fabric);
}

static void impossible_grids_are_refused(void **state)
{
	(void)state;
	assert_refused("torus", "", "'dims' is missing");
	assert_refused("torus", "dims=4,0", "1..49151");
	assert_refused("torus", "dims=400,400", "160000 switches");
	assert_refused("torus", "dims=4,4 hosts=251", "would need 255 ports");
	assert_refused("torus", "dims=4,4 parallel=100", "would need 401 ports");
	assert_refused("mesh", "dims=200,200 hosts=1", "40000 hosts and 40000 switches");
	assert_refused("hypercube", "hosts=1", "'dimensions' is missing");
	assert_refused("hypercube", "dimensions=17", "0..16");
	assert_refused("hypercube", "dimensions=16", "65536 switches");
	assert_refused("dragonfly-plus", "islands=9 leaves=2 spines=2 hosts=2 global-links=3",
		       "6 global ports (2 spines x 3 global-links), fewer than the 8 other");
	assert_refused("dragonfly-plus", "leaves=2 spines=2 hosts=2", "'islands' is missing");
	assert_refused("dragonfly-plus", "islands=2 leaves=254 spines=2 hosts=2", "255 ports");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(torus_has_two_cables_a_dimension),
	    cmocka_unit_test(torus_ports_mean_directions),
	    cmocka_unit_test(mesh_is_a_torus_cut_open),
	    cmocka_unit_test(hypercube_neighbours_differ_in_one_bit),
	    cmocka_unit_test(dragonfly_plus_pairs_islands_evenly),
	    cmocka_unit_test(dragonfly_plus_leaves_odd_ports_free),
	    cmocka_unit_test(impossible_grids_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
