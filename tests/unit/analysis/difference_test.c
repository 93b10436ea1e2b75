/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Differences pattern by pattern, against figures worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "testing.h"

#define HALF (HD_SHARE_ONE / 2)
#define QUARTER (HD_SHARE_ONE / 4)

/* Gains of 1/4, -1/4, 0 and 1/2: mean 1/8, squares about it 1/64 + 9/64 + 1/64 + 9/64 = 5/16,
 * over 3 * 4. */
static void it_has_the_mean_and_spread_of_the_gains(void **state)
{
	(void)state;
	const uint64_t first[] = {QUARTER, HALF, HALF, HALF};
	const uint64_t second[] = {HALF, QUARTER, HALF, HD_SHARE_ONE};
	struct hd_difference found = hd_difference_of(first, second, 4);
	assert_int_equal(found.better, 2);
	assert_int_equal(found.worse, 1);
	assert_int_equal(found.same, 1);
	assert_true(fabs(found.mean - 0.125) < 1e-15);
	assert_true(fabs(found.half_width - 2.5758293035489 * sqrt(5 / 16.0 / 12)) < 1e-12);
}

static void the_other_way_round_it_is_the_opposite(void **state)
{
	(void)state;
	const uint64_t first[] = {QUARTER, HALF, HALF}, second[] = {HALF, HALF, HD_SHARE_ONE};
	struct hd_difference there = hd_difference_of(first, second, 3);
	struct hd_difference back = hd_difference_of(second, first, 3);
	assert_true(there.mean > 0 && there.mean == -back.mean);
	assert_true(there.half_width == back.half_width);
	assert_int_equal(there.better, back.worse);
	assert_int_equal(there.same, back.same);
}

/* However much the patterns differ among themselves. */
static void an_equal_gain_of_all_patterns_is_certain(void **state)
{
	(void)state;
	uint64_t first[100], second[100];
	for (uint64_t i = 0; i < 100; i++) {
		first[i] = i * (QUARTER / 100);
		second[i] = first[i] + QUARTER;
	}
	struct hd_difference found = hd_difference_of(first, second, 100);
	assert_true(fabs(found.mean - 0.25) < 1e-12 && found.half_width < 1e-12);
	assert_int_equal(found.better, 100);
}

static void a_single_pattern_has_no_interval(void **state)
{
	(void)state;
	const uint64_t first[] = {QUARTER}, second[] = {HALF};
	struct hd_difference found = hd_difference_of(first, second, 1);
	assert_true(found.mean == 0.25 && found.half_width == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_has_the_mean_and_spread_of_the_gains),
	    cmocka_unit_test(the_other_way_round_it_is_the_opposite),
	    cmocka_unit_test(an_equal_gain_of_all_patterns_is_certain),
	    cmocka_unit_test(a_single_pattern_has_no_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
