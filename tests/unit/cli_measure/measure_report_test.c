/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Figures of heddle-measure that need no network. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure_report.h"

#define assert_near(value, expected, within) assert_true(fabs((value) - (expected)) <= (within))

/* Property: a pair with congestion pi is in the bin that has 1/pi, also where 1/pi is the lower end
 * of a bin; the last bin has 1. */
static void pairs_are_in_their_bins(void **state)
{
	const uint64_t histogram[] = {0, 1000, 200, 30, 4, 5, 0, 0, 0, 0, 6};
	const struct hd_congestion_report report = {.histogram_size = 11, .histogram = histogram};
	uint64_t fifty[50] = {0}, ten[10] = {0}, one[1] = {0};

	(void)state;
	measure_report_bins(&report, 50, fifty);
	assert_int_equal(fifty[49], 1000);
	assert_int_equal(fifty[25], 200);
	assert_int_equal(fifty[16], 30);
	assert_int_equal(fifty[12], 4);
	assert_int_equal(fifty[10], 5);
	assert_int_equal(fifty[5], 6);
	measure_report_bins(&report, 10, ten);
	assert_int_equal(ten[9], 1000);
	assert_int_equal(ten[5], 200);
	assert_int_equal(ten[3], 30);
	assert_int_equal(ten[2], 9);
	assert_int_equal(ten[1], 6);
	measure_report_bins(&report, 1, one);
	assert_int_equal(one[0], 1245);
}

/* Property: 1 if both rise together, -1 if one falls, 0 if one does not vary. */
static void correlations(void **state)
{
	const double rising[] = {0.2, 0.3, 0.5, 0.6}, flat[] = {0.5, 0.5, 0.5, 0.5};
	uint64_t same[4], reverse[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		same[i] = (uint64_t)((rising[i] * 0.9 + 0.05) * HD_SHARE_ONE);
		reverse[3 - i] = same[i];
	}
	assert_near(measure_report_correlation(rising, same, 4), 1, 1e-6);
	assert_near(measure_report_correlation(rising, reverse, 4), -1, 1e-6);
	assert_near(measure_report_correlation(flat, same, 4), 0, 0);
	assert_near(measure_report_correlation(rising, same, 1), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pairs_are_in_their_bins),
	    cmocka_unit_test(correlations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
