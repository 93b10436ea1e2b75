/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Flows that divide over groups of ports: what is counted is what a slow oracle adds up part by
 * part, and no other division exceeds the bound. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "testing.h"

#include "random_tables.h"
#include "scene.h"

#define FABRICS 60
#define PATTERNS 5
#define GROUPS 40u
#define PRECISION 1e-4 /* loads are rounded to 2^-20 or better */

static const char *const kinds[] = {"bisect", "dissemination", "uniform", "neighbours"};

struct groups {
	struct hd_spread spread;
	struct hd_spread_switch *switches;
	struct hd_spread_group *groups; /* [switch_count * GROUPS] */
	uint16_t *group; /* [switch_count * tables * lid_count] */
};

/* Random groups of shortest ports; entries of which a group has the port of the tables use one of
 * them, or none. With two tables packets from random ports use table 0. */
static struct groups random_groups(const struct scene *scene, uint64_t *random, uint32_t tables)
{
	const struct hd_fabric *fabric = scene->fabric;
	uint32_t switches = fabric->switch_count, lids = fabric->lid_count;
	uint8_t *hops = malloc((size_t)switches * switches);
	struct groups made = {.spread = {.tables = tables}};
	struct hd_error err = {""};

	CHECK(hd_fabric_distances(fabric, 1, hops, &err));
	made.switches = calloc(switches, sizeof(*made.switches));
	made.groups = calloc((size_t)switches * GROUPS, sizeof(*made.groups));
	made.group = malloc((size_t)switches * tables * lids * sizeof(*made.group));
	made.spread.switches = made.switches;
	for (uint32_t sw = 0; sw < switches; sw++) {
		struct hd_spread_switch *one = &made.switches[sw];
		one->groups = made.groups + (size_t)sw * GROUPS;
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
			if (hd_random_below(random, 2))
				hd_port_set_add(&one->above, fabric->isl_port[i]);
		for (uint32_t table = 0; table < tables; table++) {
			uint16_t *row = made.group + ((size_t)sw * tables + table) * lids;
			one->group[table] = row;
			for (uint32_t lid = 0; lid < lids; lid++) {
				struct hd_spread_group *group =
				    &made.groups[(size_t)sw * GROUPS + one->group_count];
				uint32_t last;
				uint8_t exit;
				row[lid] = HD_SPREAD_NO_GROUP;
				if (one->group_count == GROUPS || hd_random_below(random, 3) == 0 ||
				    !hd_fabric_lid_destination(fabric, lid, &last, &exit) ||
				    last == sw)
					continue;
				for (uint32_t i = fabric->isl_base[sw];
				     i < fabric->isl_base[sw + 1]; i++) {
					uint8_t near = hops[(size_t)last * switches + sw];
					uint8_t far =
					    hops[(size_t)last * switches + fabric->isl_to[i]];
					if (far + 1 != near)
						continue;
					hd_port_set_add(&group->all, fabric->isl_port[i]);
					if (hd_random_below(random, 3))
						hd_port_set_add(&group->first, fabric->isl_port[i]);
				}
				if (hd_port_set_is_empty(&group->first))
					group->first = group->all;
				if (!hd_port_set_is_empty(&group->all))
					row[lid] = (uint16_t)one->group_count++;
			}
		}
	}
	free(hops);
	return made;
}

static void groups_end(struct groups *groups)
{
	free(groups->switches);
	free(groups->groups);
	free(groups->group);
}

/* ---- the oracle ---- */

struct oracle {
	const struct scene *scene;
	const struct hd_spread *spread;
	double *load; /* [port_count] ports that send */
	bool all; /* divide over all ports of groups, by random weights */
	uint64_t weights;
};

/* What to do with the links that a part of a flow crosses. */
enum act { ADD, LOOK };

/* Follows a part of a flow from a switch. Returns the largest load that it meets, or a negative
 * number if some of it does not arrive. */
