/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Colours when memory is short: -ENOMEM with a reason, and nothing is lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "short_memory.h"

#include "colour_testing.h"

struct attempt {
	enum hd_colour_algorithm algorithm;
	struct testing_graph made;
	uint32_t colour[EDGES_MAX], colours;
};

static int call(void *context, struct hd_error *err)
{
	struct attempt *attempt = context;

	return hd_colour_edges(&attempt->made.graph, attempt->algorithm, attempt->colour,
			       &attempt->colours, err);
}

static void settle(void *context, int rc)
{
	struct attempt *attempt = context;

	if (!rc)
		assert_true(
		    testing_is_proper(&attempt->made.graph, attempt->colour, attempt->colours));
}

static void test_short(void **state)
{
	static struct attempt attempt;
	uint64_t random = 1;

	(void)state;
	for (int algorithm = HD_COLOUR_AUTO; algorithm <= HD_COLOUR_PAPER; algorithm++) {
		struct short_memory_case tried = {
		    .what = "colours", .context = &attempt, .call = call, .settle = settle};

		attempt.algorithm = (enum hd_colour_algorithm)algorithm;
		testing_permutation(&attempt.made, 6, 6, 900, &random);
		assert_true(short_memory_try(&tried) > 5);
		testing_begin(&attempt.made, 50, 50); /* merges nodes */
		for (uint32_t i = 0; i < 50; i++)
			testing_edge(&attempt.made, i, 3);
		assert_true(short_memory_try(&tried) > 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_short)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
