/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Histograms of latencies, against the list of all values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

static struct hd_sim_histogram *of_values(const uint64_t *values, uint32_t count)
{
	struct hd_sim_histogram *made = calloc(1, sizeof(*made));

	for (uint32_t i = 0; i < count; i++)
		hd_sim_histogram_add(made, values[i]);
	return made;
}

/* The greatest value of the bin of a value: half of the values do not exceed it. */
static uint64_t top_of(uint64_t value)
{
	uint64_t values[2] = {value, UINT64_MAX}, top;
	struct hd_sim_histogram *histogram = of_values(values, 2);

	top = hd_sim_histogram_quantile(histogram, 0.5);
	free(histogram);
	return top;
}

/* A bin is exact up to 127, and then at most 1/64 of its values wide; the next begins where it ends. */
static void check_bin(uint64_t value)
{
	uint64_t top = top_of(value);

	assert_true(top >= value);
	assert_true(top - value <= value / 64);
	if (value < 128)
		assert_int_equal(top, value);
	assert_int_equal(top_of(top), top);
	if (top < UINT64_MAX >> 1)
		assert_true(top_of(top + 1) > top);
}

static void test_bins(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (uint64_t value = 0; value < 1000; value++)
		check_bin(value);
	for (uint32_t bit = 10; bit < 63; bit++)
		for (uint64_t value = (UINT64_C(1) << bit) - 2; value <= (UINT64_C(1) << bit) + 2;
		     value++)
			check_bin(value);
	for (int i = 0; i < 3000; i++)
		check_bin(hd_random_next(&random) >> (1 + hd_random_below(&random, 60)));
}

/* Values at and above 2^63 count as the greatest below. */
static void test_the_last_bin(void **state)
{
	(void)state;
	assert_int_equal(top_of((UINT64_C(1) << 63) - 1), (UINT64_C(1) << 63) - 1);
	assert_int_equal(top_of(UINT64_C(1) << 63), (UINT64_C(1) << 63) - 1);
	assert_int_equal(top_of(UINT64_MAX), (UINT64_C(1) << 63) - 1);
}

/* Mean and squares are those of the values. */
static void check_mean(const uint64_t *values, uint32_t count)
{
	struct hd_sim_histogram *histogram = of_values(values, count);
	double sum = 0, square = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += (double)values[i];
	for (uint32_t i = 0; i < count; i++)
		square += ((double)values[i] - sum / count) * ((double)values[i] - sum / count);
	assert_near(histogram->mean, sum / count, 1e-12);
	assert_near(histogram->square + 1, square + 1, 1e-9);
	free(histogram);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A quantile is not below the value of that rank, and not above its bin. */
static void check_quantiles(uint64_t *values, uint32_t count)
{
	struct hd_sim_histogram *histogram = of_values(values, count);

	qsort(values, count, sizeof(*values), by_value);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t found = hd_sim_histogram_quantile(histogram, (i + 0.5) / count);
		uint64_t top = top_of(values[i]);
		assert_true(found >= values[i]);
		assert_int_equal(found, top < values[count - 1] ? top : values[count - 1]);
	}
	assert_int_equal(hd_sim_histogram_quantile(histogram, 1), values[count - 1]);
	free(histogram);
}

static void test_random_values(void **state)
{
	uint64_t random = 29, values[64];

	(void)state;
	for (int round = 0; round < 200; round++) {
		uint32_t count = 1 + (uint32_t)hd_random_below(&random, 64);
		uint32_t shift = 20 + (uint32_t)hd_random_below(&random, 40);
		for (uint32_t i = 0; i < count; i++)
			values[i] = hd_random_next(&random) >> shift;
		check_mean(values, count);
		check_quantiles(values, count);
	}
}

static void test_without_values(void **state)
{
	struct hd_sim_histogram *empty = of_values(NULL, 0);

	(void)state;
	assert_int_equal(hd_sim_histogram_quantile(empty, 0.5), 0);
	free(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bins),
	    cmocka_unit_test(test_the_last_bin),
	    cmocka_unit_test(test_random_values),
	    cmocka_unit_test(test_without_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
