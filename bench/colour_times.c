/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-colour LEAVES DEGREE LOAD [FILE]
 *
 * Times the algorithms that colour edges, on one core: LEAVES leaves of DEGREE hosts, of which LOAD
 * percent send to another host by a random permutation. Prints for each algorithm the median of
 * several runs in milliseconds and the number of colours, and writes the edges to FILE, a line for
 * each: bench/colouring gives them to other programs.
 */
#include "stopwatch.h"

#include <heddle/base/random.h>
#include <heddle/keyd/colour.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 21u

static const char *const algorithms[] = {"auto", "paths", "euler", "paper"};

/* Each host to the leaf of another one. */
static uint32_t draw(uint32_t leaves, uint32_t degree, uint32_t load, uint32_t *left,
		     uint32_t *right)
{
	uint32_t hosts = leaves * degree, edges = 0, *to = malloc(hosts * sizeof(*to));
	uint64_t random = 1;

	if (!to)
		return 0;
	for (uint32_t i = 0; i < hosts; i++) {
		uint32_t other = (uint32_t)hd_random_below(&random, i + 1);

		to[i] = to[other];
		to[other] = i;
	}
	for (uint32_t i = 0; i < hosts; i++)
		if (hd_random_below(&random, 100) < load) {
			left[edges] = i / degree;
			right[edges++] = to[i] / degree;
		}
	free(to);
	return edges;
}

static bool is_proper(const struct hd_multigraph *graph, const uint32_t *colour, uint32_t colours)
{
	size_t nodes = (size_t)graph->left_count + graph->right_count;
	bool *seen = calloc(nodes * colours + 1, sizeof(*seen)), proper = seen;

	for (uint32_t i = 0; proper && i < graph->edge_count; i++) {
		bool *left = &seen[(size_t)graph->left[i] * colours + colour[i]];
		bool *right =
		    &seen[((size_t)graph->left_count + graph->right[i]) * colours + colour[i]];

		proper = !*left && !*right;
		*left = *right = true;
	}
	free(seen);
	return proper;
}

static int measure(const struct hd_multigraph *graph, const char *name, uint32_t *colour)
{
	enum hd_colour_algorithm algorithm = HD_COLOUR_AUTO;
	double times[RUNS];
	uint32_t colours = 0;

	hd_colour_algorithm_parse(name, &algorithm);
	for (unsigned run = 0; run < RUNS; run++) {
		double begin = stopwatch_now();

		if (hd_colour_edges(graph, algorithm, colour, &colours, NULL))
			return 1;
		times[run] = stopwatch_now() - begin;
	}
	if (!is_proper(graph, colour, colours)) {
		fprintf(stderr, "heddle-bench-colour: %s has conflicts\n", name);
		return 1;
	}
	printf("%s %.3f %u\n", name, stopwatch_median(times, RUNS), colours);
	return 0;
}

static int write_edges(const struct hd_multigraph *graph, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file) {
		perror(path);
		return 1;
	}
	for (uint32_t i = 0; i < graph->edge_count; i++)
		fprintf(file, "%u %u\n", graph->left[i], graph->right[i]);
	return fclose(file) ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: heddle-bench-colour LEAVES DEGREE LOAD [FILE]\n");
		return 2;
	}
	uint32_t leaves = (uint32_t)strtoul(argv[1], NULL, 10);
	uint32_t degree = (uint32_t)strtoul(argv[2], NULL, 10);
	uint32_t *left = calloc((size_t)leaves * degree + 1, sizeof(*left));
	uint32_t *right = calloc((size_t)leaves * degree + 1, sizeof(*right));
	uint32_t *colour = calloc((size_t)leaves * degree + 1, sizeof(*colour));
	int rc = !left || !right || !colour;

	if (!rc) {
		uint32_t edges =
		    draw(leaves, degree, (uint32_t)strtoul(argv[3], NULL, 10), left, right);
		struct hd_multigraph graph = {leaves, leaves, edges, left, right};

		for (size_t i = 0; !rc && i < sizeof(algorithms) / sizeof(algorithms[0]); i++)
			rc = measure(&graph, algorithms[i], colour);
		if (!rc && argc > 4)
			rc = write_edges(&graph, argv[4]);
	}
	free(left);
	free(right);
	free(colour);
	return rc;
}
