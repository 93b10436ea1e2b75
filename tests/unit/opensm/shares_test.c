/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Weights for multicast: they have the configured ratio, and are the largest possible ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vlarb_shares.h"

static void ratios_of_the_policies(void **state)
{
	(void)state;
	assert_true(vlarb_shares_ratio(SHARE_EQUAL, 50) == 1);
	assert_true(vlarb_shares_ratio(SHARE_SAME, 50) == 1);
	assert_true(vlarb_shares_ratio(SHARE_LINEAR, 50) == 50);
	assert_true(fabs(vlarb_shares_ratio(SHARE_LOG, 50) - 4.912) < 0.001);
	/* With at most one destination, multicast gets the same as unicast with any share. */
	for (enum multicast_share share = SHARE_SAME; share <= SHARE_LOG; share++) {
		assert_true(vlarb_shares_ratio(share, 1) == 1);
		assert_true(vlarb_shares_ratio(share, 0) == 1);
	}
}

/* More destinations never mean less bandwidth; `log` lies between `equal` and `linear`. */
static void shares_grow_with_destinations(void **state)
{
	double linear = 0, log = 0;

	(void)state;
	for (double count = 1; count < 50000; count *= 1.3) {
		double linear_now = vlarb_shares_ratio(SHARE_LINEAR, count);
		double log_now = vlarb_shares_ratio(SHARE_LOG, count);

		assert_true(linear_now > linear && log_now > log);
		assert_true(log_now >= 1 && log_now <= linear_now);
		linear = linear_now;
		log = log_now;
	}
}

static void weights_by_hand(void **state)
{
	struct share_weights weights;

	(void)state;
	weights = vlarb_shares_weights(1, 1);
	assert_int_equal(weights.unicast, 255);
	assert_int_equal(weights.multicast, 255);
	weights = vlarb_shares_weights(1, 7); /* 7 * 36 */
	assert_int_equal(weights.unicast, 36);
	assert_int_equal(weights.multicast, 252);
	weights = vlarb_shares_weights(10, 3);
	assert_int_equal(weights.unicast, 8);
	assert_int_equal(weights.multicast, 240);
	weights = vlarb_shares_weights(1000, 7);
	assert_int_equal(weights.unicast, 1);
	assert_int_equal(weights.multicast, 255);
}

/* The largest unicast weight for which the weight of multicast fits in a byte; tries all. */
static unsigned slow_unicast(double total)
{
	unsigned best = 1;

	for (unsigned weight = 1; weight <= 255; weight++)
		if (total * weight <= 255)
			best = weight;
	return best;
}

static void as_large_as_a_byte_allows(void **state)
{
	(void)state;
	for (unsigned lanes = 1; lanes <= 14; lanes++) {
		for (double ratio = 1; ratio < 400; ratio *= 1.07) {
			struct share_weights weights = vlarb_shares_weights(ratio, lanes);
			double total = ratio * lanes;

			assert_int_equal(weights.unicast, slow_unicast(total));
			assert_true(weights.multicast >= 1);
			if (total <= 255)
				assert_true(fabs(weights.multicast - total * weights.unicast) <=
					    0.5);
			else
				assert_int_equal(weights.multicast, 255);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ratios_of_the_policies),
	    cmocka_unit_test(shares_grow_with_destinations),
	    cmocka_unit_test(weights_by_hand),
	    cmocka_unit_test(as_large_as_a_byte_allows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
