/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmodk on damaged trees beside counters, which see all loads: the largest load and the mean of
 * 1/congestion over random patterns, as ratios. Each tree is damaged in many ways: a switch, up to 6%
 * of the cables, hosts. Prints a line for each tree. Exit status 1 if a ratio is beyond its bound.
 */
#include "generated.h"

#include <heddle/analysis.h>
#include <heddle/base/random.h>
#include <heddle/engines.h>

#include <stdio.h>
#include <stdlib.h>

#define DAMAGES 50
#define PATTERNS 40

/* Figures that were measured, with a little room: counters have 1. */
struct subject {
	const char *settings; /* of a XGFT */
	double load; /* mean largest load at most */
	double worst; /* largest load of one damage at most */
	double bisect; /* mean of 1/congestion at least */
};

static const struct subject subjects[] = {
    {"children=6,6,6 parents=1,6,6", 0.87, 1.22, 0.99},
    {"children=12,18 parents=1,12", 0.89, 1.36, 0.99},
    {"children=4,6,6 parents=1,4,6", 0.87, 1.43, 0.99},
    {"children=8,12 parents=1,4 parallel=1,2", 0.86, 1.36, 0.99},
    {"children=12,8 parents=1,3 parallel=1,4", 0.94, 1.70, 0.99},
    {"children=6,6,6 parents=1,3,3 parallel=1,2,1", 1.04, 1.28, 0.99},
};

struct result {
	uint64_t load; /* flows over the busiest link */
	double bisect;
};

struct tally {
	unsigned damages, refused;
	double load, worst, bisect; /* sums and largest of ratios */
};

static void stop(const struct hd_error *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

/* ---- measuring ---- */

static double bisect_of(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_error err = {""};
	struct hd_ranks *ranks = NULL;
	struct hd_pattern *pattern = NULL;
	struct hd_congestion_report *report = NULL;

	if (hd_ranks_new(fabric, false, &ranks, &err) ||
	    hd_pattern_new(hd_pattern_find("bisect"), NULL, ranks, &pattern, &err))
		stop(&err);
	const struct hd_congestion_request request = {.fabric = fabric,
						      .routes = routes,
						      .ranks = ranks,
						      .pattern = pattern,
						      .mapping = HD_MAP_RANDOM,
						      .lids = HD_LIDS_BASE,
						      .seed = 5,
						      .patterns = PATTERNS,
						      .threads = 1};
	if (hd_congestion_run(&request, &report, &err))
		stop(&err);
	double mean = report->mean;
	hd_congestion_report_free(report);
	hd_pattern_free(pattern);
	hd_ranks_free(ranks);
	return mean;
}

/* False: refused. */
static bool measure(const struct hd_fabric *fabric, const char *settings, struct result *out)
{
	const struct hd_engine *engine = hd_engine_find("dmodk");
	struct hd_options *options = hd_engine_options(engine);
	struct hd_error err = {""};
	struct hd_routes *routes = NULL;
	struct hd_check_report *report = NULL;

	if (!options || generated_set(options, settings, &err))
		stop(&err);
	const struct hd_route_request request = {.fabric = fabric, .options = options};
	int rc = hd_engine_route(engine, &request, &routes, &err);
	hd_options_free(options);
	if (rc)
		return false;
	if (hd_check(fabric, routes, NULL, &report, &err))
		stop(&err);
	*out = (struct result){report->flows_max, bisect_of(fabric, routes)};
	hd_check_report_free(report);
	hd_routes_free(routes);
	return true;
}

/* ---- damages ---- */

static void unlink_node(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t node)
{
	for (uint32_t port = 1; port <= hd_node_ports(fabric, node); port++)
		hd_builder_unlink(builder, node, port);
}

/* Damage number n of a tree. */
static struct hd_fabric *damaged(const char *settings, unsigned number)
{
	static const double percent[] = {0, 1, 3, 6};
	uint64_t seed = number * 77 + 1;
	struct hd_error err = {""};
	struct hd_fabric *whole = NULL, *part = NULL, *left = NULL;

	if (generated_fabric("xgft", settings, &whole, &err))
		stop(&err);
	struct hd_builder *builder = hd_builder_from(whole);
	uint32_t sw = (uint32_t)hd_random_below(&seed, whole->switch_count);
	bool leaf = whole->host_base[sw] < whole->host_base[sw + 1];
	if (number % 3 != 1 && (!leaf || number % 6 == 0))
		unlink_node(builder, whole, sw);
	for (unsigned i = 0; number % 5 == 0 && i < 3; i++) {
		uint32_t host = (uint32_t)hd_random_below(&seed, whole->host_count);
		hd_builder_unlink(builder, whole->host_switch[host], whole->host_switch_port[host]);
	}
	if (hd_builder_build(builder, &part, &err) ||
	    hd_fabric_remove_links(part, percent[number % 4], number, &left, &err))
		stop(&err);
	hd_builder_free(builder);
	hd_fabric_free(whole);
	hd_fabric_free(part);
	return left;
}

static void compare(const char *settings, unsigned number, struct tally *tally)
{
	struct hd_fabric *fabric = damaged(settings, number);
	struct result closed, counters;

	if (measure(fabric, "", &closed) && measure(fabric, "method=balanced", &counters)) {
		double load = (double)closed.load / (double)counters.load;
		tally->damages++;
		tally->load += load;
		tally->worst = load > tally->worst ? load : tally->worst;
		tally->bisect += closed.bisect / counters.bisect;
	} else {
		tally->refused++;
	}
	hd_fabric_free(fabric);
}

int main(void)
{
	int status = 0;

	printf("%-46s %8s %8s %14s %14s %14s\n", "tree", "damages", "refused", "load", "worst load",
	       "1/congestion");
	for (unsigned i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		const struct subject *subject = &subjects[i];
		struct tally tally = {0};
		for (unsigned number = 0; number < DAMAGES; number++)
			compare(subject->settings, number, &tally);
		double load = tally.load / tally.damages, bisect = tally.bisect / tally.damages;
		bool wrong = tally.damages * 10 < DAMAGES * 9 || load > subject->load ||
			     tally.worst > subject->worst || bisect < subject->bisect;
		printf("%-46s %8u %8u %6.3f (%.3f) %6.3f (%.3f) %6.4f (%.3f)%s\n",
		       subject->settings, tally.damages, tally.refused, load, subject->load,
		       tally.worst, subject->worst, bisect, subject->bisect,
		       wrong ? "  WRONG" : "");
		status |= wrong;
	}
	return status;
}
