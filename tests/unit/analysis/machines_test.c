/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns of machines with several adapters, and what transfers between machines have, against slow ones. */
#include <errno.h>
#include <heddle/base/random.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "testing.h"

#include "oracle_congestion.h"
#include "random_tables.h"

#define FLOWS_MAX 1024

static struct hd_ranks *machine_ranks(const struct hd_fabric *fabric)
{
	struct hd_error err = {""};
	struct hd_ranks *ranks = all_ranks(fabric);
	struct hd_machines *machines = NULL;

	CHECK(hd_machines_find(fabric, HD_MACHINES_AUTO, &machines, &err));
	CHECK(hd_ranks_by_machine(ranks, machines, &err));
	hd_machines_free(machines);
	return ranks;
}

static uint32_t draw(const struct hd_pattern *pattern, const struct hd_ranks *ranks,
		     enum hd_mapping mapping, uint64_t index, uint32_t round, struct hd_flow *flows)
{
	struct hd_error err = {""};
	uint32_t count = 0;

	assert_true(pattern->round_max <= FLOWS_MAX);
	CHECK(hd_pattern_draw(pattern, ranks, mapping, 7, index, round, flows, &count, &err));
	assert_true(count <= pattern->round_max);
	return count;
}

/* "gpu03 mlx5_5": the machine, from 0, and the rail. */
static void place_of(const struct hd_fabric *fabric, uint32_t host, uint32_t *machine,
		     uint32_t *rail)
{
	const char *name = fabric->node_name[fabric->port_node[fabric->host_port[host]]];

	assert_int_equal(sscanf(name, "gpu%u mlx5_%u", machine, rail), 2);
	--*machine;
}

/* ---- ranks ---- */

/* Machines in the order of their first hosts, each in the order of its rails. */
static void ranks_are_put_together_by_machine(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("rail-tree", "machines=5 adapters=3 spines=1");
	struct hd_ranks *ranks = machine_ranks(fabric);
	assert_int_equal(ranks->count, 15);
	assert_int_equal(ranks->adapters, 3);
	assert_int_equal(ranks->other_machines, 0);
	for (uint32_t rank = 0; rank < 15; rank++) {
		uint32_t machine, rail;
		place_of(fabric, ranks->host[rank], &machine, &rail);
		assert_int_equal(machine, rank / 3);
		assert_int_equal(rail, rank % 3);
	}
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
}

/* A machine of which one adapter does not take part is left out. A host file orders machines. */
static void machines_with_another_number_of_ranks_are_left_out(void **state)
{
	static const char text[] = "\"gpu04 mlx5_1\"\n\"gpu02 mlx5_0\"\n\"gpu01 mlx5_0\"\n"
				   "\"gpu04 mlx5_0\"\n\"gpu02 mlx5_1\"\n";
	struct hd_fabric *fabric = generate("rail-tree", "machines=4 adapters=2 spines=1");
	struct hd_machines *machines = NULL;
	struct hd_ranks *ranks = NULL;
	struct hd_error err = {""};

	(void)state;
	CHECK(hd_ranks_parse(fabric, text, sizeof(text) - 1, "hosts", &ranks, &err));
	CHECK(hd_machines_find(fabric, HD_MACHINES_NAME, &machines, &err));
	CHECK(hd_ranks_by_machine(ranks, machines, &err));
	assert_int_equal(ranks->count, 4);
	assert_int_equal(ranks->other_machines, 1);
	static const uint32_t order[][2] = {{3, 0}, {3, 1}, {1, 0}, {1, 1}};
	for (uint32_t rank = 0; rank < 4; rank++) {
		uint32_t machine, rail;
		place_of(fabric, ranks->host[rank], &machine, &rail);
		assert_int_equal(machine, order[rank][0]);
		assert_int_equal(rail, order[rank][1]);
	}
	hd_machines_free(machines);
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
}

/* ---- patterns of other kinds, by machine ---- */

/* Every rail has the same flows between machines, and each machine sends as a rank would. */
static void all_adapters_send_rail_to_rail(void **state)
{
	static const char *const kinds[] = {"bisect", "shift", "ring", "tree", "all-to-all"};
	struct hd_fabric *fabric = generate("rail-tree", "machines=6 adapters=4 spines=2");
	struct hd_ranks *ranks = machine_ranks(fabric);
	struct hd_flow flows[FLOWS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct hd_pattern *pattern = pattern_of(kinds[i], "", ranks);
		assert_int_equal(pattern->ranks, 6);
		for (uint32_t round = 0; round < pattern->rounds; round++) {
			uint32_t count = draw(pattern, ranks, HD_MAP_RANDOM, i, round, flows);
			assert_int_equal(count % 4, 0);
			for (uint32_t k = 0; k < count; k++) {
				uint32_t from, to, first, last, out, in;
				place_of(fabric, flows[k].source, &from, &out);
				place_of(fabric, flows[k].destination, &to, &in);
				place_of(fabric, flows[k - k % 4].source, &first, &(uint32_t){0});
				place_of(fabric, flows[k - k % 4].destination, &last,
					 &(uint32_t){0});
				assert_true(from != to && from == first && to == last);
				assert_true(out == in && out == k % 4);
			}
		}
		hd_pattern_free(pattern);
	}
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
}

