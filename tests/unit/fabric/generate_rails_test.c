/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rail trees: sizes, the rule of rails read from the names, system image GUIDs, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "generate_testing.h"

/* A scalable unit: 32 machines of 8 adapters, 8 leaves with 32 cables upwards each, 4 spines. */
static void the_default_is_a_scalable_unit(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("rail-tree", "");
	assert_size(fabric, 256, 12, 256);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		assert_int_equal(hd_node_ports(fabric, sw), 64);
	assert_cabled(fabric, "S1_0_3", 5, "gpu05 mlx5_3", 1);
	assert_cabled(fabric, "S1_0_3", 32 + 8 + 1, "S2_1", 3 * 8 + 1);
	hd_fabric_free(fabric);
}

/* Every adapter against the rule: adapter i of a machine of group g is on leaf i of group g. */
static void each_adapter_is_on_the_leaf_of_its_rail(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    generate("rail-tree", "groups=3 machines=4 adapters=5 spines=2 uplinks=2");
	assert_size(fabric, 60, 17, 30);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t node = fabric->port_node[fabric->host_port[host]], machine, rail, group,
			 leaf;
		assert_int_equal(sscanf(fabric->node_name[node], "gpu%u mlx5_%u", &machine, &rail),
				 2);
		assert_int_equal(
		    sscanf(fabric->node_name[fabric->host_switch[host]], "S1_%u_%u", &group, &leaf),
		    2);
		assert_int_equal(leaf, rail);
		assert_int_equal(group, (machine - 1) / 4);
	}
	hd_fabric_free(fabric);
}

/* Each leaf has as many cables to one spine as to another. */
static void spines_share_the_cables_of_a_leaf(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    generate("rail-tree", "groups=2 machines=6 adapters=3 spines=3 uplinks=6");
	for (uint32_t leaf = 0; leaf < 6; leaf++) {
		uint32_t to[16] = {0};
		for (uint32_t i = fabric->isl_base[leaf]; i < fabric->isl_base[leaf + 1]; i++)
			to[fabric->isl_to[i]]++;
		for (uint32_t spine = 6; spine < 9; spine++)
			assert_int_equal(to[spine], 2);
	}
	hd_fabric_free(fabric);
}

/* Two adapters have the same system image GUID exactly if they are one machine's, or never. */
static void assert_system_guids(const char *settings, bool shared)
{
	struct hd_fabric *fabric = generate("rail-tree", settings);
	char machine[2][16];

	for (uint32_t a = fabric->switch_count; a < fabric->node_count; a++)
		for (uint32_t b = fabric->switch_count; b < a; b++) {
			sscanf(fabric->node_name[a], "%15s", machine[0]);
			sscanf(fabric->node_name[b], "%15s", machine[1]);
			assert_int_equal(fabric->system_guid[a] == fabric->system_guid[b],
					 shared && !strcmp(machine[0], machine[1]));
		}
	hd_fabric_free(fabric);
}

static void system_guids_are_those_that_are_asked_for(void **state)
{
	(void)state;
	assert_system_guids("machines=3 adapters=4 spines=1", true);
	assert_system_guids("machines=3 adapters=4 spines=1 devices=hca", true);
	assert_system_guids("machines=3 adapters=4 spines=1 system-guids=adapter", false);
	struct hd_fabric *fabric =
	    generate("rail-tree", "machines=2 adapters=2 spines=1 system-guids=none");
	for (uint32_t node = fabric->switch_count; node < fabric->node_count; node++)
		assert_true(fabric->system_guid[node] == 0);
	hd_fabric_free(fabric);
}

static void names_have_the_form_of_machines(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    generate("rail-tree", "machines=100 adapters=2 spines=4 devices=hca");
	assert_cabled(fabric, "S1_0_0", 1, "gpu001 HCA-1", 1);
	assert_cabled(fabric, "S1_0_1", 100, "gpu100 HCA-2", 1);
	hd_fabric_free(fabric);
}

static void impossible_sizes_are_refused(void **state)
{
	(void)state;
	assert_refused("rail-tree", "uplinks=30",
		       "30 cables of a leaf do not divide evenly among 4 spines");
	assert_refused("rail-tree", "groups=127 adapters=2 machines=250 uplinks=4", "unicast LIDs");
	assert_refused("rail-tree", "groups=8", "would need 512 ports");
	assert_refused("rail-tree", "machines=200 spines=8", "would need 400 ports");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_default_is_a_scalable_unit),
	    cmocka_unit_test(each_adapter_is_on_the_leaf_of_its_rail),
	    cmocka_unit_test(spines_share_the_cables_of_a_leaf),
	    cmocka_unit_test(system_guids_are_those_that_are_asked_for),
	    cmocka_unit_test(names_have_the_form_of_machines),
	    cmocka_unit_test(impossible_sizes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
