/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast trees: whoever sends, every other member gets the packet once and nobody else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"

#include <errno.h>
#include <heddle/engines/multicast.h>

#define FAR 1000000u

static struct hd_multicast *planner(const struct hd_fabric *fabric, const bool *forwards)
{
	struct hd_multicast *multicast = NULL;
	struct hd_error err;
	assert_int_equal(hd_multicast_new(fabric, forwards, &multicast, &err), 0);
	return multicast;
}

static struct hd_multicast_tree *plan(struct hd_multicast *multicast, const uint32_t *members,
				      uint32_t count, uint32_t source)
{
	struct hd_multicast_group group = {members, count, source};
	struct hd_multicast_tree *tree = NULL;
	struct hd_error err;
	assert_int_equal(hd_multicast_plan(multicast, &group, &tree, &err), 0);
	return tree;
}

static const struct hd_multicast_branch *branch_at(const struct hd_multicast_tree *tree,
						   uint32_t sw)
{
	for (uint32_t i = 0; i < tree->branch_count; i++)
		if (tree->branches[i].sw == sw)
			return &tree->branches[i];
	return NULL;
}

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

/* Copies that each port gets of a packet; only switches with a table entry pass it on. */
struct flood {
	const struct hd_fabric *fabric;
	const struct hd_multicast_tree *tree;
	uint32_t *copies; /* by port index: ports of hosts, port 0 of switches */
	uint32_t *visits; /* by switch */
};

static void arrive(struct flood *flood, uint32_t sw, uint32_t by)
{
	const struct hd_multicast_branch *branch = branch_at(flood->tree, sw);
	assert_non_null(branch);
	assert_int_equal(++flood->visits[sw], 1); /* else a loop */
	for (uint32_t port = 0; port <= hd_node_ports(flood->fabric, sw); port++) {
		uint32_t index = hd_port_index(flood->fabric, sw, port), peer;
		if (port == by || !hd_multicast_has_port(branch, port))
			continue;
		peer = port ? flood->fabric->peer[index] : index;
		assert_int_not_equal(peer, HD_NONE);
		if (port && hd_is_switch(flood->fabric, flood->fabric->port_node[peer]))
			arrive(flood, flood->fabric->port_node[peer],
			       hd_port_number(flood->fabric, peer));
		else
			flood->copies[peer]++;
	}
}

/* Where a member's packets come in: its switch, and the port there. */
static uint32_t entrance(const struct hd_fabric *fabric, uint32_t member, uint32_t *port)
{
	uint32_t end =
	    hd_is_switch(fabric, fabric->port_node[member]) ? member : fabric->peer[member];
	*port = hd_port_number(fabric, end);
	return fabric->port_node[end];
}

static void assert_delivered(const struct hd_fabric *fabric, const struct hd_multicast_tree *tree,
			     const uint32_t *members, uint32_t count, uint32_t sender)
{
	struct flood flood = {fabric, tree, calloc(fabric->port_count, sizeof(uint32_t)),
			      calloc(fabric->switch_count, sizeof(uint32_t))};
	uint32_t port, sw = entrance(fabric, sender, &port), visited = 0;
	arrive(&flood, sw, port);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(flood.copies[members[i]], members[i] != sender);
		flood.copies[members[i]] = 0;
	}
	for (uint32_t i = 0; i < fabric->port_count; i++)
		assert_int_equal(flood.copies[i], 0); /* nobody else */
	for (sw = 0; sw < fabric->switch_count; sw++)
		visited += flood.visits[sw];
	assert_int_equal(visited, tree->branch_count);
	free(flood.visits);
	free(flood.copies);
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

/* Property: on all kinds of fabrics, whoever sends, each other member gets one copy, no switch
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

/* Property: trees go around switches that cannot do multicast. */
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

/* Property: groups over all hosts of a full tree take its spines in turn, with and without a
 * source, and parallel links too; loads are exact and can be taken away again. */
