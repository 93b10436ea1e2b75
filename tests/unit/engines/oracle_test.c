/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fast engines' tables are byte for byte what the slow oracles give; lanes_test.c has the
 * service levels. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cases.h"
#include "engines_testing.h"
#include "oracle_balance.h"
#include "oracle_dmodk.h"
#include "oracle_hops.h"
#include "oracle_tree.h"
#include "oracle_walk.h"

#include <errno.h>
#include <math.h>

#define FABRICS CASES(720u, 180u)

static const char *const balances[] = {"loads", "conflicts"};

/* Compares and frees `fast`, and the oracle's answer to the plan. */
static void assert_same(const struct oracle_balance_plan *plan, struct hd_routes *fast,
			const char *recipe)
{
	struct hd_routes *slow = oracle_balance_route(plan);

	assert_non_null(slow);
	if (hd_routes_count_changes(fast, slow))
		fail_msg("%s %s on %s: %" PRIu64 " entries differ from the oracle's", fast->engine,
			 fast->options, recipe, hd_routes_count_changes(fast, slow));
	hd_routes_free(slow);
	hd_routes_free(fast);
}

struct scratch {
	uint32_t *level;
	bool *flag;
	uint8_t *up;
};

static struct scratch scratch_new(const struct hd_fabric *fabric)
{
	return (struct scratch){calloc(fabric->switch_count, sizeof(uint32_t)),
				calloc(fabric->switch_count, sizeof(bool)),
				calloc(fabric->isl_count + 1, 1)};
}

static void scratch_free(struct scratch *scratch)
{
	free(scratch->level);
	free(scratch->flag);
	free(scratch->up);
}

static void direct_from(struct scratch *scratch, const struct hd_fabric *fabric, uint32_t root)
{
	memset(scratch->flag, 0, fabric->switch_count * sizeof(*scratch->flag));
	scratch->flag[root] = true;
	oracle_tree_ranks(fabric, scratch->flag, scratch->level);
	oracle_tree_direct(fabric, scratch->level, scratch->up);
}

/* Marks the climbing links of the tree whose leaves have *least hosts or more; false: none. */
static bool direct_tree(struct scratch *scratch, const struct hd_fabric *fabric,
			const bool *is_compute, uint32_t *least)
{
	uint32_t found = oracle_tree_levels(fabric, is_compute, *least, scratch->level);

	if (!found)
		return false;
	uint32_t *rank = calloc(fabric->switch_count, sizeof(*rank));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		rank[sw] = fabric->switch_count - scratch->level[sw];
	oracle_tree_direct(fabric, rank, scratch->up);
	free(rank);
	*least = found + 1;
	return true;
}

/* True when each leaf with hosts has a way up and down to every other of its component. */
static bool leaves_meet(const struct scratch *scratch, const struct hd_fabric *fabric)
{
	struct hd_arena arena = {0};
	struct oracle_hops hops;
	uint32_t *steps = calloc(fabric->switch_count, sizeof(*steps));
	bool meet = oracle_hops_init(&hops, fabric, &arena);

	for (uint32_t destination = 0; destination < fabric->switch_count; destination++) {
		memset(scratch->flag, 0, fabric->switch_count * sizeof(*scratch->flag));
		scratch->flag[destination] = true;
		oracle_tree_steps(fabric, scratch->flag, steps);
		oracle_hops_legal(&hops, fabric, scratch->up, 0, false, destination);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (!scratch->level[destination] && !scratch->level[sw] &&
			    steps[sw] != HD_NONE &&
			    fabric->host_base[sw] < fabric->host_base[sw + 1])
				meet &= hops.distance[sw] != HD_NONE;
	}
	free(steps);
	hd_arena_release(&arena);
	return meet;
}

/* dmodk by counters, slowly: over the first tree whose leaves meet and whose tables have no
 * credit loop; patched tables that have one are made afresh. NULL: no such tree. */
static struct hd_routes *dmodk_slowly(struct oracle_balance_plan plan, struct scratch *scratch,
				      const bool *is_compute)
{
	const struct hd_routes *previous = plan.previous;

	plan.up = scratch->up;
	for (uint32_t least = 1; direct_tree(scratch, plan.fabric, is_compute, &least);) {
		if (!leaves_meet(scratch, plan.fabric))
			continue;
		for (int afresh = 0; afresh <= (previous != NULL); afresh++) {
			plan.previous = afresh ? NULL : previous;
			struct hd_routes *routes = oracle_balance_route(&plan);
			struct hd_check_report *report = check(plan.fabric, routes);
			bool loops = report->credit_loops;
			hd_check_report_free(report);
			if (!loops)
				return routes;
			hd_routes_free(routes);
		}
	}
	return NULL;
}