static double follow(struct oracle *oracle, uint32_t sw, uint32_t table, struct hd_flow flow,
		     double part, unsigned depth, enum act act)
{
	const struct hd_fabric *fabric = oracle->scene->fabric;
	const struct hd_spread_switch *here = &oracle->spread->switches[sw];
	uint32_t lid = fabric->lid[fabric->host_port[flow.destination]];
	uint16_t group = here->group[table][lid];
	uint8_t port = hd_routes_port(oracle->scene->routes, sw, lid);
	struct hd_port_set ports = {{0}};
	double largest = 0, weights = 0;

	if (group == HD_SPREAD_NO_GROUP && port == HD_NO_PORT)
		return -1;
	if (group == HD_SPREAD_NO_GROUP && sw == fabric->host_switch[flow.destination] &&
	    port == fabric->host_switch_port[flow.destination])
		return 0;
	if (depth > 100)
		return -1;
	if (group == HD_SPREAD_NO_GROUP)
		hd_port_set_add(&ports, port);
	else
		ports = oracle->all ? here->groups[group].all : here->groups[group].first;
	double weight[256];
	HD_PORT_SET_FOREACH(one, &ports) {
		weight[one] = oracle->all ? 1 + (double)((oracle->weights + one * lid) % 7) : 1;
		weights += weight[one];
	}
	HD_PORT_SET_FOREACH(one, &ports) {
		if (one > hd_node_ports(fabric, sw))
			return -1;
		uint32_t sending = hd_port_index(fabric, sw, (uint8_t)one);
		uint32_t receiving = fabric->peer[sending];
		if (receiving == HD_NONE || !hd_is_switch(fabric, fabric->port_node[receiving]))
			return -1;
		uint32_t to = fabric->port_node[receiving];
		bool above = hd_port_set_has(&oracle->spread->switches[to].above,
					     hd_port_number(fabric, receiving));
		double share = part * weight[one] / weights;
		if (act == ADD)
			oracle->load[sending] += share;
		double beyond = follow(oracle, to, oracle->spread->tables > 1 && !above, flow,
				       share, depth + 1, act);
		if (beyond < 0)
			return -1;
		largest = fmax(largest, fmax(beyond, oracle->load[sending]));
	}
	return largest;
}

static double begin(struct oracle *oracle, struct hd_flow flow, enum act act)
{
	return follow(oracle, oracle->scene->fabric->host_switch[flow.source],
		      oracle->spread->tables > 1, flow, 1, 0, act);
}

struct expected {
	uint64_t routes, broken;
	double share, bound; /* sums over routes */
	double other; /* sum of shares with other divisions */
};

/* The bound, by its definition: every sum by itself. */
static uint64_t bound_of(const struct oracle *oracle, const struct hd_flow *flows, uint32_t count)
{
	const struct hd_fabric *fabric = oracle->scene->fabric;
	uint64_t out = 0, in = 0, senders = 0, receivers = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		bool sends = false, receives = false;
		for (uint32_t i = 0; i < count; i++) {
			sends |= flows[i].source == host;
			receives |= flows[i].destination == host;
		}
		senders += sends;
		receivers += receives;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const struct hd_spread_switch *here = &oracle->spread->switches[sw];
		const uint16_t *row = here->group[oracle->spread->tables > 1];
		uint64_t leaving = 0, arriving = 0, within = 0;
		struct hd_port_set used = {{0}};
		for (uint32_t i = 0; i < count; i++) {
			bool from = fabric->host_switch[flows[i].source] == sw;
			bool to = fabric->host_switch[flows[i].destination] == sw;
			uint32_t lid = fabric->lid[fabric->host_port[flows[i].destination]];
			within += from && to;
			leaving += from && !to;
			arriving += to && !from;
			if (from && !to && row[lid] == HD_SPREAD_NO_GROUP)
				hd_port_set_add(&used,
						hd_routes_port(oracle->scene->routes, sw, lid));
			else if (from && !to)
				hd_port_set_unite(&used, &here->groups[row[lid]].all);
		}
		uint64_t cables = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		uint64_t ports = hd_port_set_count(&used);
		out += within + (leaving < ports ? leaving : ports);
		in += within + (arriving < cables ? arriving : cables);
	}
	out = out < in ? out : in;
	out = out < senders ? out : senders;
	return out < receivers ? out : receivers;
}

