/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shares: max-min fairness and links of different rates. */
#include <heddle/base/random.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "cases.h"
#include "testing.h"

#include "oracle_congestion.h"
#include "random_tables.h"
#include "scene.h"

/* Ranks 0 to 3 are on one leaf, 4 to 7 on the other, one cable up from each. */
static void max_min_gives_what_others_cannot_use(void **state)
{
	(void)state;
	char path[32], setting[64];
	struct scene scene = scene_of("xgft", "children=4,2 parents=1,1", "ring", "");
	hd_pattern_free(scene.pattern);
	/* The cable up is full before the receivers' are: a quarter each. */
	write_file(path, "0 4\n1 4\n2 4\n3 5\n");
	snprintf(setting, sizeof(setting), "file=%s", path);
	scene.pattern = pattern_of("ranks", setting, scene.ranks);
	scene.request.pattern = scene.pattern;
	scene.request.mapping = HD_MAP_IDENTITY;
	scene.request.patterns = 1;
	scene.request.shares = HD_SHARE_MAX_MIN;
	struct hd_congestion_report *report = run(&scene.request);
	assert_true(fabs(report->mean - 0.25) < 1e-9);
	hd_congestion_report_free(report);
	hd_pattern_free(scene.pattern);
	unlink(path);
	/* 0 > 4 shares the way up with 1 > 5; 1 sends to 2 and 3 as well, so 1 > 5 has 1/3 and
	 * leaves 2/3 to 0 > 4, which congestion would count as 1/2. */
	write_file(path, "0 4\n1 5\n1 2\n1 3\n");
	snprintf(setting, sizeof(setting), "file=%s", path);
	scene.pattern = pattern_of("ranks", setting, scene.ranks);
	scene.request.pattern = scene.pattern;
	report = run(&scene.request);
	assert_true(fabs(report->mean - (2 / 3.0 + 3 * (1 / 3.0)) / 4) < 1e-9);
	hd_congestion_report_free(report);
	scene.request.shares = HD_SHARE_CONGESTION;
	report = run(&scene.request);
	assert_true(fabs(report->mean - (1 / 2.0 + 3 * (1 / 3.0)) / 4) < 1e-9);
	hd_congestion_report_free(report);
	unlink(path);
	scene_end(&scene);
}

/* Nobody gets less from max-min fairness than from the worst link's equal parts. */
static void max_min_is_never_below_congestion(void **state)
{
	(void)state;
	const char *kinds[] = {"bisect", "uniform", "incast"};
	for (unsigned i = 0; i < 3; i++) {
		struct scene scene = scene_of("irregular", "switches=20 radix=8", kinds[i], "");
		scene.request.patterns = 50;
		struct hd_congestion_report *congestion = run(&scene.request);
		scene.request.shares = HD_SHARE_MAX_MIN;
		struct hd_congestion_report *fair = run(&scene.request);
		assert_true(fair->mean > congestion->mean && fair->mean <= 1);
		assert_true(fair->sum_max == congestion->sum_max);
		hd_congestion_report_free(congestion);
		hd_congestion_report_free(fair);
		scene_end(&scene);
	}
}

/* The same fabric with its inter-switch cables at rates of their own, drawn from `speeds`. */
static struct hd_fabric *with_isl_speeds(const struct hd_fabric *fabric,
					 const enum hd_speed *speeds, uint32_t count,
					 uint64_t *random)
{
	struct hd_error err = {""};
	struct hd_fabric *changed = NULL;
	struct hd_builder *builder = hd_builder_from(fabric);

	for (uint32_t i = 0; i < fabric->isl_count; i++) {
		if (i > fabric->isl_reverse[i])
			continue;
		uint32_t to = fabric->isl_to[i], from = hd_isl_from(fabric, i);
		uint32_t port = fabric->isl_port[i], far = fabric->isl_port[fabric->isl_reverse[i]];
		enum hd_speed speed = speeds[hd_random_below(random, count)];
		assert_true(hd_builder_unlink(builder, from, port));
		CHECK(hd_builder_link(builder, from, port, to, far, 4, speed, &err));
	}
	CHECK(hd_builder_build(builder, &changed, &err));
	hd_builder_free(builder);
	return changed;
}