/* Whether hosts at a switch have no entry for a host of their component. */
static bool has_gap(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t *steps = calloc(fabric->switch_count, sizeof(*steps));
	bool *start = calloc(fabric->switch_count, sizeof(*start)), gap = false;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		start[sw] = true;
		oracle_tree_steps(fabric, start, steps);
		start[sw] = false;
		for (uint32_t host = 0; host < fabric->host_count; host++)
			gap |= fabric->host_base[sw] < fabric->host_base[sw + 1] &&
			       steps[fabric->host_switch[host]] != HD_NONE &&
			       hd_routes_port(routes, sw, host_lid(fabric, host)) == HD_NO_PORT;
	}
	free(start);
	free(steps);
	return gap;
}

/* Both refuse, or both give the same; the fast one's tables are freed. A policy that leaves hosts
 * without a path must be refused. */
static void assert_dmodk(const struct oracle_balance_plan *plan, const bool *is_compute,
			 struct hd_routes *fast, const struct hd_error *err, const char *recipe)
{
	struct scratch scratch = scratch_new(plan->fabric);
	struct hd_routes *slow = dmodk_slowly(*plan, &scratch, is_compute);

	if (slow && plan->is_io && has_gap(plan->fabric, slow)) {
		hd_routes_free(slow);
		slow = NULL;
		assert_true(fast || strstr(err->text, "io_guid_file"));
	}
	if (fast && !slow)
		fail_msg("%s is routed, though it is no tree", recipe);
	if (!fast && slow)
		fail_msg("%s is a tree, yet: %s", recipe, err->text);
	if (fast && !hd_routes_equal(fast, slow))
		fail_msg("%s %s on %s: %" PRIu64 " entries differ from the oracle's", fast->engine,
			 fast->options, recipe, hd_routes_count_changes(fast, slow));
	hd_routes_free(slow);
	hd_routes_free(fast);
	scratch_free(&scratch);
}

/* Property: spf by hops, whatever the passes, is the lexicographic choice over sequences. */
static void spf_by_hops(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < FABRICS; number++) {
		char recipe[200], settings[48];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		unsigned passes = 1 + (unsigned)(number % 4);
		struct oracle_balance_plan plan = {
		    .fabric = fabric, .passes = passes, .until_flat = true};
		for (int by_conflicts = 0; by_conflicts < 2; by_conflicts++) {
			plan.by_conflicts = by_conflicts;
			snprintf(settings, sizeof(settings), "passes=%u balance=%s", passes,
				 balances[by_conflicts]);
			assert_same(&plan, route("spf", settings, fabric), recipe);
		}
		hd_fabric_free(fabric);
	}
}

/* Property: the same with rates, hop weights, ignored ports and an order of hosts at once. */
static void spf_by_weights_under_a_policy(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < FABRICS; number += 2) {
		char recipe[200], settings[48];
		uint64_t seed = number + 77;
		struct hd_fabric *fabric = with_random_speeds(draw_fabric(number, recipe), number);
		uint32_t links = fabric->isl_count, hosts = fabric->host_count;
		uint32_t *cost = calloc(links + 1, sizeof(*cost));
		uint32_t *order = calloc(hosts + 1, sizeof(*order));
		uint64_t *guids = calloc(hosts + 1, sizeof(*guids));
		bool *uncounted = calloc(links + 1, sizeof(*uncounted));
		struct hd_port_ref *weights = calloc(links + 1, sizeof(*weights));
		struct hd_port_ref *ignored = calloc(links + 1, sizeof(*ignored));
		struct hd_policy policy = {.hop_weights = weights,
					   .ignored_ports = ignored,
					   .order_guids = guids,
					   .order_count = hosts};
		double fastest = 0;
		for (uint32_t port = 0; port < fabric->port_count; port++)
			fastest = fmax(fastest, hd_port_rate(fabric, port));
		for (uint32_t link = 0; link < links; link++) {
			uint32_t sw = hd_isl_from(fabric, link);
			struct hd_port_ref ref = {.node_guid = fabric->node_guid[sw],
						  .port = fabric->isl_port[link],
						  .value = pick(&seed, 1, 3)};
			uint32_t port = hd_port_index(fabric, sw, ref.port);
			cost[link] = (uint32_t)lround(100 * fastest / hd_port_rate(fabric, port));
			if (pick(&seed, 0, 3) == 0) {
				weights[policy.hop_weight_count++] = ref;
				cost[link] *= ref.value;
			}
			uncounted[link] = pick(&seed, 0, 7) == 0;
			if (uncounted[link])
				ignored[policy.ignored_port_count++] = ref;
		}
		for (uint32_t host = 0; host < hosts; host++)
			order[host] = host;
		variants_shuffle(order, hosts, &seed);
		for (uint32_t i = 0; i < hosts; i++)
			guids[i] =
			    fabric->node_guid[fabric->port_node[fabric->host_port[order[i]]]];
		struct oracle_balance_plan plan = {.fabric = fabric,
						   .cost = cost,
						   .host_order = order,
						   .uncounted = uncounted,
						   .by_conflicts = number / 2 % 2,
						   .passes = 2,
						   .until_flat = true};
		snprintf(settings, sizeof(settings), "cost=rate passes=2 balance=%s",
			 balances[plan.by_conflicts]);
		assert_same(&plan, route_policy("spf", settings, fabric, &policy), recipe);
		free(cost);
		free(order);
		free(guids);
		free(uncounted);
		free(weights);
		free(ignored);
		hd_fabric_free(fabric);
	}
}

