/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hop counts by 64 searches at a time against one plain search after the other. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "check_samples.h"

/* Plain breadth-first search from one switch. */
static void search(const struct hd_fabric *fabric, uint32_t source, uint8_t *hops)
{
	uint32_t *queue = calloc(fabric->switch_count, sizeof(*queue)), queued = 1;

	memset(hops, 0xFF, fabric->switch_count);
	hops[source] = 0;
	queue[0] = source;
	for (uint32_t done = 0; done < queued; done++) {
		uint32_t sw = queue[done];
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++) {
			uint32_t to = fabric->isl_to[i];
			if (hops[to] != 0xFF)
				continue;
			hops[to] = (uint8_t)(hops[sw] + 1);
			queue[queued++] = to;
		}
	}
	free(queue);
}

static void compare(const struct hd_fabric *fabric, unsigned threads)
{
	size_t n = fabric->switch_count;
	uint8_t *hops = malloc(n * n), *expected = malloc(n);
	struct hd_error err;

	assert_int_equal(hd_fabric_distances(fabric, threads, hops, &err), 0);
	for (uint32_t sw = 0; sw < n; sw++) {
		search(fabric, sw, expected);
		assert_memory_equal(hops + sw * n, expected, n);
	}
	free(hops);
	free(expected);
}

/* Any fabric, in one piece or several, below and above a batch of 64, any number of threads. */
static void equals_plain_search(void **unused)
{
	uint64_t state = 11;

	(void)unused;
	for (unsigned i = 0; i < 120; i++) {
		struct hd_fabric *fabric = sample_random_fabric(&state, 200);
		compare(fabric, i % 4);
		hd_fabric_free(fabric);
	}
}

/* A ring of 509 switches is 254 hops across, which a byte holds; of 510, which it does not. */
static void refuses_more_than_a_byte(void **unused)
{
	struct hd_fabric *fits = sample_ring(509), *wide = sample_ring(510);
	uint8_t *hops = malloc(510 * 510);
	struct hd_error err;

	(void)unused;
	compare(fits, 2);
	assert_int_equal(hd_fabric_distances(wide, 2, hops, &err), -ERANGE);
	assert_non_null(strstr(err.text, "254"));
	free(hops);
	hd_fabric_free(fits);
	hd_fabric_free(wide);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equals_plain_search),
	    cmocka_unit_test(refuses_more_than_a_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
