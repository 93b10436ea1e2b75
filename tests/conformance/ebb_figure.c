/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ebb_figure.h"

#include <heddle/analysis.h>
#include <stdio.h>
#include <stdlib.h>

#define FLOWS 500000u
#define PATTERNS_LEAST 1000u
#define PATTERNS_MOST 20000u

static uint64_t count_patterns(const struct hd_fabric *fabric)
{
	uint64_t wanted = FLOWS / fabric->host_count;

	return wanted < PATTERNS_LEAST	? PATTERNS_LEAST
	       : wanted > PATTERNS_MOST ? PATTERNS_MOST
					: wanted;
}

double ebb_figure(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_ranks *ranks = NULL;
	struct hd_pattern *pattern = NULL;
	struct hd_congestion_report *report = NULL;
	struct hd_error err = {""};
	double mean = 1;

	if (fabric->host_count < 2)
		return mean;
	int rc = hd_ranks_new(fabric, false, &ranks, &err);
	if (!rc)
		rc = hd_pattern_new(hd_pattern_find("bisect"), NULL, ranks, &pattern, &err);
	const struct hd_congestion_request request = {.fabric = fabric,
						      .routes = routes,
						      .ranks = ranks,
						      .pattern = pattern,
						      .mapping = HD_MAP_RANDOM,
						      .seed = 7,
						      .patterns = count_patterns(fabric),
						      .threads = 1};
	if (!rc)
		rc = hd_congestion_run(&request, &report, &err);
	if (rc) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	mean = report->mean;
	hd_congestion_report_free(report);
	hd_pattern_free(pattern);
	hd_ranks_free(ranks);
	return mean;
}
