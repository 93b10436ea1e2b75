/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The key channel when memory is short: -ENOMEM with a reason, and nothing is lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "short_memory.h"

#include <heddle/keyd/channel.h>
#include <stdlib.h>

static const uint64_t numbers[] = {1, 2};
static struct hd_key_entry entries[] = {{1, 1, 1}, {2, 2, 2}};

static const struct hd_channel_message messages[] = {
    {.type = HD_CHANNEL_FABRIC,
     .fabric = {.netlist = "x", .netlist_length = 1, .aside = numbers, .aside_count = 2}},
    {.type = HD_CHANNEL_HELD, .held = {2, numbers}},
    {.type = HD_CHANNEL_SET, .set = {.key = 1, .overlay = {2, entries}}},
};

struct trip {
	const struct hd_channel_message *message;
	struct hd_channel_message read;
};

static int call(void *context, struct hd_error *err)
{
	struct trip *trip = context;
	uint8_t *bytes;
	size_t length, used;
	int rc = hd_channel_encode(trip->message, &bytes, &length);

	if (rc)
		return hd_error_no_memory(err);
	rc = hd_channel_decode(bytes, length, &trip->read, &used, err);
	free(bytes);
	return rc;
}

static void settle(void *context, int rc)
{
	struct trip *trip = context;

	if (!rc)
		hd_channel_release(&trip->read);
}

static void test_short(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		struct trip trip = {.message = &messages[i]};
		struct short_memory_case tried = {
		    .what = "a trip", .context = &trip, .call = call, .settle = settle};

		assert_int_equal(short_memory_try(&tried), 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_short)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
