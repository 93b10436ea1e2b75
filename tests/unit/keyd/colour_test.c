/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Colours for the edges of bipartite multigraphs: never a conflict, and as few as there can be. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "colour_testing.h"

#define GRAPHS 10000u

static struct testing_graph made;
static uint32_t colour[EDGES_MAX];

static const enum hd_colour_algorithm exact[] = {HD_COLOUR_AUTO, HD_COLOUR_PATHS, HD_COLOUR_EULER};

#define EXACT (sizeof(exact) / sizeof(exact[0]))

/* Colours the graph that was made, checks the colours, and returns their number. */
static uint32_t colours_by(enum hd_colour_algorithm algorithm)
{
	uint32_t colours = UINT32_MAX;

	memset(colour, 0xFF, sizeof(colour));
	assert_int_equal(hd_colour_edges(&made.graph, algorithm, colour, &colours, NULL), 0);
	if (!testing_is_proper(&made.graph, colour, colours))
		fail_msg("algorithm %d: a conflict", (int)algorithm);
	return colours;
}

static void assert_exact(void)
{
	uint32_t degree;

	assert_int_equal(hd_multigraph_degree(&made.graph, &degree), 0);
	for (size_t i = 0; i < EXACT; i++)
		assert_int_equal(colours_by(exact[i]), degree);
}

/* As many colours as the largest degree, on graphs of any form. */
static void test_any_graph(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned i = 0; i < GRAPHS; i++) {
		testing_any(&made, &random);
		assert_exact();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_any_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