static void groups_spread(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,6 parents=1,4 parallel=1,2");
	(void)state;
	/* 6 leaves, 4 spines, two cables between any of them: 16 groups, 8 ways to each leaf. */
	assert_int_equal(spread(fabric, fabric->host_port, fabric->host_count, HD_NONE, 16), 2);
	assert_int_equal(
	    spread(fabric, fabric->host_port, fabric->host_count, fabric->host_port[0], 16), 2);
	hd_fabric_free(fabric);
	/* 16 top switches: each leaf has 4 links upwards, so 16 groups share them by four. */
	fabric = generate("xgft", "children=4,4,4 parents=1,4,4");
	assert_int_equal(spread(fabric, fabric->host_port, fabric->host_count, HD_NONE, 16), 4);
	hd_fabric_free(fabric);
}

/* Property: a tree is no larger than it must be: members of one leaf need that leaf alone, one
 * host of each leaf below one middle switch need no top switch. */
static void small_trees(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,4,4 parents=1,4,4");
	struct hd_multicast *multicast = planner(fabric, NULL);
	uint32_t near[] = {fabric->host_port[0], fabric->host_port[1]};
	uint32_t pod[] = {fabric->host_port[0], fabric->host_port[4], fabric->host_port[8]};
	struct hd_multicast_tree *tree = plan(multicast, near, 2, HD_NONE);
	(void)state;
	assert_int_equal(tree->branch_count, 1);
	free(tree);
	tree = plan(multicast, pod, 3, HD_NONE);
	assert_int_equal(tree->branch_count, 4);
	free(tree);
	tree = plan(multicast, pod, 3, pod[0]);
	assert_int_equal(tree->branch_count, 4);
	free(tree);
	hd_multicast_free(multicast);
	hd_fabric_free(fabric);
}

static void add_node(struct hd_builder *builder, enum hd_node_type type, uint64_t guid,
		     uint32_t ports)
{
	struct hd_node_spec spec = {.type = type, .guid = guid, .port_count = ports};
	uint32_t handle;
	assert_int_equal(hd_builder_add_node(builder, &spec, &handle, NULL), 0);
	assert_int_equal(handle, guid - 1);
}

/* Property: the switch that can be the parent of the most is taken.
 *
 *          root          a reaches all three leaves, b reaches x and z, c reaches y:
 *        /  |  \         one parent is enough.
 *       b   c   a
 *      / \  |  /|\
 *     x   z y x y z
 */
static void fewest_parents(void **state)
{
	enum { ROOT, B, C, A, X, Y, Z, FIRST_HOST, NODES = FIRST_HOST + 4 };
	static const uint8_t cables[][2] = {{ROOT, A}, {ROOT, B}, {ROOT, C}, {A, X}, {A, Y},
					    {A, Z},    {B, X},	  {B, Z},    {C, Y}};
	struct hd_builder *builder = hd_builder_new();
	uint32_t used[FIRST_HOST] = {0};
	struct hd_fabric *fabric = NULL;
	(void)state;
	for (uint32_t node = 0; node < NODES; node++)
		add_node(builder, node < FIRST_HOST ? HD_SWITCH : HD_CA, node + 1,
			 node < FIRST_HOST ? 8 : 1);
	for (size_t i = 0; i < sizeof(cables) / sizeof(*cables); i++)
		assert_int_equal(hd_builder_link(builder, cables[i][0], ++used[cables[i][0]],
						 cables[i][1], ++used[cables[i][1]], 4,
						 HD_SPEED_EDR, NULL),
				 0);
	for (uint32_t host = 0; host < 4; host++) {
		uint32_t leaf = host ? X + host - 1 : ROOT;
		assert_int_equal(hd_builder_link(builder, leaf, ++used[leaf], FIRST_HOST + host, 1,
						 4, HD_SPEED_EDR, NULL),
				 0);
	}
	assert_int_equal(hd_builder_build(builder, &fabric, NULL), 0);
	hd_builder_free(builder);
	struct hd_multicast *multicast = planner(fabric, NULL);
	struct hd_multicast_tree *tree =
	    plan(multicast, fabric->host_port, 4, hd_port_index(fabric, FIRST_HOST, 1));
	assert_int_equal(tree->branch_count, 5);
	assert_int_equal(tree->branches[0].sw, ROOT);
	assert_non_null(branch_at(tree, A));
	free(tree);
	hd_multicast_free(multicast);
	hd_fabric_free(fabric);
}

