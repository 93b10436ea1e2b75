/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Flows that divide over all LIDs, and wait for their slowest part or do not: what is counted is what the slow oracle
 * adds up part by part. */
#include <errno.h>
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
#include "scene.h"

#define FABRICS 60
#define PATTERNS 7

static const char *const kinds[] = {"bisect", "dissemination", "uniform", "neighbours"};

/* Every third host answers to half of its LIDs alone. */
static void give_fewer_lids(struct hd_fabric *fabric)
{
	static uint8_t lmc[4096];

	assert_true(fabric->port_count <= sizeof(lmc));
	memcpy(lmc, fabric->lmc, fabric->port_count);
	for (uint32_t host = 0; host < fabric->host_count; host += 3)
		if (lmc[fabric->host_port[host]])
			lmc[fabric->host_port[host]]--;
	fabric->lmc = lmc;
}

/* A random fabric whose hosts have up to 8 LIDs, some half as many as others; tables with holes
 * in every third. */
static struct scene random_scene(uint64_t number, enum hd_lid_choice lids)
{
	uint64_t random = number;
	unsigned lmc = number / 4 % 4;
	struct hd_error err = {""};
	struct hd_fabric *fabric = random_fabric(&random);
	struct scene scene = {.fabric = NULL};

	CHECK(hd_fabric_assign_lids(fabric, lmc, &scene.fabric, &err));
	hd_fabric_free(fabric);
	give_fewer_lids(scene.fabric);
	scene.routes = random_tables(scene.fabric, &random, number % 3 == 0);
	scene.ranks = all_ranks(scene.fabric);
	scene.pattern = pattern_of(kinds[number % 4], "", scene.ranks);
	scene.request = (struct hd_congestion_request){
	    .fabric = scene.fabric,
	    .routes = scene.routes,
	    .ranks = scene.ranks,
	    .pattern = scene.pattern,
	    .mapping = HD_MAP_RANDOM,
	    .lids = lids,
	    .seed = number,
	    .patterns = PATTERNS,
	    .threads = 1 + number / 2 % 2,
	    .table_bytes = number % 5 ? 0 : 1,
	    .link_flows = true,
	};
	return scene;
}

struct expected {
	double *link_flows, *link_worst; /* [port_count] */
	double share, sum_max; /* sums over routes, and over patterns */
	uint64_t routes, broken;
	double *load; /* [port_count] of the round */
};

static uint32_t lids_of(const struct oracle_congestion *oracle, struct hd_flow flow)
{
	return 1u << oracle->fabric->lmc[oracle->fabric->host_port[flow.destination]];
}

static bool arrives(const struct oracle_congestion *oracle, struct hd_flow flow)
{
	uint32_t ports[ORACLE_CONGESTION_HOPS], lids = lids_of(oracle, flow);

	for (uint32_t offset = 0; offset < lids; offset++)
		if (oracle_congestion_path(oracle, flow, offset, ports) < 0)
			return false;
	return true;
}

/* Adds 1/lids of a flow to each port on each of its ways. */
static void add_flow(const struct oracle_congestion *oracle, struct hd_flow flow, double *load)
{
	uint32_t ports[ORACLE_CONGESTION_HOPS], lids = lids_of(oracle, flow);

	for (uint32_t offset = 0; offset < lids; offset++) {
		int length = oracle_congestion_path(oracle, flow, offset, ports);
		for (int hop = 0; hop < length; hop++)
			load[ports[hop]] += 1.0 / lids;
	}
}

static double worst_load(const struct oracle_congestion *oracle, struct hd_flow flow,
			 const double *load)
{
	uint32_t ports[ORACLE_CONGESTION_HOPS], lids = lids_of(oracle, flow);
	double worst = 0;

	for (uint32_t offset = 0; offset < lids; offset++) {
		int length = oracle_congestion_path(oracle, flow, offset, ports);
		for (int hop = 0; hop < length; hop++)
			worst = fmax(worst, load[ports[hop]]);
	}
	return worst;
}

/* The mean share of the parts, each by itself. */
static double parallel_share(const struct oracle_congestion *oracle, struct hd_flow flow,
			     const double *load)
{
	uint32_t ports[ORACLE_CONGESTION_HOPS], lids = lids_of(oracle, flow);
	double sum = 0;

	for (uint32_t offset = 0; offset < lids; offset++) {
		int length = oracle_congestion_path(oracle, flow, offset, ports);
		double worst = 0;
		for (int hop = 0; hop < length; hop++)
			worst = fmax(worst, load[ports[hop]]);
		sum += 1 / worst;
	}
	return sum / lids;
}

/* Returns the largest congestion of a flow. */
static double expect_round(const struct oracle_congestion *oracle, const struct hd_flow *flows,
			   uint32_t count, enum hd_lid_choice lids, struct expected *expected)
{
	double largest = 0, *load = expected->load;

	memset(load, 0, oracle->fabric->port_count * sizeof(*load));
	for (uint32_t i = 0; i < count; i++)
		if (arrives(oracle, flows[i]))
			add_flow(oracle, flows[i], load);
	for (uint32_t i = 0; i < count; i++) {
		if (!arrives(oracle, flows[i])) {
			expected->broken++;
			continue;
		}
		double worst = worst_load(oracle, flows[i], load);
		expected->routes++;
		expected->share +=
		    lids == HD_LIDS_PARALLEL ? parallel_share(oracle, flows[i], load) : 1 / worst;
		largest = fmax(largest, worst);
	}
	for (uint32_t port = 0; port < oracle->fabric->port_count; port++) {
		expected->link_flows[port] += load[port];
		expected->link_worst[port] = fmax(expected->link_worst[port], load[port]);
	}
	return largest;
}