static void patterns_of_hosts_and_lone_machines_are_refused(void **state)
{
	struct hd_fabric *fabric = generate("rail-tree", "machines=1 adapters=4 spines=1");
	struct hd_ranks *ranks = machine_ranks(fabric);
	struct hd_pattern *pattern = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(pattern_try("nccl-ring", "", ranks, &pattern, &err), -EINVAL);
	assert_non_null(strstr(err.text, "1 machine, expected 2 or more"));
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
	fabric = generate("rail-tree", "machines=3 adapters=4 spines=1");
	ranks = machine_ranks(fabric);
	assert_int_equal(pattern_try("pairs", "file=none", ranks, &pattern, &err), -EINVAL);
	assert_non_null(strstr(err.text, "its flows name hosts"));
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
}

/* ---- NCCL's patterns ---- */

/* uses[from][to] of one rail, from a round; asserts that nothing crosses rails unless allowed. */
#define MACHINES_MAX 24

struct uses {
	uint32_t flows[MACHINES_MAX][MACHINES_MAX];
};

static void count_uses(const struct hd_fabric *fabric, const struct hd_flow *flows, uint32_t count,
		       struct uses *rails, uint32_t adapters)
{
	memset(rails, 0, adapters * sizeof(*rails));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t from, to, out, in;
		place_of(fabric, flows[i].source, &from, &out);
		place_of(fabric, flows[i].destination, &to, &in);
		assert_int_equal(out, in);
		assert_true(from != to);
		rails[out].flows[from][to]++;
	}
}

static struct hd_fabric *rail_fabric(uint32_t machines, uint32_t adapters)
{
	char settings[80];

	snprintf(settings, sizeof(settings), "machines=%u adapters=%u spines=1", machines,
		 adapters);
	return generate("rail-tree", settings);
}

/* On every rail one ring goes through all machines. */
static void rings_go_through_all_machines_on_each_rail(void **state)
{
	struct hd_flow flows[FLOWS_MAX];
	struct uses rails[5];

	(void)state;
	for (uint32_t machines = 2; machines <= MACHINES_MAX; machines++) {
		struct hd_fabric *fabric = rail_fabric(machines, 5);
		struct hd_ranks *ranks = machine_ranks(fabric);
		struct hd_pattern *pattern = pattern_of("nccl-ring", "", ranks);
		uint32_t count = draw(pattern, ranks, HD_MAP_RANDOM, machines, 0, flows);
		assert_int_equal(count, 5 * machines);
		count_uses(fabric, flows, count, rails, 5);
		for (uint32_t rail = 0; rail < 5; rail++) {
			uint32_t at = 0, steps = 0;
			do {
				uint32_t to = 0;
				while (!rails[rail].flows[at][to])
					to++;
				at = to;
				steps++;
			} while (at && steps <= machines);
			assert_int_equal(steps, machines);
		}
		hd_pattern_free(pattern);
		hd_ranks_free(ranks);
		hd_fabric_free(fabric);
	}
}

/* The binary tree of NCCL drawn from the top: node 0 has one child, the largest power of two; a node
 * with step s has children s/2 below and above it; above, the largest such step that stays inside. */
static void slow_subtree(uint32_t node, uint32_t step, uint32_t nodes, uint32_t *parent)
{
	if (step < 2)
		return;
	parent[node - step / 2] = node;
	slow_subtree(node - step / 2, step / 2, nodes, parent);
	for (uint32_t above = step / 2; above; above /= 2)
		if (node + above < nodes) {
			parent[node + above] = node;
			slow_subtree(node + above, above, nodes, parent);
			break;
		}
}

static void slow_tree(uint32_t nodes, uint32_t *parent)
{
	uint32_t top = 1;

	while (2 * top < nodes)
		top *= 2;
	parent[top] = 0;
	slow_subtree(top, top, nodes, parent);
}

