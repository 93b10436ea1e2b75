/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches in groups: pods, planes and islands are found, names decide elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "generated.h"
#include "switch_groups.h"

struct grouped {
	struct hd_fabric *fabric;
	struct hd_arena arena;
	struct switch_groups groups;
};

static struct grouped group(const char *kind, const char *options, uint32_t most)
{
	struct grouped grouped = {NULL, {0}, {0}};
	struct hd_error err;

	assert_int_equal(generated_fabric(kind, options, &grouped.fabric, &err), 0);
	switch_groups_make(grouped.fabric, most, &grouped.arena, &grouped.groups);
	return grouped;
}

static void release(struct grouped *grouped)
{
	hd_arena_release(&grouped->arena);
	hd_fabric_free(grouped->fabric);
}

static uint32_t groups_of_level(const struct grouped *grouped, uint32_t level, uint32_t switches)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < grouped->groups.count; i++) {
		const struct switch_group *each = &grouped->groups.groups[i];
		count += each->level == level;
		if (each->level == level)
			assert_int_equal(each->switches, switches);
	}
	return count;
}

/* Property: every switch is in one group, of its level, and the groups' sizes are right. */
static void check_partition(const struct grouped *grouped)
{
	uint32_t sizes[64] = {0}, levels = 0;
	struct hd_arena arena = {0};
	uint32_t *level = switch_groups_levels(grouped->fabric, &arena, &levels);

	assert_non_null(level);
	assert_in_range(grouped->groups.count, 1, 64);
	for (uint32_t sw = 0; sw < grouped->fabric->switch_count; sw++) {
		uint32_t of = grouped->groups.of[sw];
		assert_true(of < grouped->groups.count);
		assert_int_equal(grouped->groups.groups[of].level, level[sw]);
		sizes[of]++;
	}
	for (uint32_t i = 0; i < grouped->groups.count; i++)
		assert_int_equal(sizes[i], grouped->groups.groups[i].switches);
	hd_arena_release(&arena);
}

/* Property: a tree of three levels falls into pods with their leaves and spines, and planes. */
static void a_tree_has_pods_and_planes(void **state)
{
	struct grouped tree = group("xgft", "children=2,3,5 parents=1,2,4", 40);

	(void)state;
	check_partition(&tree);
	assert_int_equal(groups_of_level(&tree, 0, 3), 5); /* the leaves of each pod */
	assert_int_equal(groups_of_level(&tree, 1, 2), 5); /* its spines */
	assert_int_equal(groups_of_level(&tree, 2, 4), 2); /* the planes */
	for (uint32_t i = 0; i < 5; i++) { /* pods are in one order on both levels */
		const struct switch_group *leaves = &tree.groups.groups[i];
		bool cabled = false;
		for (uint32_t link = tree.fabric->isl_base[leaves->first];
		     link < tree.fabric->isl_base[leaves->first + 1]; link++)
			cabled = cabled || tree.groups.of[tree.fabric->isl_to[link]] == i + 5;
		assert_true(cabled);
	}
	release(&tree);
}

/* Property: too many pods are put together, evenly, in the order of their names. */
static void many_pods_share_groups(void **state)
{
	struct grouped tree = group("xgft", "children=1,2,30 parents=1,1,1", 12);

	(void)state;
	check_partition(&tree);
	assert_true(tree.groups.count <= 12);
	assert_string_equal(tree.fabric->node_name[tree.groups.groups[0].first], "S1_0_0");
	assert_string_equal(tree.fabric->node_name[tree.groups.groups[0].last], "S1_5_1");
	release(&tree);
	tree = group("xgft", "children=1,2,30,2 parents=1,1,1,1", 16);
	check_partition(&tree);
	assert_true(tree.groups.count <= 16);
	assert_int_equal(groups_of_level(&tree, 2, 1), 2); /* few are not put together */
	release(&tree);
}

/* Property: cables between islands do not make them one group. */
static void a_dragonfly_has_islands(void **state)
{
	struct grouped islands =
	    group("dragonfly-plus", "islands=5 leaves=2 spines=2 hosts=1 global-links=2", 40);

	(void)state;
	check_partition(&islands);
	assert_int_equal(groups_of_level(&islands, 0, 2), 5);
	assert_int_equal(groups_of_level(&islands, 1, 2), 5);
	release(&islands);
}

/* Property: a fabric without levels is cut by names, and a small one into its switches. */
static void a_torus_is_cut_by_names(void **state)
{
	struct grouped large = group("torus", "dims=12,4", 12),
		       small = group("torus", "dims=3,3", 12);

	(void)state;
	check_partition(&large);
	assert_int_equal(groups_of_level(&large, 0, 4), 12);
	assert_string_equal(large.fabric->node_name[large.groups.groups[2].first], "S_2_0");
	assert_string_equal(large.fabric->node_name[large.groups.groups[11].last], "S_11_3");
	check_partition(&small);
	assert_int_equal(groups_of_level(&small, 0, 1), 9);
	release(&large);
	release(&small);
}

/* Property: fabrics of one leaf and of one switch have groups, too. */
static void the_smallest_fabrics(void **state)
{
	struct grouped leaf = group("xgft", "children=2,1 parents=1,1", 12);
	struct grouped lone = group("xgft", "children=2 parents=1", 12);

	(void)state;
	check_partition(&leaf);
	assert_int_equal(leaf.groups.count, 2);
	check_partition(&lone);
	assert_int_equal(lone.groups.count, 1);
	release(&leaf);
	release(&lone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_tree_has_pods_and_planes), cmocka_unit_test(many_pods_share_groups),
	    cmocka_unit_test(a_dragonfly_has_islands),	  cmocka_unit_test(a_torus_is_cut_by_names),
	    cmocka_unit_test(the_smallest_fabrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
