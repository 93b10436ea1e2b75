/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Labels of regular trees from which something is missing, and what gets none. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "variants.h"

#include <heddle/fabric.h>
#include <heddle/fabric/regular_tree.h>

static const char *const trees[] = {
    "children=6,6,6 parents=1,6,6",	     "children=4,8 parents=1,4",
    "children=4,6 parents=1,3 parallel=1,2", "children=3,4,5 parents=1,3,4 parallel=1,1,2",
    "children=2,4,4,4 parents=1,4,4,4",
};

#define TREES (sizeof(trees) / sizeof(trees[0]))

struct labelled {
	struct hd_fabric *fabric;
	struct hd_arena arena;
	struct hd_regular_tree tree;
	int rc;
};

/* Owns the fabric. earlier: NULL, or the labels to start from. */
static struct labelled label(struct hd_fabric *fabric, const struct hd_tree_labels *earlier)
{
	const struct hd_tree_facts facts = {NULL, NULL};
	struct labelled labelled = {.fabric = fabric};
	struct hd_tree levels;

	assert_int_equal(hd_tree_find(fabric, &facts, 1, &labelled.arena, &levels, NULL), 0);
	labelled.rc = earlier
			  ? hd_regular_tree_label_again(fabric, &levels, earlier, &labelled.arena,
							&labelled.tree)
			  : hd_regular_tree_label(fabric, &levels, &labelled.arena, &labelled.tree);
	return labelled;
}

static void release(struct labelled *labelled)
{
	hd_arena_release(&labelled->arena);
	hd_fabric_free(labelled->fabric);
}

static void assert_kind(struct hd_fabric *fabric, const struct hd_tree_labels *earlier,
			int expected)
{
	struct labelled labelled = label(fabric, earlier);

	assert_int_equal(labelled.rc, expected);
	release(&labelled);
}

static struct hd_fabric *built(struct hd_builder *builder, struct hd_fabric *old)
{
	struct hd_fabric *fabric = NULL;

	assert_int_equal(hd_builder_build(builder, &fabric, NULL), 0);
	hd_builder_free(builder);
	hd_fabric_free(old);
	return fabric;
}

static struct hd_fabric *copied(const struct hd_fabric *fabric)
{
	struct hd_fabric *copy = NULL;

	assert_int_equal(variants_copy(fabric, &copy, NULL), 0);
	return copy;
}

static struct hd_fabric *without_links(struct hd_fabric *old, double percent, uint64_t seed)
{
	struct hd_fabric *fabric = NULL;

	assert_int_equal(hd_fabric_remove_links(old, percent, seed, &fabric, NULL), 0);
	hd_fabric_free(old);
	return fabric;
}

/* Without the cables of the first `count` switches whose names begin so. */
static struct hd_fabric *without_switches(struct hd_fabric *old, const char *name, unsigned count)
{
	struct hd_builder *builder = hd_builder_from(old);

	for (uint32_t sw = 0; count && sw < old->switch_count; sw++) {
		if (strncmp(old->node_name[sw], name, strlen(name)) != 0)
			continue;
		for (uint32_t port = 1; port <= hd_node_ports(old, sw); port++)
			hd_builder_unlink(builder, sw, port);
		count--;
	}
	return built(builder, old);
}

static uint32_t named(const struct hd_fabric *fabric, const char *name)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (!strcmp(fabric->node_name[sw], name))
			return sw;
	fail_msg("no switch %s", name);
	return HD_NONE;
}

/* Recables the n-th inter-switch port of `from` to that of `to`, and frees what was there. */
static struct hd_fabric *recabled(struct hd_fabric *old, const char *from, unsigned n,
				  const char *to, unsigned m)
{
	struct hd_builder *builder = hd_builder_from(old);
	uint32_t near = named(old, from), far = named(old, to);
	uint8_t port = old->isl_port[old->isl_base[near] + n];
	uint8_t far_port = old->isl_port[old->isl_base[far] + m];

	hd_builder_unlink(builder, near, port);
	hd_builder_unlink(builder, far, far_port);
	assert_int_equal(hd_builder_link(builder, near, port, far, far_port, 4, HD_SPEED_EDR, NULL),
			 0);
	return built(builder, old);
}