static void assert_trees(uint32_t machines)
{
	struct hd_flow flows[FLOWS_MAX];
	struct uses expected = {{{0}}}, rails[3];
	uint32_t parent[MACHINES_MAX] = {0}, inner[MACHINES_MAX] = {0};
	struct hd_fabric *fabric = rail_fabric(machines, 3);
	struct hd_ranks *ranks = machine_ranks(fabric);
	struct hd_pattern *pattern = pattern_of("nccl-tree", "", ranks);

	slow_tree(machines, parent);
	for (uint32_t node = 1; node < machines; node++)
		for (int second = 0; second < 2; second++) {
			uint32_t a = node, b = parent[node];
			if (second) {
				a = machines % 2 ? (a + 1) % machines : machines - 1 - a;
				b = machines % 2 ? (b + 1) % machines : machines - 1 - b;
			}
			expected.flows[a][b]++;
			expected.flows[b][a]++;
			inner[b] |= 1u << second;
		}
	uint32_t count = draw(pattern, ranks, HD_MAP_IDENTITY, 0, 0, flows);
	count_uses(fabric, flows, count, rails, 3);
	for (uint32_t rail = 0; rail < 3; rail++)
		assert_memory_equal(&rails[rail], &expected, sizeof(expected));
	for (uint32_t i = 0; machines % 2 == 0 && i < machines; i++)
		assert_true(inner[i] == 1 || inner[i] == 2); /* a leaf of the other tree */
	hd_pattern_free(pattern);
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
}

static void trees_are_those_drawn_from_the_top(void **state)
{
	(void)state;
	for (uint32_t machines = 2; machines <= MACHINES_MAX; machines++)
		assert_trees(machines);
}

/* In the illustration of NCCL's trees.cc for 14 nodes, towards the root. */
static void the_tree_is_that_of_the_source(void **state)
{
	static const uint32_t parent[14] = {0, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12};
	struct hd_fabric *fabric = rail_fabric(14, 1);
	struct hd_ranks *ranks = machine_ranks(fabric);
	struct hd_pattern *pattern = pattern_of("nccl-tree", "phase=reduce", ranks);
	struct hd_flow flows[FLOWS_MAX];

	(void)state;
	uint32_t count = draw(pattern, ranks, HD_MAP_IDENTITY, 0, 0, flows);
	assert_int_equal(count, 2 * 13);
	for (uint32_t i = 0; i < count; i += 2) {
		assert_int_equal(flows[i].destination, parent[flows[i].source]);
		assert_int_equal(13 - flows[i + 1].destination, parent[13 - flows[i + 1].source]);
	}
	hd_pattern_free(pattern);
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
}

/* Every pair of adapters of different machines once, without PXN; with it, those of one rail. */
static void assert_all_to_all(const char *settings, bool crosses)
{
	struct hd_flow flows[FLOWS_MAX];
	struct hd_fabric *fabric = rail_fabric(7, 4);
	struct hd_ranks *ranks = machine_ranks(fabric);
	struct hd_pattern *pattern = pattern_of("nccl-all-to-all", settings, ranks);
	uint32_t seen[28][28] = {{0}};

	assert_int_equal(pattern->rounds, crosses ? 24 : 6);
	for (uint32_t round = 0; round < pattern->rounds; round++) {
		uint32_t count = draw(pattern, ranks, HD_MAP_RANDOM, 3, round, flows);
		uint32_t sent[28] = {0}, received[28] = {0};
		assert_int_equal(count, 28);
		for (uint32_t i = 0; i < count; i++) {
			seen[flows[i].source][flows[i].destination]++;
			assert_int_equal(sent[flows[i].source]++, 0);
			assert_int_equal(received[flows[i].destination]++, 0);
		}
	}
	for (uint32_t a = 0; a < 28; a++)
		for (uint32_t b = 0; b < 28; b++) {
			uint32_t from, to, out, in;
			place_of(fabric, a, &from, &out);
			place_of(fabric, b, &to, &in);
			assert_int_equal(seen[a][b], from != to && (crosses || out == in));
		}
	hd_pattern_free(pattern);
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
}

static void all_to_all_meets_all_adapters_once(void **state)
{
	(void)state;
	assert_all_to_all("pxn=no", true);
	assert_all_to_all("", false);
}

/* ---- what transfers between machines have ---- */

/* Two machines may have one transfer in each of two trees. */
#define TRANSFERS 2

/* The least share of each transfer of a round: flow number n of one adapter to one machine belongs to
 * transfer number n of their machines. Returns how many there are. */
