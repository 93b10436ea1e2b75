/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SwitchPortStateTable: each port has the four bits that the InfiniBand specification gives it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/base/random.h>
#include <heddle/mad/smp.h>
#include <string.h>

/* Port 0 and port 1 are in the first byte, the even one in its high four bits; port 127 ends the last one. */
static void test_places(void **state)
{
	uint8_t data[HD_SMP_DATA] = {0}, states[HD_PORT_STATES];

	(void)state;
	data[0] = 0x41;
	data[1] = 0x23;
	data[HD_SMP_DATA - 1] = 0x14;
	hd_port_states_decode(data, states);
	assert_int_equal(states[0], HD_PORT_ACTIVE);
	assert_int_equal(states[1], HD_PORT_DOWN);
	assert_int_equal(states[2], HD_PORT_INITIALIZE);
	assert_int_equal(states[3], HD_PORT_ARMED);
	for (unsigned port = 4; port < 126; port++)
		assert_int_equal(states[port], HD_PORT_NONE);
	assert_int_equal(states[126], HD_PORT_DOWN);
	assert_int_equal(states[127], HD_PORT_ACTIVE);
}

/* Whatever the states of 128 ports are, they come back. Bits are set one at a time, by their number in the block: port
 * p has the bits 4p to 4p + 3, the first one has the most weight. */
static void test_all_states(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		uint8_t data[HD_SMP_DATA] = {0}, want[HD_PORT_STATES], states[HD_PORT_STATES];

		for (unsigned port = 0; port < HD_PORT_STATES; port++) {
			want[port] = (uint8_t)hd_random_below(&random, 16);
			for (unsigned bit = 0; bit < 4; bit++)
				if (want[port] & (8u >> bit))
					data[(4 * port + bit) / 8] |=
					    (uint8_t)(0x80u >> (4 * port + bit) % 8);
		}
		memset(states, 0xEE, sizeof(states));
		hd_port_states_decode(data, states);
		assert_memory_equal(states, want, sizeof(want));
	}
}

static void test_blocks(void **state)
{
	(void)state;
	assert_int_equal(hd_port_states_blocks(1), 1);
	assert_int_equal(hd_port_states_blocks(36), 1);
	assert_int_equal(hd_port_states_blocks(127), 1);
	assert_int_equal(hd_port_states_blocks(128), 2);
	assert_int_equal(hd_port_states_blocks(254), 2);
}

/* Bit 3 of the second mask, which is valid with bit 15 of the first one. */
static void test_support(void **state)
{
	(void)state;
	assert_true(hd_port_states_supported(0x8000, 0x0008));
	assert_true(hd_port_states_supported(0xFFFFFFFF, 0xFFFF));
	assert_false(hd_port_states_supported(0xFFFF7FFF, 0xFFFF));
	assert_false(hd_port_states_supported(0xFFFFFFFF, 0xFFF7));
	assert_false(hd_port_states_supported(0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_places),
	    cmocka_unit_test(test_all_states),
	    cmocka_unit_test(test_blocks),
	    cmocka_unit_test(test_support),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
