/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Digests: those of FNV-1a, and different for what differs. */
#include <heddle/base/digest.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Values of the draft. */
static void bytes_have_known_digests(void **state)
{
	(void)state;
	assert_int_equal(hd_digest_bytes(HD_DIGEST_BEGIN, NULL, 3), HD_DIGEST_BEGIN);
	assert_true(hd_digest_bytes(HD_DIGEST_BEGIN, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(hd_digest_bytes(HD_DIGEST_BEGIN, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	uint64_t half = hd_digest_bytes(HD_DIGEST_BEGIN, "foo", 3);
	assert_true(hd_digest_bytes(half, "bar", 3) == UINT64_C(0x85944171f73967e8));
}

/* "ab", "c" is not "a", "bc". */
static void texts_have_ends(void **state)
{
	(void)state;
	uint64_t one = hd_digest_text(hd_digest_text(HD_DIGEST_BEGIN, "ab"), "c");
	uint64_t other = hd_digest_text(hd_digest_text(HD_DIGEST_BEGIN, "a"), "bc");
	assert_true(one != other);
}

/* A file counts by its content; one that is not there does not count. */
static void files_count_by_content(void **state)
{
	char path[] = "/tmp/heddle-digest-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0 && write(fd, "foobar", 6) == 6 && !close(fd));
	assert_true(hd_digest_file(HD_DIGEST_BEGIN, path) == UINT64_C(0x85944171f73967e8));
	unlink(path);
	assert_true(hd_digest_file(HD_DIGEST_BEGIN, path) == HD_DIGEST_BEGIN);
	assert_true(hd_digest_file(HD_DIGEST_BEGIN, NULL) == HD_DIGEST_BEGIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_have_known_digests),
					   cmocka_unit_test(texts_have_ends),
					   cmocka_unit_test(files_count_by_content)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
