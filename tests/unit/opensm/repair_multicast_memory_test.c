/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Repairs of multicast trees with each allocation failing in turn: they are left to the sweep. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "repair_multicast_testing.h"
#include "short_memory.h"

static int repair(void *context, struct hd_error *err)
{
	(void)context;
	run_repair();
	return strstr(world.text, "out of memory") ? hd_error_no_memory(err) : 0;
}

/* OpenSM knows what the switches hold, also if the repair ended on the way. */
static void settle(void *context, int rc)
{
	(void)context;
	(void)rc;
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		assert_memory_equal(known(sw), world.held[sw], sizeof(world.held[sw]));
	reset();
}

/* Property: a repair, whatever allocation fails. */
static void repairs(void **state)
{
	(void)state;
	start_world();
	assert_true(short_memory_try(&(struct short_memory_case){
			.what = "a repair", .call = repair, .settle = settle}) > 0);
	end_world();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(repairs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
