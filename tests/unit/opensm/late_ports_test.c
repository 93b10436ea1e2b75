/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports that get their lanes late: each one is noticed, and the requested sweeps end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "late_ports.h"

#define PORTS 12 /* a mask is a set of ports */

static struct late_ports set_of(unsigned mask)
{
	struct late_ports set = {0};

	for (unsigned i = 0; i < PORTS; i++)
		if (mask >> i & 1)
			assert_true(late_ports_add(&set, i / 3, i % 3));
	return set;
}

static bool note(struct late_ports *known, unsigned mask)
{
	struct late_ports now = set_of(mask);
	bool again = late_ports_note(known, &now);

	assert_int_equal(now.count, 0);
	return again;
}

/* New late ports request one more sweep; ports that stay late do not. */
static void once_for_each(void **state)
{
	struct late_ports known = {0};

	(void)state;
	assert_false(note(&known, 0));
	assert_true(note(&known, 0x0f0));
	assert_false(note(&known, 0x0f0));
	assert_false(note(&known, 0x030));
	late_ports_release(&known);
}

/* Another late port in the next sweep is new, whatever its number. */
static void another_in_the_next_sweep(void **state)
{
	(void)state;
	for (unsigned first = 0; first < PORTS; first++)
		for (unsigned second = 0; second < PORTS; second++) {
			struct late_ports known = {0};

			assert_true(note(&known, 1u << first));
			assert_int_equal(note(&known, 1u << second), first != second);
			late_ports_release(&known);
		}
}

/* A port that was not late for a sweep is new again: its cable came back. */
static void again_after_a_good_sweep(void **state)
{
	struct late_ports known = {0};

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		assert_true(note(&known, 0x11));
		assert_false(note(&known, 0x10));
	}
	late_ports_release(&known);
}

/* Whichever ports are late, a series of requested sweeps is never longer than the number of ports.
 */
static void rows_end(void **state)
{
	struct late_ports known = {0};
	unsigned row = 0;

	(void)state;
	srand(5);
	for (unsigned sweep = 0; sweep < 100000; sweep++) {
		row = note(&known, (unsigned)rand() & (unsigned)rand() & 0xfff) ? row + 1 : 0;
		assert_true(row <= PORTS);
	}
	late_ports_release(&known);
}

/* If no sweep is requested, each late port was late in an earlier sweep of the series. */
static void none_is_overlooked(void **state)
{
	struct late_ports known = {0};
	unsigned excused = 0;

	(void)state;
	srand(6);
	for (unsigned sweep = 0; sweep < 100000; sweep++) {
		unsigned mask = (unsigned)rand() & (unsigned)rand() & (unsigned)rand() & 0xfff;
		bool again = note(&known, mask);

		assert_int_equal(again, (mask & ~excused) != 0);
		excused = again ? excused | mask : mask;
	}
	late_ports_release(&known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(once_for_each),
	    cmocka_unit_test(another_in_the_next_sweep),
	    cmocka_unit_test(again_after_a_good_sweep),
	    cmocka_unit_test(rows_end),
	    cmocka_unit_test(none_is_overlooked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
