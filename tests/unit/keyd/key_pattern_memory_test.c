/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns when memory is short: -ENOMEM with a reason, and nothing is lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "short_memory.h"

#include <heddle/keyd/key_pattern.h>
#include <string.h>

struct attempt {
	const char *text;
	struct hd_key_pattern *pattern;
};

static int make(void *context, struct hd_error *err)
{
	struct attempt *attempt = context;

	return hd_key_pattern_new(attempt->text, 36, &attempt->pattern, err);
}

static int read(void *context, struct hd_error *err)
{
	struct attempt *attempt = context;

	return hd_key_pattern_read(attempt->text, strlen(attempt->text), "flows", 36,
				   &attempt->pattern, err);
}

static int unpack(void *context, struct hd_error *err)
{
	struct attempt *attempt = context;

	return hd_key_pattern_unpack(attempt->text, 36, &attempt->pattern, err);
}

static void settle(void *context, int rc)
{
	struct attempt *attempt = context;

	if (!rc)
		hd_key_pattern_free(attempt->pattern);
}

static void test_short(void **state)
{
	static const struct {
		const char *text;
		int (*call)(void *, struct hd_error *);
	} cases[] = {{"stencil3d", make},
		     {"random", make},
		     {"phase\n0 1\nphase\n1 2\n", read},
		     {"0>1/1>2", unpack}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct attempt attempt = {.text = cases[i].text};
		struct short_memory_case tried = {.what = cases[i].text,
						  .context = &attempt,
						  .call = cases[i].call,
						  .settle = settle};

		assert_in_range(short_memory_try(&tried), 3, 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_short)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
