/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast trees: whichever member sends, each other member gets the packet once, and no other
 * port. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "multicast_testing.h"

#define FAR 1000000u

/* The slow distances: every link relaxed until nothing gets shorter. */
static uint32_t *distances_from(const struct hd_fabric *fabric, const bool *forwards, uint32_t from)
{
	uint32_t *distance = malloc(fabric->switch_count * sizeof(*distance));
	bool shorter = true;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		distance[sw] = sw == from && forwards[from] ? 0 : FAR;
	while (shorter) {
		shorter = false;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
			     link++) {
				uint32_t to = fabric->isl_to[link];
				if (!forwards[to] || distance[sw] + 1 >= distance[to])
					continue;
				distance[to] = distance[sw] + 1;
				shorter = true;
			}
	}
	return distance;
}

static void assert_shortest(const struct hd_fabric *fabric, const bool *forwards,
			    const struct hd_multicast_tree *tree)
{
	uint32_t *distance = distances_from(fabric, forwards, tree->branches[0].sw);

	assert_int_equal(tree->branches[0].uplink, HD_NONE);
	for (uint32_t i = 1; i < tree->branch_count; i++) {
		uint32_t sw = tree->branches[i].sw, up = tree->branches[i].uplink;
		assert_true(up >= fabric->isl_base[sw] && up < fabric->isl_base[sw + 1]);
		assert_int_equal(distance[sw], distance[fabric->isl_to[up]] + 1);
	}
	free(distance);
}

/* No other switch is nearer to the farthest member, or as near and nearer in sum. */
static void assert_centre(const struct hd_fabric *fabric, const bool *forwards,
			  const uint32_t *members, uint32_t count, uint32_t root)
{
	uint32_t *farthest = calloc(fabric->switch_count, sizeof(*farthest));
	uint32_t *sum = calloc(fabric->switch_count, sizeof(*sum));
	bool *seen = calloc(fabric->switch_count, sizeof(*seen));

	for (uint32_t i = 0; i < count; i++) {
		uint32_t port, at = entrance(fabric, members[i], &port);
		uint32_t *distance;
		if (seen[at])
			continue;
		seen[at] = true;
		distance = distances_from(fabric, forwards, at);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			farthest[sw] = farthest[sw] > distance[sw] ? farthest[sw] : distance[sw];
			sum[sw] += distance[sw];
		}
		free(distance);
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		assert_true(farthest[root] <= farthest[sw]);
		if (farthest[root] == farthest[sw])
			assert_true(sum[root] <= sum[sw]);
	}
	free(seen);
	free(sum);
	free(farthest);
}

/* Distinct random members: hosts, and now and then a switch. Only such at switches that forward. */
static uint32_t draw_members(const struct hd_fabric *fabric, const bool *forwards, uint64_t *random,
			     uint32_t wanted, uint32_t *members)
{
	uint32_t count = 0;

	for (uint32_t tries = 0; count < wanted && tries < 20 * wanted; tries++) {
		bool host = hd_random_below(random, 8);
		uint32_t at = (uint32_t)hd_random_below(random, host ? fabric->host_count
								     : fabric->switch_count);
		uint32_t member = host ? fabric->host_port[at] : hd_port_index(fabric, at, 0);
		bool fresh = forwards[host ? fabric->host_switch[at] : at];
		for (uint32_t i = 0; i < count; i++)
			fresh = fresh && members[i] != member;
		if (fresh)
			members[count++] = member;
	}
	return count;
}

static void assert_same(const struct hd_multicast_tree *a, const struct hd_multicast_tree *b)
{
	assert_int_equal(a->branch_count, b->branch_count);
	assert_memory_equal(a->branches, b->branches, a->branch_count * sizeof(*a->branches));
}

static void reverse(uint32_t *members, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		uint32_t other = members[count - 1 - i];
		members[count - 1 - i] = members[i];
		members[i] = other;
	}
}

/* One random group on a connected fabric. */
static void assert_group(const struct hd_fabric *fabric, const bool *forwards,
			 struct hd_multicast *multicast, uint64_t *random)
{
	uint32_t members[64], port;
	uint32_t wanted = 2 + (uint32_t)hd_random_below(random, 40);
	uint32_t count = draw_members(fabric, forwards, random, wanted, members);
	uint32_t source = hd_random_below(random, 2) ? members[0] : HD_NONE;
	struct hd_multicast_tree *tree = plan(multicast, members, count, source), *again;

	assert_int_equal(tree->left_out, 0);
	assert_true(tree->branch_count);
	for (uint32_t i = 0; i < count; i++)
		assert_delivered(fabric, tree, members, count, members[i]);
	assert_shortest(fabric, forwards, tree);
	if (source != HD_NONE)
		assert_int_equal(tree->branches[0].sw, entrance(fabric, source, &port));
	else
		assert_centre(fabric, forwards, members, count, tree->branches[0].sw);
	reverse(members, count);
	again = plan(multicast, members, count, source);
	assert_same(tree, again);
	hd_multicast_add(multicast, tree);
	free(again);
	free(tree);
}

