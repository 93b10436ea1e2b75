/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Settings are refused outside of their limits, and taken at them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

#define PACKET (2048u + 26u)
#define SMALL(field, least, most)                                                                  \
	{                                                                                          \
#field, offsetof(struct hd_sim_settings, field), false, least, most                \
	}
#define LARGE(field, least, most)                                                                  \
	{                                                                                          \
#field, offsetof(struct hd_sim_settings, field), true, least, most                 \
	}

static const struct limit {
	const char *name;
	size_t offset;
	bool large; /* of 64 bits */
	uint64_t least, most;
} limits[] = {
    LARGE(bit_rate, 0, UINT64_C(10000000000000)),
    LARGE(forced_rate, 0, UINT64_C(10000000000000)),
    LARGE(link_latency, 0, HD_SIM_SECOND),
    LARGE(switch_latency, 0, HD_SIM_SECOND),
    LARGE(conga_tau, 1000, HD_SIM_SECOND),
    SMALL(lanes, 1, 15),
    SMALL(buffer, PACKET, 1u << 30),
    SMALL(host_buffer, PACKET, 1u << 30),
    SMALL(central_buffer, PACKET, 1u << 30),
    SMALL(class_count, 1, 1u << 16),
};

static int check(const struct limit *limit, uint64_t value)
{
	struct hd_sim_settings settings = hd_sim_settings_default();
	struct hd_error why = {{0}};
	uint8_t *place = (uint8_t *)&settings + limit->offset;
	uint32_t small = (uint32_t)value;
	int rc;

	memcpy(place, limit->large ? (void *)&value : (void *)&small,
	       limit->large ? sizeof(value) : sizeof(small));
	rc = hd_sim_settings_check(&settings, &why);
	if (rc && strncmp(why.text, limit->name, strlen(limit->name)) != 0)
		fail_msg("'%s' does not name %s", why.text, limit->name);
	return rc;
}

static void test_limits(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		assert_int_equal(check(&limits[i], limits[i].least), 0);
		assert_int_equal(check(&limits[i], limits[i].most), 0);
		assert_int_equal(check(&limits[i], limits[i].most + 1), -ERANGE);
		if (limits[i].least)
			assert_int_equal(check(&limits[i], limits[i].least - 1), -ERANGE);
	}
}

/* Buffers hold a packet of the MTU. */
static void test_packets_fit(void **state)
{
	struct hd_sim_settings settings = hd_sim_settings_default();

	(void)state;
	settings.mtu = 32768 - 26;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), 0);
	settings.mtu++;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), -ERANGE);
	settings.buffer = settings.host_buffer = 65536;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), 0);
	settings.mtu = 0;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), -ERANGE);
}

/* Tables of arbitration name lanes that ports have, and have 64 entries at most. */
static void test_arbitration(void **state)
{
	struct hd_sim_settings settings = hd_sim_settings_default();

	(void)state;
	settings.lanes = 3;
	settings.arbitration.high_count = settings.arbitration.low_count = 64;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), 0);
	settings.arbitration.high[63].lane = settings.arbitration.low[0].lane = 2;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), 0);
	settings.arbitration.high[63].lane = 3;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), -ERANGE);
	settings.arbitration.high[63].lane = 0;
	settings.arbitration.low[0].lane = 3;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), -ERANGE);
	settings.arbitration.low[0].lane = 0;
	settings.arbitration.low_count = 65;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), -ERANGE);
}

/* Searches for deadlocks have a least pause. */
static void test_pause_of_searches(void **state)
{
	struct hd_sim_settings settings = hd_sim_settings_default();

	(void)state;
	settings.deadlock_check = 99999;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), -ERANGE);
	settings.deadlock_check = 100000;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_packets_fit),
	    cmocka_unit_test(test_arbitration),
	    cmocka_unit_test(test_pause_of_searches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
