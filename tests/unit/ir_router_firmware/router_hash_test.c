/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The hashes that choose an egress port for a pair of LIDs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/base/random.h>
#include <math.h>
#include <router_hash.h>
#include <string.h>

#define HOSTS 432u
#define CANDIDATES_MAX 72u
#define BLOCK 72u
#define TRIALS 4000u

static uint32_t counts[CANDIDATES_MAX];

/* Chi-square of all ordered pairs of 432 hosts, whose LIDs are `stride` apart. */
static double chi_square(uint32_t candidates, uint32_t stride, uint32_t base)
{
	double expected = (double)HOSTS * (HOSTS - 1) / candidates, sum = 0;

	memset(counts, 0, sizeof(counts));
	for (uint32_t s = 0; s < HOSTS; s++)
		for (uint32_t d = 0; d < HOSTS; d++)
			if (s != d)
				counts[hd_router_hash_index(
				    HD_ROUTER_HASH_PAIR, (uint16_t)(base + s * stride),
				    (uint16_t)(base + d * stride), candidates)]++;
	for (uint32_t i = 0; i < candidates; i++)
		sum += (counts[i] - expected) * (counts[i] - expected) / expected;
	return sum;
}

/* A chi-square as a number of standard deviations (Wilson and Hilferty). */
static double deviation(double chi, uint32_t freedom)
{
	double variance = 2.0 / (9.0 * freedom);

	return (cbrt(chi / freedom) - (1 - variance)) / sqrt(variance);
}

/* `pair` uses all of 2 to 72 candidates alike, whatever the distance of LIDs: of 71 values, each
 * lies within 3 standard deviations, and their mean within 1. */
static void pair_spreads_evenly(void **state)
{
	static const uint32_t strides[] = {1, 2, 8, 113};

	(void)state;
	for (uint32_t k = 0; k < sizeof(strides) / sizeof(strides[0]); k++) {
		double worst = 0, mean = 0;

		for (uint32_t n = 2; n <= CANDIDATES_MAX; n++) {
			double z = deviation(chi_square(n, strides[k], 1), n - 1);

			worst = fmax(worst, fabs(z));
			mean += z / (CANDIDATES_MAX - 1);
		}
		print_message("stride %3u: largest deviation %.2f, mean %.2f\n", strides[k], worst,
			      mean);
		assert_true(worst < 3);
		assert_true(fabs(mean) < 1);
	}
}

/* The chi-square does find a bad hash: a port that gets a tenth more is far off. */
static void chi_square_can_fail(void **state)
{
	double expected = (double)HOSTS * (HOSTS - 1) / 10, sum = 0;

	(void)state;
	chi_square(10, 1, 1);
	counts[0] += (uint32_t)(expected / 10);
	for (uint32_t i = 0; i < 10; i++)
		sum += (counts[i] - expected) * (counts[i] - expected) / expected;
	assert_true(deviation(sum, 9) > 4);
}

static uint32_t distinct(enum hd_router_hash hash, uint32_t source, uint32_t destination,
			 const uint32_t *order)
{
	uint32_t found = 0;

	memset(counts, 0, sizeof(counts));
	for (uint32_t i = 0; i < BLOCK; i++) {
		uint32_t index =
		    hd_router_hash_index(hash, (uint16_t)(source + i),
					 (uint16_t)(destination + order[i]), CANDIDATES_MAX);

		found += !counts[index]++;
	}
	return found;
}

/* Equal sums collide: over 72 consecutive LIDs on both sides, random permutations and 72
 * candidates, `sum` uses 17% fewer distinct ports than `pair`, which loses no more than chance. */
static void sum_collides(void **state)
{
	uint32_t order[BLOCK];
	uint64_t random = 11;
	double pair = 0, sum = 0, chance = BLOCK * (1 - pow(1 - 1.0 / BLOCK, BLOCK));

	(void)state;
	for (uint32_t trial = 0; trial < TRIALS; trial++) {
		uint32_t source = 1 + (uint32_t)hd_random_below(&random, 40000);
		uint32_t destination = 1 + (uint32_t)hd_random_below(&random, 40000);

		for (uint32_t i = 0; i < BLOCK; i++) {
			uint32_t j = (uint32_t)hd_random_below(&random, i + 1);

			order[i] = order[j];
			order[j] = i;
		}
		pair += distinct(HD_ROUTER_HASH_PAIR, source, destination, order);
		sum += distinct(HD_ROUTER_HASH_SUM, source, destination, order);
	}
	print_message("distinct ports: pair %.2f, sum %.2f (%.1f%% fewer), by chance %.2f\n",
		      pair / TRIALS, sum / TRIALS, 100 * (1 - sum / pair), chance);
	assert_true(fabs(pair / TRIALS - chance) < 0.25);
	assert_true(sum / pair < 0.85 && sum / pair > 0.81);
}

/* A pair has one port: the same on every machine. One candidate is always taken. */
static void choices_are_fixed(void **state)
{
	(void)state;
	assert_int_equal(hd_router_hash_index(HD_ROUTER_HASH_PAIR, 1, 2, 72), 12);
	assert_int_equal(hd_router_hash_index(HD_ROUTER_HASH_SUM, 1, 2, 72),
			 hd_router_hash_index(HD_ROUTER_HASH_SUM, 2, 1, 72));
	for (uint16_t lid = 1; lid < 1000; lid++) {
		assert_int_equal(hd_router_hash_index(HD_ROUTER_HASH_PAIR, lid, 7, 1), 0);
		assert_int_equal(hd_router_hash_index(HD_ROUTER_HASH_SUM, lid, 7, 1), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pair_spreads_evenly),
	    cmocka_unit_test(chi_square_can_fail),
	    cmocka_unit_test(sum_collides),
	    cmocka_unit_test(choices_are_fixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