/* Property: updown from any root is the greedy rule of dag_build_legal(), balanced; every route
 * climbs, then descends, and a switch has one wherever there is any path at all. */
static void updown_from_a_root(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < FABRICS; number++) {
		char recipe[200], settings[64];
		uint64_t seed = number;
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct scratch scratch = scratch_new(fabric);
		uint32_t root = (uint32_t)hd_random_below(&seed, fabric->switch_count);
		direct_from(&scratch, fabric, root);
		snprintf(settings, sizeof(settings), "root=0x%" PRIx64 " passes=2 balance=%s",
			 fabric->node_guid[root], balances[number % 2]);
		struct hd_routes *fast = route("updown", settings, fabric);
		assert_true(oracle_walk_is_legal(fabric, fast, scratch.up));
		struct oracle_balance_plan plan = {.fabric = fabric,
						   .up = scratch.up,
						   .by_conflicts = number % 2,
						   .passes = 2,
						   .until_flat = true};
		assert_same(&plan, fast, recipe);
		scratch_free(&scratch);
		hd_fabric_free(fabric);
	}
}

/* Property: with one root the greedy rule serves exactly the switches that have a path. */
static void greedy_rule_loses_nobody(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < FABRICS; number += 3) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct scratch scratch = scratch_new(fabric);
		struct hd_arena arena = {0};
		struct oracle_hops hops;
		assert_true(oracle_hops_init(&hops, fabric, &arena));
		direct_from(&scratch, fabric, (uint32_t)(number % fabric->switch_count));
		for (uint32_t destination = 0; destination < fabric->switch_count; destination++) {
			oracle_hops_legal(&hops, fabric, scratch.up, 0, false, destination);
			oracle_tree_legal(fabric, scratch.up, destination, scratch.flag);
			for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
				assert_int_equal(hops.distance[sw] != HD_NONE, scratch.flag[sw]);
		}
		hd_arena_release(&arena);
		scratch_free(&scratch);
		hd_fabric_free(fabric);
	}
}

/* Property: dmodk by counters is the oracle's over the tree's levels; it refuses what is no tree
 * and nothing else. */
static void dmodk_by_counters(void **state)
{
	(void)state;
	unsigned routed = 0;
	for (uint64_t number = 0; number < FABRICS; number++) {
		char recipe[200];
		struct hd_error err = {""};
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct hd_routes *fast = NULL;
		struct oracle_balance_plan plan = {.fabric = fabric, .passes = 2};
		int rc = route_try("dmodk", "method=balanced passes=2",
				   &(struct hd_route_request){.fabric = fabric}, &fast, &err);
		assert_true(rc == 0 || rc == -ENOTSUP);
		routed += !rc;
		assert_dmodk(&plan, NULL, fast, &err, recipe);
		hd_fabric_free(fabric);
	}
	print_message("dmodk by counters: %u of %u routed\n", routed, FABRICS);
	assert_true(routed > FABRICS / 5 && routed < FABRICS / 2);
}

