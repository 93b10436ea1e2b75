/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compressed files: what gzip packed comes back; bombs, cut files and other data are refused. */
#include <heddle/base/gzip.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#define LARGEST 100000

/* A gzip stream of `length` bytes, which count up if `varied`. */
static struct hd_text pack(size_t length, bool varied)
{
	z_stream stream = {0};
	size_t room = length + 1000;
	char *plain = malloc(length + 1), *packed = malloc(room);

	assert_non_null(plain);
	assert_non_null(packed);
	for (size_t i = 0; i < length; i++)
		plain[i] = varied ? (char)(i * i >> 3) : 'a';
	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	stream.next_in = (Bytef *)plain;
	stream.avail_in = (unsigned)length;
	stream.next_out = (Bytef *)packed;
	stream.avail_out = (unsigned)room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(deflateEnd(&stream), Z_OK);
	free(plain);
	return (struct hd_text){
	    .bytes = packed, .length = stream.total_out, .name = "file", .owned = packed};
}

/* The same text with other bytes behind it. */
static struct hd_text join(struct hd_text text, const char *bytes, size_t length)
{
	char *joined = malloc(text.length + length);

	assert_non_null(joined);
	memcpy(joined, text.bytes, text.length);
	memcpy(joined + text.length, bytes, length);
	size_t total = text.length + length;
	hd_text_close(&text);
	return (struct hd_text){.bytes = joined, .length = total, .name = "file", .owned = joined};
}

static void assert_refused(struct hd_text text, int rc, const char *reason)
{
	struct hd_error err = {""};
	const char *before = text.bytes;

	assert_int_equal(hd_gzip_unpack(&text, LARGEST, &err), rc);
	assert_ptr_equal(text.bytes, before);
	if (!strstr(err.text, reason) || strncmp(err.text, "file: ", 6) != 0)
		fail_msg("'%s' does not say '%s'", err.text, reason);
	hd_text_close(&text);
}

/* Property: any number of bytes up to the largest comes back. */
static void what_was_packed_comes_back(void **state)
{
	static const size_t lengths[] = {0, 1, 65535, 65536, 65537, LARGEST - 1, LARGEST};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct hd_text text = pack(lengths[i], true);
		assert_int_equal(hd_gzip_unpack(&text, LARGEST, NULL), 0);
		assert_int_equal(text.length, lengths[i]);
		for (size_t at = 0; at < text.length; at++)
			assert_int_equal(text.bytes[at], (char)(at * at >> 3));
		assert_string_equal(text.name, "file");
		hd_text_close(&text);
	}
}

/* Property: as for gzip itself, streams that follow each other are one text. */
static void streams_that_follow_each_other_are_one_text(void **state)
{
	(void)state;
	struct hd_text second = pack(300, false),
		       text = join(pack(200, false), second.bytes, second.length);
	assert_int_equal(hd_gzip_unpack(&text, LARGEST, NULL), 0);
	assert_int_equal(text.length, 500);
	assert_int_equal(text.bytes[499], 'a');
	hd_text_close(&second);
	hd_text_close(&text);
}

/* Property: text is left alone, also when it is shorter than the mark of gzip. */
static void text_stays_as_it_is(void **state)
{
	static const char *const texts[] = {"", "\x1f", "Switch 36", "\x1f\x8c"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct hd_text text = {.bytes = texts[i], .length = strlen(texts[i])};
		assert_int_equal(hd_gzip_unpack(&text, LARGEST, NULL), 0);
		assert_ptr_equal(text.bytes, texts[i]);
	}
}

/* Property: the limit counts unpacked bytes, over all streams; no more memory is used. */
static void bombs_are_refused(void **state)
{
	(void)state;
	assert_refused(pack(LARGEST + 1, false), -EFBIG,
		       "more than 100000 bytes when it is unpacked");
	assert_refused(pack((size_t)50 << 20, false), -EFBIG, "more than 100000 bytes");
	struct hd_text second = pack(LARGEST / 2 + 1, false);
	assert_refused(join(pack(LARGEST / 2, false), second.bytes, second.length), -EFBIG,
		       "more than 100000 bytes");
	hd_text_close(&second);
}

/* Property: a file that was cut anywhere is refused. */
static void cut_files_are_refused(void **state)
{
	(void)state;
	struct hd_text complete = pack(5000, true);
	size_t whole = complete.length;
	hd_text_close(&complete);
	for (size_t length = 2; length < whole; length++) {
		struct hd_text text = pack(5000, true);
		text.length = length;
		assert_refused(text, -EINVAL, "end too early");
	}
}

static void damaged_files_are_refused(void **state)
{
	(void)state;
	struct hd_text text = pack(5000, true);
	((char *)text.owned)[text.length - 6] ^= 1; /* of the checksum */
	assert_refused(text, -EINVAL, "are damaged");
	text = pack(5000, true);
	((char *)text.owned)[2] = 9; /* the method */
	assert_refused(text, -EINVAL, "are damaged");
}

static void other_data_behind_the_stream_are_refused(void **state)
{
	(void)state;
	assert_refused(join(pack(100, true), "Switch", 6), -EINVAL, "other data follow");
	assert_refused(join(pack(100, true), "\x1f", 1), -EINVAL, "other data follow");
	assert_refused(join(pack(100, true), "\0", 1), -EINVAL, "other data follow");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_was_packed_comes_back),
	    cmocka_unit_test(streams_that_follow_each_other_are_one_text),
	    cmocka_unit_test(text_stays_as_it_is),
	    cmocka_unit_test(bombs_are_refused),
	    cmocka_unit_test(cut_files_are_refused),
	    cmocka_unit_test(damaged_files_are_refused),
	    cmocka_unit_test(other_data_behind_the_stream_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
