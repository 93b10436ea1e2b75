/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Head-of-queue lifetimes: each gets the shortest step that is long enough; other texts are
 * refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hoq.h"

static int value_of(const char *text)
{
	struct hd_error err;
	int value = -99;

	assert_int_equal(hd_value_lifetime(text, &value, &err), 0);
	return value;
}

/* Each value is the first of InfiniBand's 20 steps that is not shorter than the requested lifetime.
 */
static void the_shortest_that_is_long_enough(void **state)
{
	(void)state;
	for (unsigned us = 1; us <= HD_LIFETIME_LONGEST_US; us += us / 100 + 1) {
		char text[16];
		int value, slow = 0;

		snprintf(text, sizeof(text), "%u", us);
		value = value_of(text);
		while (hoq_microseconds((unsigned)slow) < us)
			slow++;
		assert_int_equal(value, slow);
	}
}

static void the_ends_of_the_scale(void **state)
{
	(void)state;
	assert_int_equal(value_of("0"), -1);
	assert_int_equal(value_of("1"), 0);
	assert_int_equal(value_of("4"), 0);
	assert_int_equal(value_of("5"), 1);
	assert_int_equal(value_of("8"), 1);
	assert_int_equal(value_of("9"), 2);
	assert_int_equal(value_of("100"), 5);
	assert_int_equal(value_of("2147483"), HD_LIFETIME_LONGEST);
	assert_int_equal(value_of("infinite"), HD_LIFETIME_INFINITE);
}

/* A text that is no lifetime is refused with a reason, and the value does not change. */
static void everything_else_is_refused(void **state)
{
	static const struct {
		const char *text;
		int error;
	} bad[] = {{"", -EINVAL},
		   {"-1", -EINVAL},
		   {"+5", -EINVAL},
		   {"1.5", -EINVAL},
		   {"1e3", -EINVAL},
		   {" 7", -EINVAL},
		   {"7us", -EINVAL},
		   {"Infinite", -EINVAL},
		   {"2147484", -ERANGE},
		   {"99999999999999999999999", -ERANGE},
		   {"18446744073709551616", -ERANGE}};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hd_error err = {""};
		int value = -99;

		assert_int_equal(hd_value_lifetime(bad[i].text, &value, &err), bad[i].error);
		assert_int_equal(value, -99);
		assert_non_null(strstr(err.text, bad[i].text));
	}
}

static void printed_as_time(void **state)
{
	char text[HOQ_TEXT];

	(void)state;
	assert_string_equal(hoq_print(0, text, sizeof(text)), "4.096 us (HOQLife 0)");
	assert_string_equal(hoq_print(15, text, sizeof(text)), "134.218 ms (HOQLife 15)");
	assert_string_equal(hoq_print(18, text, sizeof(text)), "1.074 s (HOQLife 18)");
	assert_string_equal(hoq_print(20, text, sizeof(text)), "no limit (HOQLife 20)");
	assert_string_equal(hoq_print(31, text, sizeof(text)), "no limit (HOQLife 31)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_shortest_that_is_long_enough),
	    cmocka_unit_test(the_ends_of_the_scale),
	    cmocka_unit_test(everything_else_is_refused),
	    cmocka_unit_test(printed_as_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