static uint64_t slow_round(const struct oracle_congestion *oracle, const struct hd_flow *flows,
			   uint32_t count, uint32_t *load, double *sum)
{
	static double least[TRANSFERS][MACHINES_MAX][MACHINES_MAX];
	uint32_t ports[ORACLE_CONGESTION_HOPS];
	uint64_t transfers = 0;

	memset(least, 0, sizeof(least));
	for (uint32_t i = 0; i < count; i++) {
		int hops = oracle_congestion_path(oracle, flows[i], 0, ports);
		uint32_t most = 1, from, to, rail, number = 0;
		for (int hop = 0; hop < hops; hop++)
			most = load[ports[hop]] > most ? load[ports[hop]] : most;
		place_of(oracle->fabric, flows[i].source, &from, &rail);
		place_of(oracle->fabric, flows[i].destination, &to, &rail);
		for (uint32_t k = 0; k < i; k++) {
			uint32_t other;
			place_of(oracle->fabric, flows[k].destination, &other, &rail);
			number += flows[k].source == flows[i].source && other == to;
		}
		double *place = &least[number][from][to];
		if (hops >= 0 && (!(*place > 0) || 1.0 / most < *place))
			*place = 1.0 / most;
	}
	for (uint32_t i = 0; i < TRANSFERS * MACHINES_MAX * MACHINES_MAX; i++) {
		*sum += (&least[0][0][0])[i];
		transfers += (&least[0][0][0])[i] > 0;
	}
	return transfers;
}

static double slow_mean(const struct hd_congestion_request *request, uint64_t *transfers)
{
	struct oracle_congestion oracle = {.fabric = request->fabric, .routes = request->routes};
	uint32_t *load = calloc(request->fabric->port_count, sizeof(*load));
	uint32_t ports[ORACLE_CONGESTION_HOPS];
	struct hd_flow flows[FLOWS_MAX];
	double sum = 0;

	*transfers = 0;
	for (uint64_t index = 0; index < request->patterns; index++)
		for (uint32_t round = 0; round < request->pattern->rounds; round++) {
			uint32_t count = draw(request->pattern, request->ranks, request->mapping,
					      index, round, flows);
			memset(load, 0, request->fabric->port_count * sizeof(*load));
			for (uint32_t i = 0; i < count; i++) {
				int hops = oracle_congestion_path(&oracle, flows[i], 0, ports);
				for (int hop = 0; hop < hops; hop++)
					load[ports[hop]]++;
			}
			*transfers += slow_round(&oracle, flows, count, load, &sum);
		}
	free(load);
	return sum / (double)*transfers;
}

static void assert_machine_means(uint64_t number)
{
	static const char *const kinds[] = {"bisect",	       "nccl-ring", "nccl-tree",
					    "nccl-all-to-all", "shift",	    "gather"};
	uint64_t random = number, transfers;
	char settings[100];
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;

	snprintf(settings, sizeof(settings),
		 "groups=%u machines=%u adapters=%u spines=2 uplinks=%u",
		 1 + (unsigned)(number % 3), 2 + (unsigned)(number % 4), 1 + (unsigned)(number % 5),
		 2 + 2 * (unsigned)(number % 2));
	struct hd_fabric *fabric = generate("rail-tree", settings);
	struct hd_routes *routes = random_tables(fabric, &random, number % 4 == 0);
	struct hd_ranks *ranks = machine_ranks(fabric);
	struct hd_pattern *pattern =
	    pattern_of(kinds[number % 6], number % 6 == 3 ? "pxn=no" : "", ranks);
	const struct hd_congestion_request request = {.fabric = fabric,
						      .routes = routes,
						      .ranks = ranks,
						      .pattern = pattern,
						      .mapping = HD_MAP_RANDOM,
						      .seed = 7,
						      .patterns = 5,
						      .threads = 2};
	double expected = slow_mean(&request, &transfers);
	CHECK(hd_congestion_run(&request, &report, &err));
	if (ranks->adapters > 1) {
		assert_int_equal(report->machine_routes, transfers);
		assert_true(fabs(report->machine_mean - expected) < 1e-7);
		assert_true(report->machine_mean <= report->mean + 1e-9 || report->broken);
	} else {
		assert_int_equal(report->machine_routes, 0);
	}
	hd_congestion_report_free(report);
	hd_pattern_free(pattern);
	hd_ranks_free(ranks);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void transfers_have_what_the_slowest_rail_has(void **state)
{
	(void)state;
	for (uint64_t number = 1; number <= 240; number++)
		assert_machine_means(number);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranks_are_put_together_by_machine),
	    cmocka_unit_test(machines_with_another_number_of_ranks_are_left_out),
	    cmocka_unit_test(all_adapters_send_rail_to_rail),
	    cmocka_unit_test(patterns_of_hosts_and_lone_machines_are_refused),
	    cmocka_unit_test(rings_go_through_all_machines_on_each_rail),
	    cmocka_unit_test(trees_are_those_drawn_from_the_top),
	    cmocka_unit_test(the_tree_is_that_of_the_source),
	    cmocka_unit_test(all_to_all_meets_all_adapters_once),
	    cmocka_unit_test(transfers_have_what_the_slowest_rail_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
