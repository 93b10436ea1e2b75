/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Collective operations as steps: each send has its receive, and in the end every rank has what the
 * operation promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "traffic_exchange.h"

#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 40

/* What each rank knows of each rank's data, as far as a simple model of the messages tells: a
 * message carries all that its sender knows. */
static bool knows[RANKS_MAX][RANKS_MAX];

/* Runs all steps at the same time; checks that they fit together. Returns their number. */
static uint32_t run(enum exchange exchange, uint32_t ranks, uint32_t root, uint64_t bytes)
{
	struct exchange_step steps[RANKS_MAX];
	bool before[RANKS_MAX][RANKS_MAX];
	uint32_t count = 0;

	memset(knows, 0, sizeof(knows));
	for (uint32_t r = 0; r < ranks; r++)
		knows[r][r] = true;
	for (;; count++) {
		uint32_t more = 0;
		for (uint32_t r = 0; r < ranks; r++)
			more += exchange_step(exchange, ranks, r, root, bytes, count, &steps[r]);
		assert_true(!more || more == ranks);
		if (!more)
			return count;
		memcpy(before, knows, sizeof(knows));
		for (uint32_t r = 0; r < ranks; r++) {
			uint32_t to = steps[r].to;
			assert_true(steps[r].bytes >= 1 && to != r);
			if (to == HD_NONE)
				continue;
			assert_true(to < ranks && steps[to].from == r);
			for (uint32_t i = 0; i < ranks; i++)
				knows[to][i] |= before[r][i];
		}
		for (uint32_t r = 0; r < ranks; r++)
			assert_true(steps[r].from == HD_NONE || steps[steps[r].from].to == r);
	}
}

static void assert_all_know_all(enum exchange exchange, uint32_t ranks)
{
	for (uint32_t r = 0; r < ranks; r++)
		for (uint32_t i = 0; i < ranks; i++)
			if (!knows[r][i])
				fail_msg("%s, %u ranks: %u knows nothing of %u",
					 exchange_names[exchange], ranks, r, i);
}

static void test_all_know_all(void **state)
{
	(void)state;
	for (uint32_t e = 0; e < EXCHANGE_BROADCAST; e++)
		for (uint32_t ranks = 2; ranks <= RANKS_MAX; ranks++) {
			run(e, ranks, 0, 64);
			assert_all_know_all(e, ranks);
			run(e, ranks, 0, 1 << 20);
			assert_all_know_all(e, ranks);
		}
}

static void test_trees(void **state)
{
	(void)state;
	for (uint32_t ranks = 2; ranks <= RANKS_MAX; ranks++)
		for (uint32_t root = 0; root < ranks; root++) {
			run(EXCHANGE_BROADCAST, ranks, root, 10);
			for (uint32_t r = 0; r < ranks; r++)
				assert_true(knows[r][root]);
			run(EXCHANGE_SCATTER, ranks, root, 10);
			for (uint32_t r = 0; r < ranks; r++)
				assert_true(knows[r][root]);
			run(EXCHANGE_GATHER, ranks, root, 10);
			for (uint32_t r = 0; r < ranks; r++)
				assert_true(knows[root][r]);
			run(EXCHANGE_REDUCE, ranks, root, 10);
			for (uint32_t r = 0; r < ranks; r++)
				assert_true(knows[root][r]);
		}
}

/* Bytes that all ranks send. */
static uint64_t volume(enum exchange exchange, uint32_t ranks, uint64_t bytes)
{
	struct exchange_step step;
	uint64_t sum = 0;

	for (uint32_t r = 0; r < ranks; r++)
		for (uint32_t i = 0; exchange_step(exchange, ranks, r, 0, bytes, i, &step); i++)
			sum += step.to != HD_NONE ? step.bytes : 0;
	return sum;
}

static void test_volumes(void **state)
{
	(void)state;
	/* n (n - 1) blocks; Bruck's sends each block once for each bit of its distance */
	assert_int_equal(volume(EXCHANGE_ALL_TO_ALL_PAIRWISE, 12, 100), 12 * 11 * 100);
	assert_int_equal(volume(EXCHANGE_ALL_TO_ALL_LINEAR, 12, 100), 12 * 11 * 100);
	assert_int_equal(volume(EXCHANGE_ALL_TO_ALL_BRUCK, 12, 100),
			 12 * (0 + 1 + 1 + 2 + 1 + 2 + 2 + 3 + 1 + 2 + 2 + 3) * 100);
	/* each rank sends 2 (n - 1) / n of the vector */
	assert_int_equal(volume(EXCHANGE_ALL_REDUCE_RING, 16, 1600), 16 * 30 * 100);
	assert_int_equal(volume(EXCHANGE_ALL_GATHER_RING, 16, 100), 16 * 15 * 100);
	assert_int_equal(volume(EXCHANGE_ALL_GATHER_DOUBLING, 16, 100), 16 * 15 * 100);
	assert_int_equal(volume(EXCHANGE_BROADCAST, 13, 100), 12 * 100);
	/* in a binomial tree a block goes as many steps as its rank has bits */
	assert_int_equal(volume(EXCHANGE_GATHER, 8, 100), (1 + 1 + 2 + 1 + 2 + 2 + 3) * 100);
	assert_int_equal(volume(EXCHANGE_SCATTER, 8, 100), (1 + 1 + 2 + 1 + 2 + 2 + 3) * 100);
}

static void test_steps(void **state)
{
	(void)state;
	assert_int_equal(run(EXCHANGE_BARRIER, 36, 0, 1), 6);
	assert_int_equal(run(EXCHANGE_ALL_TO_ALL_BRUCK, 36, 0, 1), 6);
	assert_int_equal(run(EXCHANGE_ALL_TO_ALL_PAIRWISE, 36, 0, 1), 35);
	assert_int_equal(run(EXCHANGE_ALL_REDUCE_RING, 36, 0, 1), 70);
	assert_int_equal(run(EXCHANGE_BROADCAST, 36, 5, 1), 6);
	assert_int_equal(run(EXCHANGE_BARRIER, 1, 0, 1), 0);
}

/* The size decides, as in MPICH. */
static void test_auto(void **state)
{
	(void)state;
	assert_int_equal(run(EXCHANGE_ALL_TO_ALL, 16, 0, 256), 4);
	assert_int_equal(run(EXCHANGE_ALL_TO_ALL, 16, 0, 257), 15);
	assert_int_equal(run(EXCHANGE_ALL_REDUCE, 16, 0, 2048), 6);
	assert_int_equal(run(EXCHANGE_ALL_REDUCE, 16, 0, 2049), 30);
	assert_int_equal(run(EXCHANGE_ALL_GATHER, 16, 0, 32767), 4);
	assert_int_equal(run(EXCHANGE_ALL_GATHER, 16, 0, 32768), 15);
	assert_int_equal(run(EXCHANGE_ALL_GATHER, 12, 0, 8), 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_know_all), cmocka_unit_test(test_trees),
	    cmocka_unit_test(test_volumes),	 cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_auto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