/* The automatic root of updown: the tops of a tree, else the centre. */
static void updown_by_itself(void **state)
{
	(void)state;
	unsigned compared = 0;
	for (uint64_t number = 0; number < FABRICS; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct scratch scratch = scratch_new(fabric);
		uint32_t least = 1;
		if (!direct_tree(&scratch, fabric, NULL, &least) &&
		    reachable_switches(fabric) == fabric->switch_count) {
			direct_from(&scratch, fabric, oracle_tree_centre(fabric));
			struct oracle_balance_plan plan = {
			    .fabric = fabric, .up = scratch.up, .passes = 3, .until_flat = true};
			assert_same(&plan, route("updown", "balance=loads", fabric), recipe);
			compared++;
		}
		scratch_free(&scratch);
		hd_fabric_free(fabric);
	}
	assert_true(compared > FABRICS / 5);
}

/* Property: with tables of another day given, kept and patched entries are those that the
 * rule names, for shortest and for legal ways alike. */
static void after_a_change(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < FABRICS; number++) {
		char recipe[200], settings[80];
		struct hd_fabric *before = draw_fabric(number, recipe);
		struct hd_fabric *after = with_links_removed(copy_of(before), 8, number);
		struct scratch scratch = scratch_new(after);
		direct_from(&scratch, after, 0);
		const char *balance = balances[number / 2 % 2];
		snprintf(settings, sizeof(settings), "balance=%s", balance);
		struct hd_routes *previous = route("spf", "", before);
		struct oracle_balance_plan plan = {.fabric = after,
						   .passes = 3,
						   .until_flat = true,
						   .by_conflicts = number / 2 % 2,
						   .previous = previous};
		assert_same(&plan, route_after("spf", settings, after, previous), recipe);
		snprintf(settings, sizeof(settings), "balance=%s root=0x%" PRIx64, balance,
			 after->node_guid[0]);
		plan.up = scratch.up;
		assert_same(&plan, route_after("updown", settings, after, previous), recipe);
		struct hd_routes *counted = NULL;
		struct hd_error err = {""};
		plan.until_flat = plan.by_conflicts = false;
		route_try("dmodk", "method=balanced passes=3",
			  &(struct hd_route_request){.fabric = after, .previous = previous},
			  &counted, &err);
		assert_dmodk(&plan, NULL, counted, &err, recipe);
		hd_routes_free(previous);
		scratch_free(&scratch);
		hd_fabric_free(after);
		hd_fabric_free(before);
	}
}

/* A tree with hosts on some of its upper switches, and which hosts are on the leaves. */
static struct hd_fabric *draw_upper(uint64_t number, char recipe[200], bool **is_compute)
{
	uint64_t seed = number + 3;
	struct hd_fabric *fabric = draw_kind((unsigned)(number % 2), &seed, recipe);

	if (pick(&seed, 0, 1))
		fabric = with_links_removed(fabric, 5, number);
	fabric = with_free_ports(fabric, 1);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level_named(fabric, sw) > 1 && pick(&seed, 0, 3) == 0)
			fabric = with_host_at(fabric, sw, 0x900000 + 16 * sw);
	*is_compute = calloc(fabric->host_count, sizeof(bool));
	for (uint32_t host = 0; host < fabric->host_count; host++)
		(*is_compute)[host] = host_guid(fabric, host) < 0x900000;
	return fabric;
}

/* Property: with compute nodes and I/O nodes named, hosts on upper switches are reached by the
 * steps against the tree that the rule allows, no more. */
static void reverse_hops(void **state)
{
	(void)state;
	unsigned compared = 0;
	for (uint64_t number = 0; number < FABRICS / 2; number++) {
		char recipe[200];
		bool *is_compute;
		struct hd_error err = {""};
		struct hd_fabric *fabric = draw_upper(number, recipe, &is_compute);
		uint32_t hosts = fabric->host_count, placed = 0;
		uint32_t *order = calloc(hosts, sizeof(*order));
		uint64_t *guids = calloc(hosts, sizeof(*guids));
		bool *is_io = calloc(hosts, sizeof(*is_io));
		for (int compute = 1; compute >= 0; compute--)
			for (uint32_t host = 0; host < hosts; host++)
				if (is_compute[host] == compute) {
					is_io[host] = !compute;
					guids[placed] = host_guid(fabric, host);
					order[placed++] = host;
				}
		uint32_t cn_count = 0;
		while (cn_count < hosts && is_compute[order[cn_count]])
			cn_count++;
		struct hd_policy policy = {.cn_guids = guids,
					   .cn_count = cn_count,
					   .io_guids = guids + cn_count,
					   .io_count = hosts - cn_count,
					   .max_reverse_hops = (unsigned)(number % 3)};
		struct hd_routes *fast = NULL;
		struct oracle_balance_plan plan = {.fabric = fabric,
						   .is_io = policy.io_count ? is_io : NULL,
						   .max_reverse_hops = policy.max_reverse_hops,
						   .host_order = order,
						   .passes = 2};
		route_try("dmodk", "method=balanced passes=2",
			  &(struct hd_route_request){.fabric = fabric, .policy = &policy}, &fast,
			  &err);
		compared += fast && policy.io_count;
		assert_dmodk(&plan, is_compute, fast, &err, recipe);
		free(is_io);
		free(guids);
		free(order);
		free(is_compute);
		hd_fabric_free(fabric);
	}
	print_message("reverse hops: %u fabrics compared\n", compared);
	assert_true(compared > FABRICS / 15);
}