/* Property: fewer than two ends need no tree, a lone member and a source elsewhere do. */
static void few_members(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,2");
	struct hd_multicast *multicast = planner(fabric, NULL);
	uint32_t first = fabric->host_port[0], last = fabric->host_port[15];
	uint32_t twice[] = {first, first};
	struct hd_multicast_tree *tree = plan(multicast, NULL, 0, HD_NONE);
	(void)state;
	assert_int_equal(tree->branch_count, 0);
	free(tree);
	tree = plan(multicast, twice, 2, HD_NONE);
	assert_int_equal(tree->branch_count, 0);
	free(tree);
	tree = plan(multicast, &first, 1, first);
	assert_int_equal(tree->branch_count, 0);
	free(tree);
	tree = plan(multicast, &first, 1, last);
	assert_int_equal(tree->branch_count, 3);
	assert_delivered(fabric, tree, &first, 1, last);
	free(tree);
	hd_multicast_free(multicast);
	hd_fabric_free(fabric);
}

/* Property: where the fabric is in parts the most members are served and the rest counted. */
static void members_out_of_reach(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,2");
	bool *forwards = malloc(fabric->switch_count);
	struct hd_multicast *multicast;
	struct hd_multicast_tree *tree;
	(void)state;
	memset(forwards, true, fabric->switch_count);
	for (uint32_t link = fabric->isl_base[fabric->host_switch[0]];
	     link < fabric->isl_base[fabric->host_switch[0] + 1]; link++)
		forwards[fabric->isl_to[link]] = false; /* every spine */
	multicast = planner(fabric, forwards);
	/* three on the last leaf, two on the first */
	tree = plan(multicast,
		    (const uint32_t[]){fabric->host_port[0], fabric->host_port[1],
				       fabric->host_port[12], fabric->host_port[13],
				       fabric->host_port[14]},
		    5, HD_NONE);
	assert_int_equal(tree->branch_count, 1);
	assert_int_equal(tree->branches[0].sw, fabric->host_switch[12]);
	assert_int_equal(tree->left_out, 2);
	assert_delivered(fabric, tree, fabric->host_port + 12, 3, fabric->host_port[12]);
	free(tree);
	/* a switch that cannot do multicast cannot be a member either */
	tree = plan(
	    multicast,
	    (const uint32_t[]){hd_port_index(fabric, fabric->isl_to[0], 0), fabric->host_port[0]},
	    2, HD_NONE);
	assert_int_equal(tree->branch_count, 0);
	hd_multicast_free(multicast);
	free(tree);
	free(forwards);
	hd_fabric_free(fabric);
}

/* Property: a port that the fabric does not have is refused by name and leaves nothing behind. */
static void bad_ports(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,2");
	struct hd_multicast *multicast = planner(fabric, NULL);
	uint32_t members[] = {fabric->host_port[0], fabric->port_count};
	struct hd_multicast_group group = {members, 2, HD_NONE};
	struct hd_multicast_tree *tree = NULL;
	struct hd_error err = {""};
	(void)state;
	assert_int_equal(hd_multicast_plan(multicast, &group, &tree, &err), -EINVAL);
	assert_null(tree);
	assert_non_null(strstr(err.text, "member port"));
	group = (struct hd_multicast_group){members, 1, fabric->port_count};
	assert_int_equal(hd_multicast_plan(multicast, &group, &tree, &err), -EINVAL);
	assert_non_null(strstr(err.text, "source port"));
	tree = plan(multicast, &fabric->host_port[15], 1, HD_NONE);
	assert_int_equal(tree->branch_count, 0); /* and not joined by the first host */
	free(tree);
	hd_multicast_free(multicast);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_groups),	    cmocka_unit_test(switches_without_multicast),
	    cmocka_unit_test(groups_spread),	    cmocka_unit_test(small_trees),
	    cmocka_unit_test(fewest_parents),	    cmocka_unit_test(few_members),
	    cmocka_unit_test(members_out_of_reach), cmocka_unit_test(bad_ports),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