static const struct {
	const char *generator, *options;
} kinds[] = {
    {"xgft", "children=4,4,4 parents=1,2,3"},
    {"xgft", "children=4,6 parents=1,2 parallel=1,2"},
    {"torus", "dims=4,4,3"},
    {"irregular", "switches=30 radix=8 seed=7"},
    {"irregular", "switches=12 radix=6 seed=3"},
    {"dragonfly-plus", "islands=3 leaves=4 spines=4 hosts=3 global-links=1"},
};

static bool is_connected(const struct hd_fabric *fabric, const bool *forwards)
{
	uint32_t from = 0;
	uint32_t *distance;
	bool connected = true;

	while (!forwards[from])
		from++;
	distance = distances_from(fabric, forwards, from);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		connected = connected && (distance[sw] < FAR || !forwards[sw]);
	free(distance);
	return connected;
}

/* Property: on all kinds of fabrics, each member gets one copy of what another sends, no switch
 * meets a packet twice and nobody else gets one; paths from the root are shortest, the root is
 * the source's switch or a centre, and the order of members changes nothing. */
static void random_groups(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		struct hd_fabric *fabric;
		struct hd_multicast *multicast;
		bool *forwards;
		fabric = generate(kinds[kind].generator, kinds[kind].options);
		forwards = malloc(fabric->switch_count);
		memset(forwards, true, fabric->switch_count);
		multicast = planner(fabric, NULL);
		for (unsigned i = 0; i < 20; i++)
			assert_group(fabric, forwards, multicast, &random);
		hd_multicast_free(multicast);
		free(forwards);
		hd_fabric_free(fabric);
	}
}

/* Property: trees avoid switches that do not support multicast. */
static void switches_without_multicast(void **state)
{
	struct hd_fabric *fabric = generate("torus", "dims=4,4,3");
	bool *forwards = malloc(fabric->switch_count);
	uint64_t random = 5;
	unsigned tried = 0;

	(void)state;
	while (tried < 10) {
		struct hd_multicast *multicast;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			forwards[sw] = hd_random_below(&random, 5);
		if (!is_connected(fabric, forwards))
			continue;
		tried++;
		multicast = planner(fabric, forwards);
		for (unsigned i = 0; i < 4; i++)
			assert_group(fabric, forwards, multicast, &random);
		hd_multicast_free(multicast);
	}
	free(forwards);
	hd_fabric_free(fabric);
}

/* Highest load of a link, and the sum of all. */
static uint32_t peak_load(const struct hd_fabric *fabric, const struct hd_multicast *multicast,
			  uint64_t *sum)
{
	uint32_t peak = 0;

	*sum = 0;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t load = hd_multicast_load(multicast, link);
		peak = load > peak ? load : peak;
		*sum += load;
	}
	return peak;
}

/* Plans `groups` groups of the same members one after the other; returns the highest load. */
static uint32_t spread(const struct hd_fabric *fabric, const uint32_t *members, uint32_t count,
		       uint32_t source, unsigned groups)
{
	struct hd_multicast *multicast = planner(fabric, NULL);
	struct hd_multicast_tree **trees = calloc(groups, sizeof(*trees));
	uint64_t sum, expected = 0;
	uint32_t peak;

	for (unsigned i = 0; i < groups; i++) {
		trees[i] = plan(multicast, members, count, source);
		hd_multicast_add(multicast, trees[i]);
		expected += (trees[i]->branch_count - 1) * (source == HD_NONE ? 2u : 1u);
	}
	peak = peak_load(fabric, multicast, &sum);
	assert_int_equal(sum, expected);
	for (unsigned i = 0; i < groups; i++) {
		hd_multicast_remove(multicast, trees[i]);
		free(trees[i]);
	}
	assert_int_equal(peak_load(fabric, multicast, &sum), 0);
	assert_int_equal(sum, 0);
	free(trees);
	hd_multicast_free(multicast);
	return peak;
}

/* Property: groups over all hosts of an intact tree use its spines round robin, with and without a
 * source, and parallel links too. Loads are exact and can be removed again. */
static void groups_spread(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,6 parents=1,4 parallel=1,2");

	(void)state;
	/* 6 leaves, 4 spines, two cables between any of them: 16 groups, 8 paths to each leaf. */
	assert_int_equal(spread(fabric, fabric->host_port, fabric->host_count, HD_NONE, 16), 2);
	assert_int_equal(
	    spread(fabric, fabric->host_port, fabric->host_count, fabric->host_port[0], 16), 2);
	hd_fabric_free(fabric);
	/* 16 top switches: each leaf has 4 links upwards, so 16 groups share them by four. */
	fabric = generate("xgft", "children=4,4,4 parents=1,4,4");
	assert_int_equal(spread(fabric, fabric->host_port, fabric->host_count, HD_NONE, 16), 4);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_groups),
	    cmocka_unit_test(switches_without_multicast),
	    cmocka_unit_test(groups_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