static void assert_same_labels(const struct hd_regular_tree *tree, const struct hd_regular_tree *of)
{
	size_t levels = tree->level_count * sizeof(uint32_t);
	size_t ports = (size_t)tree->fabric->switch_count * HD_TREE_FANOUT;

	assert_int_equal(tree->level_count, of->level_count);
	assert_memory_equal(tree->leaves, of->leaves, levels);
	assert_memory_equal(tree->above, of->above, levels);
	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++) {
		bool cabled = tree->fabric->isl_base[sw] < tree->fabric->isl_base[sw + 1];
		if (!cabled && tree->group[sw] == HD_NONE)
			continue;
		assert_int_equal(tree->first_leaf[sw], of->first_leaf[sw]);
		assert_int_equal(tree->group[sw], of->group[sw]);
	}
	for (size_t i = 0; i < ports; i++) {
		if (tree->up_port[i] != HD_NO_PORT)
			assert_int_equal(tree->up_port[i], of->up_port[i]);
		if (tree->down_port[i] != HD_NO_PORT)
			assert_int_equal(tree->down_port[i], of->down_port[i]);
	}
}

/* Property: with one cable in twenty missing, all labels are those of the intact tree, ports too.
 */
static void missing_cables_change_no_label(void **state)
{
	unsigned compared = 0;

	(void)state;
	for (unsigned i = 0; i < TREES; i++) {
		struct labelled intact = label(generate("xgft", trees[i]), NULL);
		assert_int_equal(intact.rc, 0);
		assert_true(intact.tree.intact);
		for (uint64_t seed = 0; seed < 200; seed++) {
			struct labelled damaged = label(
			    without_links(generate("xgft", trees[i]), 4 + (double)(seed % 3), seed),
			    NULL);
			if (!damaged.rc) {
				assert_int_equal(damaged.tree.intact, damaged.fabric->isl_count ==
									  intact.fabric->isl_count);
				assert_same_labels(&damaged.tree, &intact.tree);
				compared++;
			}
			release(&damaged);
		}
		release(&intact);
	}
	/* a small tree may come apart */
	assert_true(compared >= 199 * TREES);
}

/* Property: earlier labels stay, however much is missing, and tell parallel cables apart. */
static void earlier_labels_stay(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TREES; i++) {
		struct labelled intact = label(generate("xgft", trees[i]), NULL);
		struct hd_tree_labels *labels = NULL, *again = NULL;
		assert_int_equal(hd_regular_tree_labels(&intact.tree, NULL, &labels), 0);
		for (uint64_t seed = 0; seed < 100; seed++) {
			struct labelled damaged = label(
			    without_links(generate("xgft", trees[i]), (double)(seed % 70), seed),
			    labels);
			assert_int_equal(damaged.rc, 0);
			assert_same_labels(&damaged.tree, &intact.tree);
			assert_int_equal(hd_regular_tree_labels(&damaged.tree, labels, &again), 0);
			assert_ptr_equal(again, labels);
			hd_tree_labels_release(again);
			release(&damaged);
		}
		hd_tree_labels_release(labels);
		release(&intact);
	}
}