/* Sum of the shares of flows that arrive. */
static double shares_of(struct oracle *oracle, const struct hd_flow *flows, uint32_t count)
{
	const struct hd_fabric *fabric = oracle->scene->fabric;
	double sum = 0;

	memset(oracle->load, 0, fabric->port_count * sizeof(*oracle->load));
	for (uint32_t i = 0; i < count; i++) {
		begin(oracle, flows[i], ADD);
		oracle->load[fabric->host_port[flows[i].source]]++;
		oracle->load[fabric->peer[fabric->host_port[flows[i].destination]]]++;
	}
	for (uint32_t i = 0; i < count; i++) {
		double own =
		    fmax(oracle->load[fabric->host_port[flows[i].source]],
			 oracle->load[fabric->peer[fabric->host_port[flows[i].destination]]]);
		sum += 1 / fmax(begin(oracle, flows[i], LOOK), own);
	}
	return sum;
}

static void expect_round(struct oracle *oracle, struct hd_flow *flows, uint32_t count,
			 struct expected *expected)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		oracle->all = false;
		bool arrives = begin(oracle, flows[i], LOOK) >= 0;
		flows[kept] = flows[i];
		kept += arrives;
	}
	expected->routes += kept;
	expected->broken += count - kept;
	expected->share += shares_of(oracle, flows, kept);
	expected->bound += (double)bound_of(oracle, flows, kept);
	oracle->all = true;
	oracle->weights++;
	expected->other += shares_of(oracle, flows, kept);
	oracle->all = false;
}

static struct expected expect(const struct scene *scene, const struct hd_spread *spread)
{
	const struct hd_pattern *pattern = scene->pattern;
	struct hd_flow *flows = calloc(pattern->round_max, sizeof(*flows));
	struct oracle oracle = {scene, spread, calloc(scene->fabric->port_count, sizeof(double)),
				false, 0};
	struct expected expected = {.routes = 0};
	struct hd_error err = {""};
	uint32_t count;

	for (uint64_t index = 0; index < PATTERNS; index++)
		for (uint32_t round = 0; round < pattern->rounds; round++) {
			CHECK(hd_pattern_draw(pattern, scene->ranks, HD_MAP_RANDOM,
					      scene->request.seed, index, round, flows, &count,
					      &err));
			expect_round(&oracle, flows, count, &expected);
		}
	free(oracle.load);
	free(flows);
	return expected;
}

/* ---- tests ---- */

static struct scene random_scene(uint64_t number)
{
	uint64_t random = number;
	struct scene scene = {.fabric = random_fabric(&random)};

	scene.routes = random_tables(scene.fabric, &random, number % 4 == 0);
	scene.ranks = all_ranks(scene.fabric);
	scene.pattern = pattern_of(kinds[number % 4], "", scene.ranks);
	scene.request = (struct hd_congestion_request){.fabric = scene.fabric,
						       .routes = scene.routes,
						       .ranks = scene.ranks,
						       .pattern = scene.pattern,
						       .mapping = HD_MAP_RANDOM,
						       .seed = number,
						       .patterns = PATTERNS,
						       .threads = 1 + number / 2 % 2};
	return scene;
}

/* Property: shares and bound are the oracle's; and neither these shares, nor those of random other
 * divisions over the groups, nor the max-min fair ones of the tables alone exceed the bound. */
