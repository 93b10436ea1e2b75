/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Colours for the edges of bipartite multigraphs: never a conflict, and as few as there can be. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "colour_testing.h"

#include <oracle_colour.h>

#define GRAPHS 10000u
#define PERMUTATIONS 300u

static struct testing_graph made;
static uint32_t colour[EDGES_MAX], again[EDGES_MAX];

static const enum hd_colour_algorithm exact[] = {HD_COLOUR_AUTO, HD_COLOUR_PATHS, HD_COLOUR_EULER};

#define EXACT (sizeof(exact) / sizeof(exact[0]))

/* Colours the graph that was made, checks the colours, and returns their number. */
static uint32_t colours_by(enum hd_colour_algorithm algorithm)
{
	uint32_t colours = UINT32_MAX;

	memset(colour, 0xFF, sizeof(*colour) * made.graph.edge_count);
	assert_int_equal(hd_colour_edges(&made.graph, algorithm, colour, &colours, NULL), 0);
	if (!testing_is_proper(&made.graph, colour, colours))
		fail_msg("algorithm %d: a conflict", (int)algorithm);
	return colours;
}

static uint32_t degree_of(void)
{
	uint32_t degree;

	assert_int_equal(hd_multigraph_degree(&made.graph, &degree), 0);
	return degree;
}

/* All exact algorithms use as many colours as the largest degree. */
static void assert_exact(void)
{
	uint32_t degree = degree_of();

	for (size_t i = 0; i < EXACT; i++)
		assert_int_equal(colours_by(exact[i]), degree);
}

/* On graphs of any form: parallel edges, nodes without edges, a few nodes with most of them. */
static void test_any_graph(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned i = 0; i < GRAPHS; i++) {
		testing_any(&made, 60, &random);
		assert_exact();
		assert_true(colours_by(HD_COLOUR_PAPER) >= degree_of());
	}
}

/* No smaller number of colours exists, as far as all of them can be tried. */
static void test_optimum(void **state)
{
	uint64_t random = 2;

	(void)state;
	for (unsigned i = 0; i < GRAPHS; i++) {
		uint32_t least;

		testing_any(&made, 10, &random);
		least = oracle_colours(&made.graph);
		for (size_t k = 0; k < EXACT; k++)
			assert_int_equal(colours_by(exact[k]), least);
	}
}

/* The loop of matchings takes a largest matching each time. */
static void test_paper_matchings(void **state)
{
	static bool in[EDGES_MAX];
	uint64_t random = 3;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		uint32_t colours;

		testing_any(&made, 60, &random);
		colours = colours_by(HD_COLOUR_PAPER);
		for (uint32_t edge = 0; edge < made.graph.edge_count; edge++)
			in[edge] = true;
		for (uint32_t c = 0; c < colours; c++) {
			uint32_t largest = oracle_matching(&made.graph, in), taken = 0;

			for (uint32_t edge = 0; edge < made.graph.edge_count; edge++)
				if (colour[edge] == c) {
					in[edge] = false;
					taken++;
				}
			assert_int_equal(taken, largest);
		}
	}
}

/* a-x, b-x, b-y, c-y: degree 2. The matching a-x, c-y leaves two edges at b. */
static void test_counter_example(void **state)
{
	enum { A, C, B };
	enum { X, Y };

	(void)state;
	testing_begin(&made, 3, 2);
	testing_edge(&made, A, X);
	testing_edge(&made, B, X);
	testing_edge(&made, B, Y);
	testing_edge(&made, C, Y);
	assert_int_equal(oracle_colours(&made.graph), 2);
	assert_exact();
	assert_int_equal(colours_by(HD_COLOUR_PAPER), 3);
}

/* 36 leaves of 6 hosts, of which 90% send: at most 6 colours; the loop of matchings often needs a
 * seventh. */
static void test_partial_permutations(void **state)
{
	uint64_t random = 4;
	uint32_t above = 0;

	(void)state;
	for (unsigned i = 0; i < PERMUTATIONS; i++) {
		testing_permutation(&made, 36, 6, 900, &random);
		assert_exact();
		assert_true(degree_of() <= 6);
		above += colours_by(HD_COLOUR_PAPER) > degree_of();
	}
	print_message("%u of %u partial permutations need more colours with matchings\n", above,
		      PERMUTATIONS);
	assert_true(above > PERMUTATIONS / 2);
}