/* Property: a switch in place of a missing one gets its labels. */
static void a_new_switch_takes_the_place_of_a_missing_one(void **state)
{
	static const char *const names[] = {"S1_2_3", "S2_4_1", "S3_3_2"};

	(void)state;
	struct labelled intact = label(generate("xgft", trees[0]), NULL);
	struct hd_tree_labels *labels = NULL;
	assert_int_equal(hd_regular_tree_labels(&intact.tree, NULL, &labels), 0);
	for (unsigned i = 0; i < 3; i++) {
		struct hd_fabric *old = generate("xgft", trees[0]);
		struct hd_builder *builder = hd_builder_from(old);
		uint32_t sw = named(old, names[i]), handle;
		const struct hd_node_spec spec = {.type = HD_SWITCH,
						  .guid = 0x999,
						  .port_count = hd_node_ports(old, sw),
						  .name = "new"};
		assert_int_equal(hd_builder_add_node(builder, &spec, &handle, NULL), 0);
		for (uint32_t port = 1; port <= hd_node_ports(old, sw); port++) {
			uint32_t peer = old->peer[hd_port_index(old, sw, port)];
			hd_builder_unlink(builder, sw, port);
			assert_int_equal(
			    hd_builder_link(builder, handle, port, old->port_node[peer],
					    hd_port_number(old, peer), 4, HD_SPEED_EDR, NULL),
			    0);
		}
		struct labelled replaced = label(built(builder, old), labels);
		assert_int_equal(replaced.rc, 0);
		uint32_t new = named(replaced.fabric, "new");
		uint32_t was = named(intact.fabric, names[i]);
		assert_int_equal(replaced.tree.level[new], intact.tree.level[was]);
		assert_int_equal(replaced.tree.group[new], intact.tree.group[was]);
		assert_int_equal(replaced.tree.first_leaf[new], intact.tree.first_leaf[was]);
		release(&replaced);
	}
	hd_tree_labels_release(labels);
	release(&intact);
}

/* Property: a tree of which a quarter of the switches of a level is missing has labels; one of
 * which more is missing has none. */
static void most_switches_must_be_present(void **state)
{
	(void)state;
	assert_kind(without_switches(generate("xgft", "children=4,8 parents=1,8"), "S1_", 2), NULL,
		    0);
	/* 18 leaves of 36, in pods of 6: three pods are left whole, one has a leaf */
	assert_kind(without_switches(generate("xgft", trees[0]), "S2_0", 4), NULL, 0);
	assert_kind(without_switches(generate("xgft", "children=2,6,6 parents=1,6,6"), "S2_", 14),
		    NULL, HD_TREE_IRREGULAR);
}

/* Property: so with cables. */
static void most_cables_must_be_present(void **state)
{
	(void)state;
	assert_kind(without_links(generate("xgft", trees[0]), 20, 1), NULL, 0);
	assert_kind(without_links(generate("xgft", trees[0]), 30, 1), NULL, HD_TREE_IRREGULAR);
}

static struct hd_fabric *without_hosts(struct hd_fabric *old, uint32_t each)
{
	struct hd_builder *builder = hd_builder_from(old);

	for (uint32_t host = 0; host < old->host_count; host++)
		if (host % each && old->host_switch[host])
			hd_builder_unlink(builder, old->host_switch[host],
					  old->host_switch_port[host]);
	return built(builder, old);
}

/* Property: so with hosts. */
static void most_hosts_must_be_present(void **state)
{
	(void)state;
	assert_kind(without_hosts(generate("xgft", trees[0]), 1), NULL, 0);
	assert_kind(without_hosts(generate("xgft", trees[0]), 2), NULL, HD_TREE_IRREGULAR);
}

/* Property: no labels where a cable joins a spine to a top of other spines: then two switches of a
 * pod would have the same labels. */
static void groups_must_be_apart(void **state)
{
	(void)state;
	assert_kind(recabled(generate("xgft", trees[0]), "S2_0_0", 6, "S3_3_2", 4), NULL,
		    HD_TREE_IRREGULAR);
	/* six spines less: then there are no more spines than five groups have places */
	static const char *const gone[] = {"S2_1_1", "S2_2_2", "S2_3_3",
					   "S2_4_4", "S2_5_5", "S2_1_4"};
	struct hd_fabric *fabric = generate("xgft", trees[0]);
	for (unsigned i = 0; i < 6; i++)
		fabric = without_switches(fabric, gone[i], 1);
	assert_kind(copied(fabric), NULL, 0);
	assert_kind(recabled(fabric, "S2_0_0", 6, "S3_3_2", 3), NULL, HD_TREE_IRREGULAR);
}