static void divisions_equal_the_oracle(void **state)
{
	unsigned with_faults = 0, tight = 0, below = 0;

	(void)state;
	for (uint64_t number = 0; number < FABRICS; number++) {
		uint64_t random = number + 1000;
		struct scene scene = random_scene(number);
		struct groups groups =
		    random_groups(&scene, &random, 1 + (uint32_t)(number / 3 % 2));
		struct expected expected = expect(&scene, &groups.spread);
		scene.request.spread = &groups.spread;
		struct hd_congestion_report *report = run(&scene.request);
		double routes = (double)report->routes;
		assert_int_equal(report->routes, expected.routes);
		assert_int_equal(report->broken, expected.broken);
		assert_true(fabs(report->mean - expected.share / routes) < PRECISION);
		assert_true(fabs(report->bound - expected.bound / routes) < 1e-9);
		assert_true(report->mean <= report->bound + PRECISION);
		if (!expected.broken)
			assert_true(expected.other <= expected.bound * (1 + PRECISION));
		with_faults += expected.broken > 0;
		tight += report->bound < 1;
		below += report->mean < 0.99 * report->bound;
		hd_congestion_report_free(report);
		groups_end(&groups);
		scene_end(&scene);
	}
	assert_true(with_faults > FABRICS / 12);
	assert_true(tight > FABRICS / 4 && below > FABRICS / 4);
}

/* Property: with no group at all the figures are those of the tables, and their max-min fair shares
 * are within the bound. */
static void no_group_is_the_tables(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 8; number++) {
		struct scene scene = random_scene(number);
		struct hd_spread_switch *none = calloc(scene.fabric->switch_count, sizeof(*none));
		const struct hd_spread spread = {1, none};
		struct hd_congestion_report *alone = run(&scene.request);
		scene.request.shares = HD_SHARE_MAX_MIN;
		struct hd_congestion_report *fair = run(&scene.request);
		scene.request.shares = HD_SHARE_CONGESTION;
		scene.request.spread = &spread;
		struct hd_congestion_report *report = run(&scene.request);
		assert_true(fabs(report->mean - alone->mean) < 1e-9);
		assert_int_equal(report->histogram_size, alone->histogram_size);
		assert_memory_equal(report->histogram, alone->histogram,
				    alone->histogram_size * sizeof(uint64_t));
		assert_true(fair->mean <= report->bound + 1e-9);
		assert_true(alone->bound == 0 && report->bound > 0);
		hd_congestion_report_free(report);
		hd_congestion_report_free(fair);
		hd_congestion_report_free(alone);
		free(none);
		scene_end(&scene);
	}
}

/* Property: a flow that goes round in circles is broken, and the run ends. */
static void a_circle_is_broken(void **state)
{
	struct scene scene = scene_of("torus", "dims=4 hosts=1", "bisect", "");
	struct groups groups = {.spread = {.tables = 1}};
	uint32_t switches = scene.fabric->switch_count;
	struct hd_spread_switch *one = groups.switches = calloc(switches, sizeof(*one));

	(void)state;
	groups.spread.switches = groups.switches;
	groups.groups = calloc(switches, sizeof(*groups.groups));
	groups.group = calloc((size_t)switches * scene.fabric->lid_count, sizeof(*groups.group));
	for (uint32_t sw = 0; sw < switches; sw++) {
		uint32_t link = scene.fabric->isl_base[sw];
		one[sw].group_count = 1;
		one[sw].groups = &groups.groups[sw];
		for (; link < scene.fabric->isl_base[sw + 1]; link++)
			hd_port_set_add(&groups.groups[sw].all, scene.fabric->isl_port[link]);
		groups.groups[sw].first = groups.groups[sw].all;
		one[sw].group[0] = groups.group + (size_t)sw * scene.fabric->lid_count;
	}
	scene.request.spread = &groups.spread;
	scene.request.patterns = 2;
	struct hd_congestion_report *report = NULL;
	struct hd_error err = {""};
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no flow arrives"));
	groups_end(&groups);
	scene_end(&scene);
}

static void other_shares_are_refused(void **state)
{
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	const struct hd_spread spread = {1, NULL};

	(void)state;
	scene.request.spread = &spread;
	scene.request.shares = HD_SHARE_MAX_MIN;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "only shares of 1/pi"));
	assert_null(report);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(divisions_equal_the_oracle),
	    cmocka_unit_test(no_group_is_the_tables),
	    cmocka_unit_test(a_circle_is_broken),
	    cmocka_unit_test(other_shares_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
