/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Foreign text is printed so that people can read it and it can do no harm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plain_testing.h"
#include <heddle/base/error.h>
#include <heddle/base/random.h>

static void people_can_read_it(void **state)
{
	static const char *const texts[][2] = {
	    {"", ""},
	    {"MF0;sw-1:IB/U1 'x' \"y\" \\ {}", "MF0;sw-1:IB/U1 'x' \"y\" \\ {}"},
	    {"Zürich é 日本 € א 😀", "Zürich é 日本 € א 😀"},
	    {"a\tb", "a b"},
	    {"a\nb\r\x01\x1b[2J\x7f", "a\\u000ab\\u000d\\u0001\\u001b[2J\\u007f"},
	    {"\xC2\x9B"
	     "31m\xC2\x85",
	     "\\u009b31m\\u0085"},
	    {"\x9B"
	     "31m",
	     "\\x9b31m"},
	    {"\xE2\x80\xAE\xE2\x81\xA6", "\\u202e\\u2066"}, /* directions */
	    {"\xE2\x80\xA8\xE2\x80\xA9", "\\u2028\\u2029"}, /* separators */
	    {"\xE2\x80\x8B\xEF\xBB\xBF\xC2\xAD", "\\u200b\\ufeff\\u00ad"}, /* no width */
	    {"\xF3\xA0\x80\x81", "\\udb40\\udc01"}, /* a tag */
	    {"\xC0\x80\xE0\x80\x80\xF0\x80\x80\x80",
	     "\\xc0\\x80\\xe0\\x80\\x80\\xf0\\x80\\x80\\x80"},
	    {"\xED\xA0\x80\xF4\x90\x80\x80", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"},
	    {"\xE6\x97", "\\xe6\\x97"}, /* cut off */
	    {"\xEF\xBF\xBE\xEF\xBF\xBD", "\\ufffe\xEF\xBF\xBD"},
	};
	char plain[128];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_string_equal(hd_plain(texts[i][0], plain, sizeof(plain)), texts[i][1]);
}

static void demand(bool holds)
{
	assert_true(holds);
}

/* Bytes of all kinds: letters, leads and their continuations, and what harms. */
static void random_text(uint64_t *random, char *text, size_t most)
{
	static const uint32_t values[] = {'a',	'\n',	0x1B,	0x7F,	0x9B,
					  0xE9, 0x202E, 0x65E5, 0x1F600};
	size_t length = 0;

	for (size_t i = hd_random_below(random, 12); i-- && length + 4 < most;) {
		uint32_t value = values[hd_random_below(random, 9)];
		char whole[4];
		size_t size = plain_testing_encode(value, whole);
		if (!hd_random_below(random, 3)) /* cut it, or put a wrong byte into it */
			size = 1 + hd_random_below(random, (uint32_t)size);
		else if (!hd_random_below(random, 6))
			whole[size - 1] = (char)(1 + hd_random_below(random, 255));
		memcpy(text + length, whole, size);
		length += size;
	}
	text[length] = '\0';
	for (char *at = text; *at; at++)
		*at = *at == '\\' || *at == '\t' ? '/' : *at;
}

static void nothing_is_lost_and_nothing_harmful_is_left(void **state)
{
	uint64_t random = 1;
	char text[64];

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		random_text(&random, text, sizeof(text));
		plain_testing_check(text, 1 + hd_random_below(&random, 5), demand);
	}
}

static void every_character_is_plain_or_escaped(void **state)
{
	(void)state;
	for (uint32_t value = 1; value <= 0x10FFFF; value++) {
		char text[5] = "";
		char plain[HD_PLAIN_PIECE];
		const char *at = text;
		if (value == '\\' || value == '\t' || (value >= 0xD800 && value < 0xE000))
			continue;
		size_t length = plain_testing_encode(value, text);
		hd_plain_next(&at, text + length, plain);
		assert_ptr_equal(at, text + length);
		assert_true(*plain == '\\' || !strcmp(plain, text));
		assert_true(*plain == '\\' || !plain_testing_harmful(value));
		if (value < 0x80) /* ASCII stays, and so do letters of all Europe */
			assert_true((*plain == '\\') == (value < ' ' || value == 0x7F));
		if (value >= 0xC0 && value < 0x300)
			assert_string_equal(plain, text);
	}
}

/* A formatted text that is too long ends with a whole character. */
static void half_a_character_is_not_shown(void **state)
{
	char text[1100], plain[4096];

	(void)state;
	for (size_t begin = 0; begin < 4; begin++) {
		memset(text, 'x', sizeof(text));
		for (size_t i = begin; i + 3 < sizeof(text); i += 3)
			memcpy(text + i, "日", 3);
		text[sizeof(text) - 1] = '\0';
		struct hd_error err;
		hd_error_set(&err, -1, "%s", text);
		assert_null(strchr(err.text, '\\'));
		hd_log(NULL, HD_LOG_INFO, "%s", text);
		assert_string_equal(hd_plain(err.text, plain, sizeof(plain)), err.text);
	}
}

/* A message is one line, whatever is in it. */
static void messages_are_plain(void **state)
{
	struct hd_error err;

	(void)state;
	hd_error_set(&err, -1, "%s: no such file", "a\nheddle: all is well\x1b[8m");
	assert_string_equal(err.text, "a\\u000aheddle: all is well\\u001b[8m: no such file");
	hd_error_prefix(&err, -1, "%s", "\x9b");
	assert_string_equal(err.text, "\\x9b: a\\u000aheddle: all is well\\u001b[8m: no such file");
}

/* The reason is that of the first error. */
static void errors_have_their_reason(void **state)
{
	FILE *stream = hd_plain_stream(fopen("/dev/full", "w"));

	(void)state;
	assert_non_null(stream);
	fputs("some text", stream);
	errno = 0;
	assert_int_not_equal(fclose(stream), 0);
	assert_int_equal(errno, ENOSPC);
	assert_null(hd_plain_stream(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(people_can_read_it),
	    cmocka_unit_test(nothing_is_lost_and_nothing_harmful_is_left),
	    cmocka_unit_test(every_character_is_plain_or_escaped),
	    cmocka_unit_test(half_a_character_is_not_shown),
	    cmocka_unit_test(messages_are_plain),
	    cmocka_unit_test(errors_have_their_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
