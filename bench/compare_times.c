/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-compare [CHILDREN PARENTS [RUNS]]
 *
 * Times heddle/fabric/compare.h on one core: a tree of 11,664 hosts, or another one, beside copies of it with other GUIDs
 * and another order of nodes and ports, without mistakes in their cables, with one, with ten, and with 1% of the cables
 * and three switches lost besides. Prints for each the median and the longest of RUNS (5) comparisons in
 * milliseconds, by shape, and how many steps are listed at most beside those that were made; and the time by GUID of a
 * comparison of the tree with itself.
 */
#include "miscabled.h"
#include "stopwatch.h"
#include "tree_fabric.h"

#include <heddle/fabric/compare.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RUNS_MOST 101u

struct row {
	const char *name;
	unsigned mistakes, lost;
	bool damaged; /* 1% of the cables are pulled */
};

static const struct row rows[] = {{"no mistake", 0, 0, false},
				  {"1 mistake", 1, 0, false},
				  {"10 mistakes", 10, 0, false},
				  {"10 mistakes, damage", 10, 3, true}};

static uint64_t compare(const struct hd_fabric *plan, const struct hd_fabric *live,
			enum hd_match match, double *ms)
{
	struct hd_compare_request request = {
	    .expected = plan, .live = live, .match = match, .rates = true};
	struct hd_comparison comparison = {.count = 0};
	struct hd_error err = {""};
	double start = stopwatch_now();

	if (hd_fabric_compare(&request, &comparison, &err))
		tree_fabric_stop(&err);
	*ms = stopwatch_now() - start;
	uint64_t mends = comparison.mends;
	hd_comparison_release(&comparison);
	return mends;
}

static void measure(const struct hd_fabric *plan, const struct row *row, unsigned runs)
{
	double times[RUNS_MOST], longest = 0;
	unsigned pulled = row->damaged ? plan->isl_count / 2 / 100 : 0;
	uint64_t most = 0;
	struct hd_error err = {""};

	for (unsigned run = 0; run < runs; run++) {
		struct miscabled_request request = {.plan = plan,
						    .foreign = true,
						    .mistakes = row->mistakes,
						    .pulled = pulled,
						    .lost = row->lost,
						    .seed = run + 1};
		struct hd_fabric *live = NULL;
		if (miscabled_make(&request, &live, NULL, &err))
			tree_fabric_stop(&err);
		uint64_t mends = compare(plan, live, HD_MATCH_SHAPE, &times[run]);
		most = mends > most ? mends : most;
		longest = times[run] > longest ? times[run] : longest;
		hd_fabric_free(live);
	}
	printf("%-22s by shape: median %7.1f ms, longest %7.1f ms; made %u, listed at most %" PRIu64
	       "\n",
	       row->name, stopwatch_median(times, runs), longest,
	       row->mistakes + pulled + row->lost, most);
}

int main(int argc, char **argv)
{
	unsigned long runs = argc > 3 ? strtoul(argv[3], NULL, 10) : 5;
	struct hd_fabric *plan =
	    tree_fabric(argc > 2 ? argv[1] : "18,18,36", argc > 2 ? argv[2] : "1,18,18");
	double ms;

	runs = runs < 1 ? 1 : runs > RUNS_MOST ? RUNS_MOST : runs;
	printf("%" PRIu32 " hosts, %" PRIu32 " switches\n", plan->host_count, plan->switch_count);
	compare(plan, plan, HD_MATCH_GUID, &ms);
	printf("%-22s by GUID: %.1f ms\n", "itself", ms);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		measure(plan, &rows[i], (unsigned)runs);
	hd_fabric_free(plan);
	return 0;
}
