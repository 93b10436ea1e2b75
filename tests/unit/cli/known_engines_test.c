/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands' engines are those of HEDDLE_ENGINE_PATH at the first call, until they are forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalogue.h"

#include <stdlib.h>

static unsigned count_known(void)
{
	unsigned count;

	catalogue_known_engines(&count);
	return count;
}

static void modules_are_loaded_once(void **state)
{
	unsigned built_in;

	(void)state;
	hd_engines(&built_in);
	assert_int_equal(setenv(KNOWN_ENGINES_PATH, MODULES "/good", 1), 0);
	assert_non_null(catalogue_find_engine("good"));
	assert_int_equal(unsetenv(KNOWN_ENGINES_PATH), 0);
	assert_int_equal(count_known(), built_in + 1);
	catalogue_forget_engines();
	assert_null(catalogue_find_engine("good"));
	assert_int_equal(count_known(), built_in);
	catalogue_forget_engines();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(modules_are_loaded_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