/* Property: no labels where hosts are cabled to a switch above the leaves. */
static void hosts_must_be_on_leaves(void **state)
{
	(void)state;
	struct hd_fabric *old = generate("xgft", trees[0]);
	struct hd_builder *builder = hd_builder_from(old);
	uint32_t spine = named(old, "S2_0_0"), host = old->port_node[old->host_port[0]];
	uint8_t port = old->isl_port[old->isl_base[spine] + 6];
	hd_builder_unlink(builder, spine, port);
	hd_builder_unlink(builder, host, 1);
	assert_int_equal(hd_builder_link(builder, host, 1, spine, port, 4, HD_SPEED_EDR, NULL), 0);
	struct hd_fabric *fabric = built(builder, old);
	const struct hd_tree_facts facts = {NULL, NULL};
	struct hd_arena arena = {0};
	struct hd_tree levels;
	struct hd_regular_tree tree;
	assert_int_equal(hd_tree_find(fabric, &facts, 2, &arena, &levels, NULL), 0);
	assert_int_equal(hd_regular_tree_label(fabric, &levels, &arena, &tree), HD_TREE_IRREGULAR);
	hd_arena_release(&arena);
	hd_fabric_free(fabric);
}

/* Property: no earlier labels for a fabric that was cabled otherwise since, or has more parallel
 * cables. */
static void earlier_labels_must_fit(void **state)
{
	(void)state;
	struct labelled intact = label(generate("xgft", trees[0]), NULL);
	struct hd_tree_labels *labels = NULL;
	assert_int_equal(hd_regular_tree_labels(&intact.tree, NULL, &labels), 0);
	assert_kind(recabled(generate("xgft", trees[0]), "S1_0_0", 0, "S2_1_0", 0), labels,
		    HD_TREE_IRREGULAR);
	/* the first leaf's second cable up leads to its first parent as well */
	assert_kind(recabled(generate("xgft", trees[0]), "S1_0_0", 1, "S2_0_0", 1), labels,
		    HD_TREE_IRREGULAR);
	hd_tree_labels_release(labels);
	release(&intact);
}

/* Half of the cables of a switch lead to a second one instead. */
static struct hd_fabric *split(struct hd_fabric *old, const char *name)
{
	struct hd_builder *builder = hd_builder_from(old);
	uint32_t sw = named(old, name), second;
	const struct hd_node_spec spec = {.type = HD_SWITCH, .guid = 0x99, .port_count = 64};

	assert_int_equal(hd_builder_add_node(builder, &spec, &second, NULL), 0);
	for (uint32_t link = old->isl_base[sw]; link < old->isl_base[sw + 1]; link += 2) {
		uint32_t far = old->isl_to[link], port = old->isl_port[link];
		hd_builder_unlink(builder, sw, port);
		assert_int_equal(hd_builder_link(builder, second, port, far,
						 old->isl_port[old->isl_reverse[link]], 4,
						 HD_SPEED_EDR, NULL),
				 0);
	}
	return built(builder, old);
}

/* Property: no labels where two switches have the same place, though no leaf is below both. */
static void places_must_be_apart(void **state)
{
	(void)state;
	static const char *const settings = "children=4,4,4 parents=1,2,4";

	assert_kind(without_switches(generate("xgft", settings), "S2_0_0", 1), NULL, 0);
	assert_kind(split(generate("xgft", settings), "S2_0_0"), NULL, HD_TREE_IRREGULAR);
	assert_kind(split(generate("xgft", "children=4,8 parents=1,4"), "S2_0"), NULL, 0);
}

