/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dmodk on trees from which something is missing, entry for entry against its definition. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "oracle_dmodk_damaged.h"

#include <errno.h>
#include <heddle/fabric/regular_tree.h>

struct tally {
	unsigned routed, refused, unlabelled;
	uint64_t entries, holes;
};

static bool has_places(const struct hd_regular_tree *tree)
{
	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++)
		if (tree->group[sw] == HD_NONE)
			return false;
	return true;
}

/* True when a leaf with hosts has a path to another one, but no legal path. Then the engine tries
 * trees with other leaves. */
static bool is_cut(const struct hd_regular_tree *tree)
{
	const struct hd_fabric *fabric = tree->fabric;
	bool cut = false;

	for (uint32_t to = 0; to < fabric->switch_count; to++) {
		struct oracle_dmodk_damaged oracle;
		if (fabric->host_base[to] == fabric->host_base[to + 1])
			continue;
		oracle_dmodk_damaged_find(&oracle, tree, to);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			cut |= fabric->host_base[sw] < fabric->host_base[sw + 1] &&
			       !oracle.legal[sw] &&
			       (oracle.climbs[sw] || oracle.rest[sw] != HD_NO_PORT);
		oracle_dmodk_damaged_free(&oracle);
	}
	return cut;
}

static void compare_lids(const struct oracle_dmodk_damaged *oracle, const struct hd_routes *routes,
			 uint32_t port, uint32_t host, const char *recipe, struct tally *tally)
{
	const struct hd_fabric *fabric = oracle->tree->fabric;

	for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint32_t lid = fabric->lid[port] + offset;
			if (sw == oracle->to)
				continue;
			uint8_t expected = oracle_dmodk_damaged_port(oracle, sw, host, offset);
			tally->entries++;
			tally->holes += expected == HD_NO_PORT;
			if (hd_routes_port(routes, sw, lid) != expected)
				fail_msg("%s: '%s' (level %u) for LID %u of '%s': port %u, not %u",
					 recipe, fabric->node_name[sw], oracle->tree->level[sw],
					 lid, fabric->node_name[oracle->to],
					 hd_routes_port(routes, sw, lid), expected);
		}
}

static void compare_tables(const struct hd_regular_tree *tree, const struct hd_routes *routes,
			   const char *recipe, struct tally *tally)
{
	const struct hd_fabric *fabric = tree->fabric;

	for (uint32_t to = 0; to < fabric->switch_count; to++) {
		struct oracle_dmodk_damaged oracle;
		oracle_dmodk_damaged_find(&oracle, tree, to);
		compare_lids(&oracle, routes, fabric->port_base[to], HD_NONE, recipe, tally);
		for (uint32_t host = fabric->host_base[to]; host < fabric->host_base[to + 1];
		     host++)
			compare_lids(&oracle, routes, fabric->host_port[host], host, recipe, tally);
		oracle_dmodk_damaged_free(&oracle);
	}
}

/* Routes, and compares where the tree has labels. */
static void try_fabric(const struct hd_fabric *fabric, const char *recipe, struct tally *tally)
{
	const struct hd_tree_facts facts = {NULL, NULL};
	struct hd_route_request request = {.fabric = fabric, .threads = 2};
	struct hd_arena arena = {0};
	struct hd_tree levels;
	struct hd_regular_tree tree;
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	int rc = route_try("dmodk", "", &request, &routes, &err);

	if (rc) {
		assert_int_equal(rc, -ENOTSUP);
		tally->refused++;
	} else if (hd_tree_find(fabric, &facts, 1, &arena, &levels, &err) ||
		   hd_regular_tree_label(fabric, &levels, &arena, &tree) || !has_places(&tree) ||
		   is_cut(&tree)) {
		tally->unlabelled++;
	} else {
		compare_tables(&tree, routes, recipe, tally);
		tally->routed++;
	}
	hd_routes_free(routes);
	hd_arena_release(&arena);
}

static const char *const trees[] = {
    "children=3,3,3 parents=1,3,3",
    "children=4,4,4 parents=1,2,2",
    "children=2,6 parents=1,4",
    "children=4,6 parents=1,2 parallel=1,2",
    "children=3,3,3 parents=1,3,3 parallel=1,1,2",
    "children=2,2,3,2 parents=1,2,2,2",
    "children=3,4,3 parents=1,2,4 parallel=1,2,1",
};

#define TREES (sizeof(trees) / sizeof(trees[0]))

/* One to three switches missing, of any level. */
static struct hd_fabric *with_switches_removed(struct hd_fabric *old, uint64_t *seed)
{
	bool *gone = calloc(old->node_count, sizeof(*gone));

	for (unsigned i = pick(seed, 1, 3); i > 0; i--)
		gone[hd_random_below(seed, old->switch_count)] = true;
	struct hd_fabric *fabric = retold(old, &(struct retelling){.gone = gone});
	free(gone);
	return fabric;
}

/* Switches without hosts lose their LIDs: nothing is routed to them. */
static struct hd_fabric *without_spine_lids(struct hd_fabric *old)
{
	bool *unrouted = calloc(old->node_count, sizeof(*unrouted));

	for (uint32_t sw = 0; sw < old->switch_count; sw++)
		unrouted[sw] = old->host_base[sw] == old->host_base[sw + 1];
	struct hd_fabric *fabric = retold(old, &(struct retelling){.unrouted = unrouted});
	free(unrouted);
	return fabric;
}

/* Property: each entry is the first cable of its order of preference that leads to the destination,
 * whatever is missing, with any LMC. */
static void entries_are_those_of_the_definition(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (uint64_t number = 0; number < 1400; number++) {
		uint64_t seed = number * 0x9E3779B97F4A7C15u + 1;
		const char *settings = trees[number % TREES];
		struct hd_fabric *fabric =
		    with_lmc(generate("xgft", settings), (unsigned)(number % 3));
		char recipe[120];
		snprintf(recipe, sizeof(recipe), "%s number %" PRIu64, settings, number);
		if (pick(&seed, 0, 2) == 0)
			fabric = with_switches_removed(fabric, &seed);
		if (pick(&seed, 0, 3))
			fabric = with_links_removed(fabric, pick(&seed, 1, 15), number);
		if (pick(&seed, 0, 3) == 0)
			fabric = with_hosts_removed(fabric, 8, number);
		if (pick(&seed, 0, 3) == 0)
			fabric = without_spine_lids(fabric);
		try_fabric(fabric, recipe, &tally);
		hd_fabric_free(fabric);
	}
	print_message("%u compared, %u refused, %u without labels; %" PRIu64 " entries, %" PRIu64
		      " of them holes\n",
		      tally.routed, tally.refused, tally.unlabelled, tally.entries, tally.holes);
	assert_true(tally.routed > 800);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(entries_are_those_of_the_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
