/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <keyd_calls.h>
#include <keyd_request.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The digest is SHA-256 of method, blank, path, newline and body: a vector from `sha256sum`. */
static void test_digest(void **state)
{
	char text[KEYD_DIGEST_TEXT];

	(void)state;
	keyd_auth_digest("POST", "/v1/jobs/1/token", "{}", 2, text);
	assert_string_equal(text,
			    "f918fbf34ddf878852abb963ffbbd0eb019edd0e2ecb2c42f6daf7d9ad9338a4");
}

static void test_ids(void **state)
{
	char longest[KEYD_ID_LONGEST + 2];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	assert_true(keyd_request_is_id("A-z.0_9", 7));
	assert_true(keyd_request_is_id(longest, KEYD_ID_LONGEST));
	assert_false(keyd_request_is_id(longest, KEYD_ID_LONGEST + 1));
	assert_false(keyd_request_is_id("", 0));
	assert_false(keyd_request_is_id("a/b", 3));
	assert_false(keyd_request_is_id("a\0b", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_digest),
	    cmocka_unit_test(test_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
