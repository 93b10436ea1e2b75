/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A network with its tables, traffic from lines of text, and a run of it. */
#ifndef TRAFFIC_TESTING_H
#define TRAFFIC_TESTING_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "generate_testing.h"

#include <heddle/engines.h>
#include <heddle/fabric.h>
#include <heddle/sim.h>

#define PARTS 8

struct bench {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_sim_subnet subnet;
	struct hd_sim_network network;
	struct hd_sim_settings settings;
	struct hd_traffic_scene scene;
	struct hd_options *options[PARTS];
	struct hd_traffic_request requests[PARTS];
	uint32_t count;
	struct hd_traffic *traffic;
	struct hd_sim *sim;
	enum hd_sim_end end;
};

/* The bench must stay where it is. */
static inline void bench_begin(struct bench *bench, const char *kind, const char *settings,
			       const char *engine, unsigned lmc)
{
	struct hd_fabric *made = generate(kind, settings);
	struct hd_error err = {""};

	memset(bench, 0, sizeof(*bench));
	if (hd_fabric_assign_lids(made, lmc, &bench->fabric, &err))
		fail_msg("%s", err.text);
	hd_fabric_free(made);
	struct hd_options *options = hd_engine_options(hd_engine_find(engine));
	struct hd_route_request request = {.fabric = bench->fabric, .options = options};
	if (hd_engine_route(hd_engine_find(engine), &request, &bench->routes, &err))
		fail_msg("%s", err.text);
	hd_options_free(options);
	bench->subnet = (struct hd_sim_subnet){.fabric = bench->fabric, .routes = bench->routes};
	bench->network = (struct hd_sim_network){.subnets = &bench->subnet, .subnet_count = 1};
	bench->settings = hd_sim_settings_default();
	bench->settings.forced_rate = UINT64_C(40000000000);
	bench->scene = (struct hd_traffic_scene){
	    .network = &bench->network, .settings = &bench->settings, .tables = bench->routes};
}

static inline int bench_try_add(struct bench *bench, const char *name, const char *kind,
				const char *settings, struct hd_error *err)
{
	const struct hd_traffic_kind *found = hd_traffic_find(kind);

	assert_non_null(found);
	struct hd_options *options = hd_options_new(found->options, found->option_count);
	assert_non_null(options);
	char *copy = strdup(settings), *rest = copy;
	int rc = 0;
	for (char *pair; !rc && (pair = strsep(&rest, ";"));)
		if (*pair)
			rc = hd_options_set_pair(options, pair, err);
	free(copy);
	bench->options[bench->count] = options;
	bench->requests[bench->count++] = (struct hd_traffic_request){name, found, options};
	return rc;
}

/* Settings are "name=value;name=value". */
static inline void bench_add(struct bench *bench, const char *name, const char *kind,
			     const char *settings)
{
	struct hd_error err = {""};

	if (bench_try_add(bench, name, kind, settings, &err))
		fail_msg("%s: %s", name, err.text);
}

static inline int bench_try_traffic(struct bench *bench, struct hd_error *err)
{
	return hd_traffic_new(&bench->scene, bench->requests, bench->count, &bench->traffic, err);
}

/* Makes traffic and simulation, checks all routes. */
static inline void bench_open(struct bench *bench)
{
	struct hd_error err = {""};

	if (bench_try_traffic(bench, &err))
		fail_msg("%s", err.text);
	bench->settings.class_count = hd_traffic_class_count(bench->traffic);
	bench->settings.flow_count = hd_traffic_flow_count(bench->traffic);
	struct hd_sim_workload workload = hd_traffic_workload(bench->traffic);
	if (hd_sim_new(&bench->network, &bench->settings, &workload, &bench->sim, &err))
		fail_msg("%s", err.text);
	if (hd_traffic_check(bench->traffic, bench->sim, NULL, &err))
		fail_msg("%s", err.text);
}

/* Runs to a time; the packets must add up. */
static inline void bench_run(struct bench *bench, uint64_t until)
{
	struct hd_error err = {""};

	if (!bench->sim)
		bench_open(bench);
	if (hd_sim_run(bench->sim, until, &bench->end, &err))
		fail_msg("%s", err.text);
	if (hd_traffic_result(bench->traffic, &err))
		fail_msg("%s", err.text);
	if (hd_sim_check(bench->sim, &err))
		fail_msg("%s", err.text);
}

static inline void bench_end(struct bench *bench)
{
	hd_sim_free(bench->sim);
	hd_traffic_free(bench->traffic);
	for (uint32_t i = 0; i < bench->count; i++)
		hd_options_free(bench->options[i]);
	hd_routes_free(bench->routes);
	hd_fabric_free(bench->fabric);
}

/* The `nth` figure of that name of a traffic; there must be one. */
static inline double figure_at(struct bench *bench, const char *traffic, const char *name,
			       uint32_t nth)
{
	uint32_t count;
	const struct hd_traffic_figure *figures = hd_traffic_figures(bench->traffic, &count);

	assert_non_null(figures);
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(figures[i].traffic, traffic) && !strcmp(figures[i].name, name) &&
		    !nth--)
			return figures[i].value;
	fail_msg("no figure %s of %s", name, traffic);
	return 0;
}

static inline double figure(struct bench *bench, const char *traffic, const char *name)
{
	return figure_at(bench, traffic, name, 0);
}

static inline void assert_near(double value, double expected, double tolerance)
{
	if (value < expected - tolerance || value > expected + tolerance)
		fail_msg("%.9g is not %.9g +- %.3g", value, expected, tolerance);
}

#endif