/* "1,6,6" -> its numbers; the last one goes on. */
static void read_list(const char *text, unsigned count, uint32_t *list)
{
	for (unsigned i = 0; i < count; i++) {
		char *end;
		list[i] = (uint32_t)strtoul(text, &end, 10);
		text = *end ? end + 1 : text;
	}
}

static void assert_formula(const char *children, const char *parents, const char *parallel,
			   unsigned height, unsigned lmc)
{
	char settings[160];
	struct oracle_dmodk_shape shape = {.height = height};

	read_list(children, height, shape.children);
	read_list(parents, height, shape.parents);
	read_list(parallel, height, shape.parallel);
	snprintf(settings, sizeof(settings), "children=%s parents=%s parallel=%s", children,
		 parents, parallel);
	struct hd_fabric *fabric = with_lmc(generate("xgft", settings), lmc);
	struct hd_routes *routes = route("dmodk", "", fabric);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t host = 0; host < fabric->host_count; host++)
			for (uint32_t offset = 0; offset < 1u << lmc; offset++) {
				uint8_t port =
				    hd_routes_port(routes, sw, host_lid(fabric, host) + offset);
				uint8_t right = oracle_dmodk_port(fabric, &shape, sw, host, offset);
				if (port != right)
					fail_msg("%s: %s to %s + %u by port %u, formula says %u",
						 settings, fabric->node_name[sw],
						 fabric->node_name
						     [fabric->port_node[fabric->host_port[host]]],
						 offset, port, right);
			}
	assert_clean(fabric, routes);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: on generated trees the closed form is the published formula at every switch. */
static void dmodk_by_formula(void **state)
{
	(void)state;
	assert_formula("5", "1", "1", 1, 2);
	assert_formula("6,6,6", "1,6,6", "1,1,1", 3, 0);
	assert_formula("6,6,6", "1,6,6", "1,1,1", 3, 3);
	assert_formula("4,4", "1,2", "1,2", 2, 1);
	assert_formula("3,4,5", "1,2,3", "1,1,1", 3, 2);
	assert_formula("4,3,2", "1,2,2", "1,2,3", 3, 1);
	assert_formula("2,2,2,2", "1,2,2,2", "1,1,1,1", 4, 0);
	assert_formula("3,3,2", "1,3,1", "1,1,2", 3, 0);
	uint64_t seed = 5;
	for (int i = 0; i < 150; i++) {
		char children[40], parents[40], parallel[40];
		unsigned height = pick(&seed, 2, 3);
		snprintf(children, sizeof(children), height == 2 ? "%u,%u" : "%u,%u,%u",
			 pick(&seed, 1, 5), pick(&seed, 1, 5), pick(&seed, 1, 4));
		snprintf(parents, sizeof(parents), height == 2 ? "1,%u" : "1,%u,%u",
			 pick(&seed, 1, 4), pick(&seed, 1, 4));
		snprintf(parallel, sizeof(parallel), height == 2 ? "1,%u" : "1,%u,%u",
			 pick(&seed, 1, 3), pick(&seed, 1, 3));
		assert_formula(children, parents, parallel, height, pick(&seed, 0, 3));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spf_by_hops),	  cmocka_unit_test(spf_by_weights_under_a_policy),
	    cmocka_unit_test(updown_from_a_root), cmocka_unit_test(greedy_rule_loses_nobody),
	    cmocka_unit_test(dmodk_by_counters),  cmocka_unit_test(updown_by_itself),
	    cmocka_unit_test(after_a_change),	  cmocka_unit_test(reverse_hops),
	    cmocka_unit_test(dmodk_by_formula),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
