/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-keys [CHILDREN PARENTS]
 *
 * Times routing keys on a fat tree, by default the one with 11,664 hosts, on one core: a
 * permutation of all hosts, with each algorithm that colours edges, then the shift of the key and its
 * entries. Prints medians of several runs, and the contention of each key.
 */
#include "stopwatch.h"

#include <heddle/base/random.h>
#include <heddle/fabric.h>
#include <heddle/keyd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 11u

static const struct {
	const char *name;
	enum hd_colour_algorithm algorithm;
} algorithms[] = {{"auto", HD_COLOUR_AUTO},
		  {"paths", HD_COLOUR_PATHS},
		  {"euler", HD_COLOUR_EULER},
		  {"paper", HD_COLOUR_PAPER}};

static int fail(const char *what, const struct hd_error *err)
{
	fprintf(stderr, "heddle-bench-keys: %s: %s\n", what, err->text);
	return 1;
}

static struct hd_fabric *make_fabric(const char *children, const char *parents,
				     struct hd_error *err)
{
	const struct hd_generator *generator = hd_generator_find("xgft");
	struct hd_options *options = hd_options_new(generator->options, generator->option_count);
	struct hd_fabric *plain = NULL, *fabric = NULL;

	if (options && !hd_options_set(options, "children", children, err) &&
	    !hd_options_set(options, "parents", parents, err) &&
	    !generator->generate(options, &plain, err))
		hd_fabric_assign_lids(plain, 1, &fabric, err);
	hd_fabric_free(plain);
	hd_options_free(options);
	return fabric;
}

/* Each host sends to another one, and receives from one. */
static void draw_flows(struct hd_key_flow *flows, uint32_t hosts)
{
	uint64_t random = 1;

	for (uint32_t i = 0; i < hosts; i++)
		flows[i] = (struct hd_key_flow){i, i};
	for (uint32_t i = hosts; i > 1; i--) {
		uint32_t other = (uint32_t)hd_random_below(&random, i);
		uint32_t swap = flows[i - 1].destination;
		flows[i - 1].destination = flows[other].destination;
		flows[other].destination = swap;
	}
}

static int time_make(const struct hd_key_request *request, const char *name, struct hd_error *err)
{
	double times[RUNS];
	struct hd_key *key = NULL;

	for (unsigned run = 0; run < RUNS; run++) {
		hd_key_free(key);
		key = NULL;
		double begin = stopwatch_now();
		if (hd_key_make(request, &key, err))
			return -1;
		times[run] = stopwatch_now() - begin;
	}
	printf("make, %-6s %8.2f ms   contention %u\n", name, stopwatch_median(times, RUNS),
	       key->contention);
	hd_key_free(key);
	return 0;
}

static int time_rest(const struct hd_key_request *request, struct hd_error *err)
{
	double shifts[RUNS], overlays[RUNS];
	struct hd_key *key = NULL;
	struct hd_key_loads *loads = hd_key_loads_new(request->tree);
	struct hd_key_overlay overlay = {0};
	uint32_t entries = 0;
	int rc = loads ? hd_key_make(request, &key, err) : hd_error_no_memory(err);

	for (unsigned run = 0; !rc && run < RUNS; run++) {
		struct hd_key_shift *shift = NULL;
		double begin = stopwatch_now();
		rc =
		    hd_key_shift_choose(request->tree, key, loads, HD_KEY_SHIFT_LINKS, &shift, err);
		double middle = stopwatch_now();
		if (!rc)
			rc = hd_key_overlay(request->tree, key, shift, 1, &overlay, err);
		shifts[run] = middle - begin;
		overlays[run] = stopwatch_now() - middle;
		entries = overlay.count;
		hd_key_overlay_release(&overlay);
		hd_key_shift_free(shift);
	}
	if (!rc)
		printf("shift        %8.2f ms\nentries      %8.2f ms   %u entries\n",
		       stopwatch_median(shifts, RUNS), stopwatch_median(overlays, RUNS), entries);
	hd_key_loads_free(loads);
	hd_key_free(key);
	return rc;
}

int main(int argc, char **argv)
{
	struct hd_error err = {""};
	struct hd_key_tree *tree = NULL;
	struct hd_fabric *fabric =
	    make_fabric(argc > 2 ? argv[1] : "18,18,36", argc > 2 ? argv[2] : "1,18,18", &err);

	if (!fabric || hd_key_tree_new(fabric, &tree, &err))
		return fail("fabric", &err);
	struct hd_key_flow *flows = malloc(fabric->host_count * sizeof(*flows));
	if (!flows)
		return fail("flows", &err);
	draw_flows(flows, fabric->host_count);
	printf("%u hosts, %u switches\n", fabric->host_count, fabric->switch_count);
	struct hd_key_request request = {
	    .tree = tree, .flows = flows, .flow_count = fabric->host_count, .best_effort = true};
	for (size_t i = 0; i < sizeof(algorithms) / sizeof(algorithms[0]); i++) {
		request.algorithm = algorithms[i].algorithm;
		if (time_make(&request, algorithms[i].name, &err))
			return fail(algorithms[i].name, &err);
	}
	request.algorithm = HD_COLOUR_AUTO;
	if (time_rest(&request, &err))
		return fail("shift and entries", &err);
	free(flows);
	hd_key_tree_free(tree);
	hd_fabric_free(fabric);
	return 0;
}
