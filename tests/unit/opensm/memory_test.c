/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports that get their lanes late, when memory is short: each new one is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "late_ports.h"
#include "short_memory.h"

/* Notes one port without any memory. */
static bool note_without_memory(struct late_ports *known, uint32_t number)
{
	struct late_ports now = {0};

	assert_true(late_ports_add(&now, 1, number));
	short_memory_begin(1, SHORT_MEMORY_FROM_THEN_ON);
	bool again = late_ports_note(known, &now);
	short_memory_end();
	return again;
}

/* Property: whether a port is new does not depend on memory. */
static void late_ports(void **state)
{
	struct late_ports known = {0};

	(void)state;
	assert_true(note_without_memory(&known, 1));
	assert_false(note_without_memory(&known, 1));
	assert_true(note_without_memory(&known, 2));
	assert_false(note_without_memory(&known, 2));
	late_ports_release(&known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(late_ports)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
