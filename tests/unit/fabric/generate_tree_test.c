/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Generated trees: sizes by the published formulae, wiring by the digit rule, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "generate_testing.h"

/* XGFT(3; 6,6,6; 1,6,6) is the 6-ary 3-tree: 6^3 hosts, 3 * 6^2 switches, 2 * 6^3 cables. */
static void xgft_has_the_size_of_the_formula(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=6,6,6 parents=1,6,6");
	assert_size(fabric, 216, 108, 432);
	assert_int_equal(reachable_switches(fabric), 108);
	hd_fabric_free(fabric);
	fabric = generate("xgft", "children=4,3,2 parents=1,2,3");
	/* hosts 4*3*2; level 1: 3*2, level 2: 2*2 (two copies), level 3: 2*3; cables 6*2 + 4*3 */
	assert_size(fabric, 24, 6 + 4 + 6, 6 * 2 + 4 * 3);
	hd_fabric_free(fabric);
}

/* Down ports 1..k in the order of children, up ports after them in the order of parents. */
static void xgft_ports_follow_the_convention(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=4,3,2 parents=1,2,3");
	assert_cabled(fabric, "S1_1_2", 3, "H_1_2_2", 1);
	assert_cabled(fabric, "S1_1_2", 5, "S2_1_0", 3);
	assert_cabled(fabric, "S1_1_2", 6, "S2_1_1", 3);
	assert_cabled(fabric, "S2_1_0", 1, "S1_1_0", 5);
	assert_cabled(fabric, "S2_1_1", 4, "S3_0_1", 2);
	assert_cabled(fabric, "S2_1_1", 6, "S3_2_1", 2);
	hd_fabric_free(fabric);
}

/* Parallel cables lie side by side at both ends. */
static void xgft_parallel_cables_lie_side_by_side(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,2 parallel=1,2");
	assert_size(fabric, 16, 6, 4 * 2 * 2);
	assert_cabled(fabric, "S1_2", 5, "S2_0", 5);
	assert_cabled(fabric, "S1_2", 6, "S2_0", 6);
	assert_cabled(fabric, "S1_2", 7, "S2_1", 5);
	assert_cabled(fabric, "S1_2", 8, "S2_1", 6);
	hd_fabric_free(fabric);
}

/* Two switches are cabled exactly when their labels differ in one digit, that of the upper level:
 * every cable of a tree against the rule, read from the names. */
static void xgft_cables_obey_the_digit_rule(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=3,4,2 parents=1,2,5");
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++) {
			unsigned a[3], b[3];
			const char *near = fabric->node_name[sw];
			const char *far = fabric->node_name[fabric->isl_to[i]];
			assert_int_equal(sscanf(near, "S%u_%u_%u", &a[0], &a[1], &a[2]), 3);
			assert_int_equal(sscanf(far, "S%u_%u_%u", &b[0], &b[1], &b[2]), 3);
			unsigned upper = a[0] > b[0] ? a[0] : b[0];
			assert_int_equal(a[0] + b[0], 2 * upper - 1);
			if (upper == 2)
				assert_int_equal(a[1], b[1]);
			else
				assert_int_equal(a[2], b[2]);
		}
	}
	hd_fabric_free(fabric);
}

/* A k-ary n-tree is the XGFT with k everywhere, byte for byte. */
static void kary_ntree_is_an_xgft(void **state)
{
	(void)state;
	struct hd_fabric *tree = generate("kary-ntree", "k=4 n=3");
	struct hd_fabric *xgft = generate("xgft", "children=4,4,4 parents=1,4,4");
	assert_size(tree, 64, 48, 128);
	assert_true(same_fabric(tree, xgft));
	hd_fabric_free(xgft);
	hd_fabric_free(tree);
}

/* The big fabric has its published size. */
static void a_large_tree(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=18,18,36 parents=1,18,18");
	assert_size(fabric, 11664, 1620, 2 * 11664);
	hd_fabric_free(fabric);
}

/* Every port of every switch of a real-life fat tree is cabled, half of them up below the top. */
static void assert_constant_bisection(const struct hd_fabric *fabric, uint32_t radix)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		uint32_t hosts = fabric->host_base[sw + 1] - fabric->host_base[sw];
		assert_int_equal(hd_node_ports(fabric, sw), radix);
		assert_int_equal(links + hosts, radix);
		assert_true(!hosts || hosts == radix / 2);
	}
	assert_int_equal(reachable_switches(fabric), fabric->switch_count);
}

static void rlft_uses_every_port(void **state)
{
	(void)state;
	static const struct {
		const char *settings;
		uint32_t radix, hosts, switches;
	} cases[] = {
	    {"radix=36 levels=2", 36, 648, 36 + 18},
	    {"radix=36 levels=2 hosts=324", 36, 324, 18 + 9},
	    {"radix=36 levels=2 hosts=36", 36, 36, 2 + 1},
	    {"radix=8 levels=3", 8, 128, 32 + 32 + 16},
	    {"radix=8 levels=3 hosts=64", 8, 64, 16 + 16 + 8},
	    {"radix=8 levels=3 hosts=16", 8, 16, 4 + 4 + 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_fabric *fabric = generate("rlft", cases[i].settings);
		assert_int_equal(fabric->host_count, cases[i].hosts);
		assert_int_equal(fabric->switch_count, cases[i].switches);
		assert_constant_bisection(fabric, cases[i].radix);
		hd_fabric_free(fabric);
	}
}

static void impossible_trees_are_refused(void **state)
{
	(void)state;
	assert_refused("xgft", "parents=1,2", "'children' is missing");
	assert_refused("xgft", "children=4,4", "'parents' is missing");
	assert_refused("xgft", "children=4,4 parents=1", "1 levels given, 'children' has 2");
	assert_refused("xgft", "children=4,4 parents=1,4 parallel=1,1,1", "3 levels given");
	assert_refused("xgft", "children=4,4 parents=2,4", "a host has one port");
	assert_refused("xgft", "children=4,4 parents=1,4 parallel=2,1", "a host has one port");
	assert_refused("xgft", "children=0,4 parents=1,4", "1..254");
	assert_refused("xgft", "children=4,x parents=1,4", "'4,x' is not a list");
	assert_refused("xgft", "children=200,4 parents=1,100", "would need 300 ports");
	assert_refused("xgft", "children=100,100,100 parents=1,1,1", "1000000 hosts");
	assert_refused("xgft", "children=2,2 parents=1,2 width=3", "unknown option 'width'");
	assert_refused("kary-ntree", "k=36 n=3", "49151 unicast LIDs");
	assert_refused("kary-ntree", "k=127 n=16", "49151 unicast LIDs");
	assert_refused("rlft", "radix=7", "7 is odd");
	assert_refused("rlft", "radix=36 levels=2 hosts=100", "72 and 108");
	assert_refused("rlft", "radix=8 levels=2 hosts=4", "the smallest has 8");
	assert_refused("rlft", "radix=8 levels=2 hosts=33", "has 32");
	assert_refused("rlft", "radix=64 levels=4", "2097152 hosts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(xgft_has_the_size_of_the_formula),
	    cmocka_unit_test(xgft_ports_follow_the_convention),
	    cmocka_unit_test(xgft_parallel_cables_lie_side_by_side),
	    cmocka_unit_test(xgft_cables_obey_the_digit_rule),
	    cmocka_unit_test(kary_ntree_is_an_xgft),
	    cmocka_unit_test(a_large_tree),
	    cmocka_unit_test(rlft_uses_every_port),
	    cmocka_unit_test(impossible_trees_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
