/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands' engines are those of HEDDLE_ENGINE_PATH at the first call, until they are forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "known_engines.h"

#include <stdlib.h>

static unsigned count_known(void)
{
	unsigned count;

	known_engines_all(&count);
	return count;
}

static void modules_are_loaded_once(void **state)
{
	unsigned built_in;

	(void)state;
	hd_engines(&built_in);
	assert_int_equal(setenv(KNOWN_ENGINES_PATH, MODULES "/good", 1), 0);
	assert_non_null(known_engines_find("good"));
	assert_int_equal(unsetenv(KNOWN_ENGINES_PATH), 0);
	assert_int_equal(count_known(), built_in + 1);
	known_engines_forget();
	assert_null(known_engines_find("good"));
	assert_int_equal(count_known(), built_in);
	known_engines_forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(modules_are_loaded_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