static void expect(const struct scene *scene, struct expected *expected)
{
	struct hd_error err = {""};
	struct oracle_congestion oracle;
	const struct hd_pattern *pattern = scene->pattern;
	uint32_t ports = scene->fabric->port_count, count;
	struct hd_flow *flows = calloc(pattern->round_max, sizeof(*flows));

	*expected =
	    (struct expected){calloc(ports, 8), calloc(ports, 8), 0, 0, 0, 0, calloc(ports, 8)};
	oracle_congestion_begin(&oracle, scene->fabric, scene->routes);
	for (uint64_t index = 0; index < PATTERNS; index++)
		for (uint32_t round = 0; round < pattern->rounds; round++) {
			CHECK(hd_pattern_draw(pattern, scene->ranks, HD_MAP_RANDOM,
					      scene->request.seed, index, round, flows, &count,
					      &err));
			expected->sum_max +=
			    expect_round(&oracle, flows, count, scene->request.lids, expected) /
			    pattern->rounds;
		}
	oracle_congestion_end(&oracle);
	free(flows);
}

static void expected_end(struct expected *expected)
{
	free(expected->link_flows);
	free(expected->link_worst);
	free(expected->load);
}

static void compare(const struct scene *scene, const struct expected *expected,
		    const struct hd_congestion_report *report)
{
	uint64_t routes = 0;

	assert_int_equal(report->routes, expected->routes);
	assert_int_equal(report->broken, expected->broken);
	assert_true(fabs(report->mean - expected->share / (double)expected->routes) < 1e-8);
	if (!expected->broken)
		assert_true(fabs(report->sum_max - expected->sum_max / PATTERNS) < 4e-6);
	for (uint32_t pi = 0; pi < report->histogram_size; pi++)
		routes += report->histogram[pi];
	assert_int_equal(routes, expected->routes);
	for (uint32_t link = 0; link < report->link_count; link++) {
		uint32_t port = hd_congestion_link_port(scene->fabric, link);
		double flows = ceil(expected->link_flows[port] - 1e-6);
		double worst = ceil(expected->link_worst[port] - 1e-6);
		assert_true((double)report->link_flows[link] == flows);
		assert_true((double)report->link_worst[link] == worst);
	}
}

static void compare_with_the_oracle(enum hd_lid_choice lids)
{
	unsigned with_faults = 0, with_shared_links = 0;

	for (uint64_t number = 0; number < FABRICS; number++) {
		struct scene scene = random_scene(number, lids);
		struct expected expected;
		expect(&scene, &expected);
		struct hd_congestion_report *report = run(&scene.request);
		compare(&scene, &expected, report);
		with_faults += expected.broken > 0;
		with_shared_links += report->mean < 1;
		hd_congestion_report_free(report);
		expected_end(&expected);
		scene_end(&scene);
	}
	assert_true(with_faults > FABRICS / 10);
	assert_true(with_shared_links > FABRICS / 2);
}

static void parts_equal_the_oracle_on_random_fabrics(void **state)
{
	(void)state;
	compare_with_the_oracle(HD_LIDS_SPREAD);
}

static void parallel_parts_equal_the_oracle_on_random_fabrics(void **state)
{
	(void)state;
	compare_with_the_oracle(HD_LIDS_PARALLEL);
}

/* With one LID a host there is nothing to divide: all figures are those of the base LIDs. */
static void one_lid_is_the_base(void **state)
{
	(void)state;
	struct scene scene = scene_of("irregular", "switches=12 radix=8", "uniform", "");
	struct hd_congestion_report *base = run(&scene.request);
	scene.request.lids = HD_LIDS_SPREAD;
	struct hd_congestion_report *spread = run(&scene.request);
	assert_true(base->mean == spread->mean && base->half_width == spread->half_width);
	assert_int_equal(base->histogram_size, spread->histogram_size);
	assert_memory_equal(base->histogram, spread->histogram, base->histogram_size * 8);
	scene.request.lids = HD_LIDS_PARALLEL;
	struct hd_congestion_report *parallel = run(&scene.request);
	assert_true(fabs(base->mean - parallel->mean) < 1e-8);
	hd_congestion_report_free(parallel);
	hd_congestion_report_free(base);
	hd_congestion_report_free(spread);
	scene_end(&scene);
}

static void other_shares_are_refused(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	scene.request.lids = HD_LIDS_SPREAD;
	scene.request.shares = HD_SHARE_MAX_MIN;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "only shares of 1/pi"));
	assert_null(report);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parts_equal_the_oracle_on_random_fabrics),
	    cmocka_unit_test(parallel_parts_equal_the_oracle_on_random_fabrics),
	    cmocka_unit_test(one_lid_is_the_base),
	    cmocka_unit_test(other_shares_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