/* Between leaves a ring of two ranks is bound by the slower cables, in units of the hosts'. */
static void rates_bound_shares(void **state)
{
	(void)state;
	const enum hd_speed speeds[] = {HD_SPEED_EDR, HD_SPEED_QDR, HD_SPEED_HDR};
	const double expected[] = {1, 32 / 100.0, 1};
	struct scene scene = scene_of("xgft", "children=1,2 parents=1,1", "ring", "");
	scene.request.mapping = HD_MAP_IDENTITY;
	scene.request.patterns = 1;
	scene.request.rate_weights = true;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned model = 0; model < 2; model++) {
			uint64_t random = 1;
			struct hd_fabric *fabric =
			    with_isl_speeds(scene.fabric, &speeds[i], 1, &random);
			struct hd_ranks *ranks = all_ranks(fabric);
			struct hd_congestion_request request = scene.request;
			request.fabric = fabric;
			request.ranks = ranks;
			request.shares = model ? HD_SHARE_MAX_MIN : HD_SHARE_CONGESTION;
			struct hd_congestion_report *report = run(&request);
			assert_true(fabs(report->mean - expected[i]) < 0.01);
			hd_congestion_report_free(report);
			hd_ranks_free(ranks);
			hd_fabric_free(fabric);
		}
	scene_end(&scene);
}

/* ---- against the slow and obvious way, on random fabrics ---- */

#define TRIALS CASES(120, 40)
#define PATTERNS 5
#define CLOSE 1e-8 /* of a mean: shares are kept in units of 2^-31 */

static double fastest_host(const struct hd_fabric *fabric)
{
	double fastest = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		fastest = fmax(fastest, hd_port_rate(fabric, fabric->host_port[host]));
	return fastest;
}

/* One round's routes, each as the ports that send on its way; of a cable, by such a port. */
struct filling {
	const struct hd_fabric *fabric;
	uint32_t count;
	uint32_t (*ports)[ORACLE_CONGESTION_HOPS];
	int *length;
	bool *fixed;
	double *share;
	double *room; /* [port_count] capacity that fixed routes leave */
	uint32_t *open; /* [port_count] routes not fixed */
};

static void measure_cables(struct filling *filling, bool weights)
{
	const struct hd_fabric *fabric = filling->fabric;

	for (uint32_t port = 0; port < fabric->port_count; port++) {
		filling->room[port] =
		    weights ? hd_port_rate(fabric, port) / fastest_host(fabric) : 1;
		filling->open[port] = 0;
	}
	for (uint32_t i = 0; i < filling->count; i++)
		for (int hop = 0; hop < filling->length[i]; hop++) {
			uint32_t port = filling->ports[i][hop];
			filling->room[port] -= filling->fixed[i] ? filling->share[i] : 0;
			filling->open[port] += !filling->fixed[i];
		}
}

static bool is_full(const struct filling *filling, uint32_t route, double level)
{
	for (int hop = 0; hop < filling->length[route]; hop++) {
		uint32_t port = filling->ports[route][hop];
		if (filling->open[port] &&
		    filling->room[port] / filling->open[port] <= level + 1e-12)
			return true;
	}
	return false;
}

/* All open routes grow to the level at which the next cable is full; those on it are fixed. */
static bool fill_once(struct filling *filling, bool weights)
{
	double level = INFINITY;

	measure_cables(filling, weights);
	for (uint32_t port = 0; port < filling->fabric->port_count; port++)
		if (filling->open[port])
			level = fmin(level, filling->room[port] / filling->open[port]);
	for (uint32_t i = 0; i < filling->count; i++) {
		if (filling->fixed[i] || !is_full(filling, i, level))
			continue;
		filling->fixed[i] = true;
		filling->share[i] = level;
	}
	return level < INFINITY;
}

