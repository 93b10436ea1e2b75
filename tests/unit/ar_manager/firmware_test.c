/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Versions of firmware, in their short and long forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <heddle/ar_manager/firmware.h>

static void put(uint8_t *data, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		data[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* A record with version 27.2012.1010, whose short form is 27.220.242. */
static void fill(uint8_t data[HD_FIRMWARE_DATA])
{
	memset(data, 0, HD_FIRMWARE_DATA);
	data[10] = 0xd2;
	data[11] = 0xf0;
	data[41] = 27;
	data[42] = 2012 & 0xFF;
	data[43] = 1010 & 0xFF;
	memcpy(data + 56, "MT_0000000063", 13);
	put(data + 76, 27);
	put(data + 80, 2012);
	put(data + 84, 1010);
}

static void is(const uint8_t data[HD_FIRMWARE_DATA], uint32_t major, uint32_t minor,
	       uint32_t sub_minor)
{
	struct hd_firmware firmware;

	hd_firmware_decode(data, &firmware);
	assert_int_equal(firmware.device, 0xd2f0);
	assert_int_equal(firmware.major, major);
	assert_int_equal(firmware.minor, minor);
	assert_int_equal(firmware.sub_minor, sub_minor);
	assert_string_equal(firmware.psid, "MT_0000000063");
}

static void the_long_form_counts(void **state)
{
	uint8_t data[HD_FIRMWARE_DATA];

	(void)state;
	fill(data);
	is(data, 27, 2012, 1010);
}

/* Older devices have something else there. */
static void what_does_not_fit_is_no_version(void **state)
{
	uint8_t data[HD_FIRMWARE_DATA];

	(void)state;
	for (unsigned word = 0; word < 3; word++) {
		fill(data);
		data[76 + 4 * word + 3] ^= 1;
		is(data, 27, 2012 & 0xFF, 1010 & 0xFF);
	}
	fill(data);
	memset(data + 76, 0, 12);
	is(data, 27, 2012 & 0xFF, 1010 & 0xFF);
}

/* A text without an end ends all the same. */
static void a_long_text_ends(void **state)
{
	uint8_t data[HD_FIRMWARE_DATA];
	struct hd_firmware firmware;

	(void)state;
	memset(data, 'x', sizeof(data));
	hd_firmware_decode(data, &firmware);
	assert_int_equal(strlen(firmware.psid), HD_FIRMWARE_PSID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_long_form_counts),
	    cmocka_unit_test(what_does_not_fit_is_no_version),
	    cmocka_unit_test(a_long_text_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
