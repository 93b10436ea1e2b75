/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <keyd_auth.h>
#include <keyd_guard.h>
#include <keyd_request.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char stream[] =
    "PUT /v1/jobs/1 HTTP/1.1\r\nHost: x\r\ncontent-length:  5 \r\n\r\nhello"
    "GET /healthz HTTP/1.1\nAccept: */*\n\n"
    "POST /v1/jobs/1/done HTTP/1.1\r\nContent-Length: 0\r\n\r\n";

/* Requests are found alike in whatever pieces they come. */
static void test_pieces(void **state)
{
	size_t length = strlen(stream);

	(void)state;
	for (size_t cut = 0; cut <= length; cut++) {
		struct keyd_guard guard = {.headers = 0};
		struct keyd_problem problem;
		unsigned first, second;

		assert_int_equal(keyd_guard_feed(&guard, stream, cut, &first, &problem), 0);
		assert_int_equal(
		    keyd_guard_feed(&guard, stream + cut, length - cut, &second, &problem), 0);
		assert_int_equal(first + second, 3);
		assert_false(keyd_guard_is_inside(&guard));
	}
}

/* Inside a request means that bytes are missing. */
static void test_inside(void **state)
{
	struct keyd_guard guard = {.headers = 0};
	struct keyd_problem problem;
	unsigned complete;

	(void)state;
	for (size_t i = 0; i < strlen(stream); i++) {
		assert_int_equal(keyd_guard_feed(&guard, stream + i, 1, &complete, &problem), 0);
		assert_int_equal(keyd_guard_is_inside(&guard), !complete);
	}
}

static int status_of(const char *text)
{
	struct keyd_guard guard = {.headers = 0};
	struct keyd_problem problem = {.status = 0};
	unsigned complete;

	if (!keyd_guard_feed(&guard, text, strlen(text), &complete, &problem))
		return 0;
	assert_true(problem.detail[0] != '\0');
	return problem.status;
}

/* The largest allowed body is taken, one byte more is not. */
static void test_limits(void **state)
{
	(void)state;
	assert_int_equal(status_of("PUT / HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n"), 0);
	assert_int_equal(status_of("PUT / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n"), 413);
	assert_int_equal(
	    status_of("PUT / HTTP/1.1\r\nContent-Length: 18446744073709551617\r\n\r\n"), 400);
	assert_int_equal(status_of("PUT / HTTP/1.1\r\nContent-Length: 5,5\r\n\r\n"), 400);
	assert_int_equal(status_of("PUT / HTTP/1.1\r\nContent-Length:\r\n\r\n"), 400);
	assert_int_equal(status_of("PUT / HTTP/1.1\r\nContent-Length : 5\r\n\r\n"), 400);
	assert_int_equal(status_of("PATCH / HTTP/1.1\r\n\r\n"), 411);
	assert_int_equal(status_of("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 411);
	assert_int_equal(status_of("get / HTTP/1.1\r\n\r\n"), 501);
}

/* Headers of exactly the largest size are taken, one byte more is not. */
static void test_head_size(void **state)
{
	static const char begin[] = "GET / HTTP/1.1\r\nX: ";
	char *text = malloc(KEYD_HEAD_LARGEST + 2);

	(void)state;
	assert_non_null(text);
	for (unsigned more = 0; more < 2; more++) {
		size_t length = KEYD_HEAD_LARGEST + more;

		memset(text, 'y', length);
		memcpy(text, begin, strlen(begin));
		memcpy(text + length - 4, "\r\n\r\n", 5);
		assert_int_equal(status_of(text), more ? 431 : 0);
	}
	free(text);
}

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
	    cmocka_unit_test(test_pieces), cmocka_unit_test(test_inside),
	    cmocka_unit_test(test_limits), cmocka_unit_test(test_head_size),
	    cmocka_unit_test(test_digest), cmocka_unit_test(test_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