static uint32_t added(struct hd_builder *builder, enum hd_node_type type, uint32_t ports)
{
	static uint64_t guid = 0x1000;
	const struct hd_node_spec spec = {.type = type, .guid = ++guid, .port_count = ports};
	uint32_t handle = HD_NONE;

	assert_int_equal(hd_builder_add_node(builder, &spec, &handle, NULL), 0);
	return handle;
}

static void join(struct hd_builder *builder, uint32_t a, uint32_t port_a, uint32_t b,
		 uint32_t port_b)
{
	assert_int_equal(hd_builder_link(builder, a, port_a, b, port_b, 4, HD_SPEED_EDR, NULL), 0);
}

/* Two big switches, and `count` small ones with three cables to each of the two. The last `poor`
 * ones have only two. A host is at each of the switches that are leaves. */
static struct hd_fabric *wide(uint32_t count, uint32_t poor, bool small_are_leaves)
{
	struct hd_builder *builder = hd_builder_new();
	uint32_t big[2], port = 1;

	for (unsigned i = 0; i < 2; i++) {
		big[i] = added(builder, HD_SWITCH, 254);
		if (!small_are_leaves)
			join(builder, added(builder, HD_CA, 1), 1, big[i], 1);
	}
	for (uint32_t n = 0; n < count; n++) {
		uint32_t small = added(builder, HD_SWITCH, 7);
		for (uint32_t i = 0; i < (n < count - poor ? 3 : 2); i++) {
			join(builder, small, i + 1, big[0], ++port);
			join(builder, small, i + 4, big[1], port);
		}
		if (small_are_leaves)
			join(builder, added(builder, HD_CA, 1), 1, small, 7);
	}
	hd_builder_assign_lids(builder, 0);
	return built(builder, NULL);
}

/* Property: no labels where a switch of the completed tree has more cables than it can have ports,
 * though all that are there fit. */
static void cables_must_fit_a_switch(void **state)
{
	(void)state;
	for (unsigned small_are_leaves = 0; small_are_leaves < 2; small_are_leaves++) {
		/* 253 of 255 cables, then 253 of 258 */
		assert_kind(wide(85, 2, small_are_leaves), NULL, 0);
		assert_kind(wide(86, 5, small_are_leaves), NULL, HD_TREE_IRREGULAR);
	}
}

/* Property: no labels where no cable joins a level to the one below. */
static void levels_must_be_joined(void **state)
{
	(void)state;
	struct hd_builder *builder = hd_builder_new();
	uint32_t leaf = added(builder, HD_SWITCH, 4);
	join(builder, added(builder, HD_CA, 1), 1, leaf, 1);
	added(builder, HD_SWITCH, 4);
	hd_builder_assign_lids(builder, 0);
	struct hd_fabric *fabric = built(builder, NULL);
	uint8_t level[2] = {0};
	uint32_t component[2] = {0, 1};
	level[fabric->host_switch[0] ? 0 : 1] = 1;
	const struct hd_tree levels = {.level_count = 2, .level = level, .component = component};
	struct hd_arena arena = {0};
	struct hd_regular_tree tree;
	assert_int_equal(hd_regular_tree_label(fabric, &levels, &arena, &tree), HD_TREE_IRREGULAR);
	hd_arena_release(&arena);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(missing_cables_change_no_label),
	    cmocka_unit_test(earlier_labels_stay),
	    cmocka_unit_test(a_new_switch_takes_the_place_of_a_missing_one),
	    cmocka_unit_test(most_switches_must_be_present),
	    cmocka_unit_test(most_cables_must_be_present),
	    cmocka_unit_test(most_hosts_must_be_present),
	    cmocka_unit_test(groups_must_be_apart),
	    cmocka_unit_test(hosts_must_be_on_leaves),
	    cmocka_unit_test(earlier_labels_must_fit),
	    cmocka_unit_test(places_must_be_apart),
	    cmocka_unit_test(cables_must_fit_a_switch),
	    cmocka_unit_test(levels_must_be_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
