/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SHA-256 gives the digests of FIPS 180-4's examples, and the same ones in pieces. */
#include "client_sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void digest(const char *text, size_t length, size_t piece, char out[65])
{
	struct client_sha256 sha;

	client_sha256_begin(&sha);
	for (size_t at = 0; at < length; at += piece)
		client_sha256_add(&sha, text + at, piece < length - at ? piece : length - at);
	client_sha256_end(&sha, out);
}

static void test_examples(void **state)
{
	static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	static char million[1000000];
	char out[65];

	(void)state;
	digest("", 0, 1, out);
	assert_string_equal(out,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	digest("abc", 3, 3, out);
	assert_string_equal(out,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	digest(two_blocks, strlen(two_blocks), 5, out);
	assert_string_equal(out,
			    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(million, 'a', sizeof(million));
	digest(million, sizeof(million), 999, out);
	assert_string_equal(out,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Every length around a block's, where padding changes, whatever the pieces. */
static void test_pieces(void **state)
{
	char text[200], whole[65], pieces[65];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t length = 0; length <= sizeof(text); length++)
		for (size_t piece = 1; piece < 70; piece += 9) {
			digest(text, length, sizeof(text), whole);
			digest(text, length, piece, pieces);
			assert_string_equal(whole, pieces);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_examples),
	    cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