/* Sum of the shares of the flows that arrive, the number of which is added to *routes. */
static double fill(const struct hd_congestion_request *request, const struct hd_flow *flows,
		   uint32_t count, uint64_t *routes)
{
	struct oracle_congestion oracle = {.fabric = request->fabric, .routes = request->routes};
	uint32_t ports = request->fabric->port_count;
	struct filling filling = {.fabric = request->fabric,
				  .count = count,
				  .ports = calloc(count + 1, sizeof(*filling.ports)),
				  .length = calloc(count + 1, sizeof(int)),
				  .fixed = calloc(count + 1, sizeof(bool)),
				  .share = calloc(count + 1, sizeof(double)),
				  .room = calloc(ports, sizeof(double)),
				  .open = calloc(ports, sizeof(uint32_t))};
	double sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		filling.length[i] = oracle_congestion_path(&oracle, flows[i], 0, filling.ports[i]);
		*routes += filling.length[i] > 0;
	}
	while (fill_once(&filling, request->rate_weights))
		;
	for (uint32_t i = 0; i < count; i++)
		sum += filling.share[i];
	free(filling.ports);
	free(filling.length);
	free(filling.fixed);
	free(filling.share);
	free(filling.room);
	free(filling.open);
	return sum;
}

static void assert_pattern(const struct hd_congestion_request *request, uint64_t index,
			   uint64_t mean)
{
	struct hd_error err = {""};
	struct hd_flow *flows = calloc(request->pattern->round_max, sizeof(*flows));
	double sum = 0;
	uint64_t routes = 0;

	for (uint32_t round = 0; round < request->pattern->rounds; round++) {
		uint32_t count;
		CHECK(hd_pattern_draw(request->pattern, request->ranks, request->mapping,
				      request->seed, index, round, flows, &count, &err));
		sum += fill(request, flows, count, &routes);
	}
	free(flows);
	double expected = routes ? sum / (double)routes : 0;
	double counted = (double)mean / (double)HD_SHARE_ONE;
	if (fabs(counted - expected) > CLOSE)
		fail_msg("%s, pattern %d: mean share %.12f, the oracle has %.12f",
			 request->pattern->kind->name, (int)index, counted, expected);
}

/* Random fabrics, a third with holes in their tables, half with cables of several rates. */
static void max_min_equals_progressive_filling(void **state)
{
	(void)state;
	const char *kinds[] = {"uniform", "incast", "neighbours", "bisect", "hot-spot"};
	const char *options[] = {"", "senders=3", "", "", "percent=40"};
	const enum hd_speed speeds[] = {HD_SPEED_QDR, HD_SPEED_FDR, HD_SPEED_EDR, HD_SPEED_HDR};
	for (uint64_t number = 0; number < TRIALS; number++) {
		uint64_t random = number, means[PATTERNS];
		struct hd_fabric *plain = random_fabric(&random);
		struct hd_fabric *fabric = with_isl_speeds(plain, speeds, 4, &random);
		struct hd_routes *routes = random_tables(fabric, &random, number % 3 == 0);
		struct hd_ranks *ranks = all_ranks(fabric);
		struct hd_pattern *pattern =
		    pattern_of(kinds[number % 5], options[number % 5], ranks);
		struct hd_congestion_request request = {
		    .fabric = fabric,
		    .routes = routes,
		    .ranks = ranks,
		    .pattern = pattern,
		    .mapping = HD_MAP_RANDOM,
		    .shares = HD_SHARE_MAX_MIN,
		    .rate_weights = number % 2,
		    .seed = number,
		    .patterns = PATTERNS,
		    .threads = 1 + number % 2,
		    .table_bytes = number % 4 ? 0 : 1,
		    .means = means,
		};
		hd_congestion_report_free(run(&request));
		for (uint64_t index = 0; index < PATTERNS; index++)
			assert_pattern(&request, index, means[index]);
		hd_pattern_free(pattern);
		hd_ranks_free(ranks);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
		hd_fabric_free(plain);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(max_min_gives_what_others_cannot_use),
	    cmocka_unit_test(max_min_is_never_below_congestion),
	    cmocka_unit_test(rates_bound_shares),
	    cmocka_unit_test(max_min_equals_progressive_filling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