/* More colours than bits of a word, even, odd and powers of two. */
static void test_many_colours(void **state)
{
	static const uint32_t degrees[] = {63, 64, 65, 100, 127, 128, 129, 192, 300};
	uint64_t random = 5;

	(void)state;
	for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++) {
		testing_permutation(&made, 20, degrees[i], 1000, &random);
		assert_int_equal(degree_of(), degrees[i]);
		assert_exact();
		testing_permutation(&made, 2, degrees[i], 700, &random);
		assert_exact();
	}
}

/* So many nodes that Euler splits are used by themselves. */
static void test_many_nodes(void **state)
{
	uint64_t random = 6;

	(void)state;
	for (uint32_t degree = 1; degree <= 6; degree++) {
		testing_permutation(&made, 10000, degree, 1000, &random);
		assert_exact();
	}
}

/* Hosts of many leaves send to one leaf, and some elsewhere: a table with a column for each colour
 * and a row for each leaf would be large, so leaves are merged. */
static void test_stars(void **state)
{
	(void)state;
	testing_begin(&made, 3000, 3000);
	for (uint32_t i = 0; i < 3000; i++)
		testing_edge(&made, i, 17);
	for (uint32_t i = 0; i < 2000; i++)
		testing_edge(&made, 2999, 3000 - 1 - i);
	assert_int_equal(degree_of(), 3000);
	assert_exact();
}

static void test_small(void **state)
{
	(void)state;
	testing_begin(&made, 0, 0);
	assert_exact();
	assert_int_equal(colours_by(HD_COLOUR_PAPER), 0);
	testing_begin(&made, 5, 7); /* no edges */
	assert_exact();
	assert_int_equal(colours_by(HD_COLOUR_PAPER), 0);
	testing_begin(&made, 1, 1);
	for (unsigned i = 0; i < 200; i++)
		testing_edge(&made, 0, 0);
	assert_exact();
	assert_int_equal(colours_by(HD_COLOUR_PAPER), 200);
}

/* The same graph gets the same colours. */
static void test_repeatable(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int algorithm = HD_COLOUR_AUTO; algorithm <= HD_COLOUR_PAPER; algorithm++)
		for (unsigned i = 0; i < 50; i++) {
			testing_permutation(&made, 36, 6, 900, &random);
			colours_by((enum hd_colour_algorithm)algorithm);
			memcpy(again, colour, made.graph.edge_count * sizeof(*again));
			colours_by((enum hd_colour_algorithm)algorithm);
			assert_memory_equal(again, colour, made.graph.edge_count * sizeof(*again));
		}
}

/* An edge to a node that does not exist. */
static void test_bad_edges(void **state)
{
	uint32_t colours = 99;
	struct hd_error err = {""};

	(void)state;
	testing_begin(&made, 3, 2);
	testing_edge(&made, 2, 1);
	testing_edge(&made, 2, 2);
	assert_int_equal(hd_colour_edges(&made.graph, HD_COLOUR_AUTO, colour, &colours, &err),
			 -EINVAL);
	assert_string_equal(err.text, "edge 1 joins the nodes 2 and 2, but there are 3 left and 2 "
				      "right nodes");
	assert_int_equal(colours, 99);
	made.left[1] = 3;
	made.right[1] = 0;
	assert_int_equal(hd_colour_edges(&made.graph, HD_COLOUR_AUTO, colour, &colours, &err),
			 -EINVAL);
}

static void test_names(void **state)
{
	static const char *const names[] = {"auto", "paths", "euler", "paper"};
	enum hd_colour_algorithm algorithm;

	(void)state;
	for (int i = HD_COLOUR_AUTO; i <= HD_COLOUR_PAPER; i++) {
		assert_true(hd_colour_algorithm_parse(names[i], &algorithm));
		assert_int_equal(algorithm, i);
	}
	assert_false(hd_colour_algorithm_parse("", &algorithm));
	assert_false(hd_colour_algorithm_parse("Auto", &algorithm));
	assert_false(hd_colour_algorithm_parse("konig", &algorithm));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_any_graph),
	    cmocka_unit_test(test_optimum),
	    cmocka_unit_test(test_paper_matchings),
	    cmocka_unit_test(test_counter_example),
	    cmocka_unit_test(test_partial_permutations),
	    cmocka_unit_test(test_many_colours),
	    cmocka_unit_test(test_many_nodes),
	    cmocka_unit_test(test_stars),
	    cmocka_unit_test(test_small),
	    cmocka_unit_test(test_repeatable),
	    cmocka_unit_test(test_bad_edges),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
