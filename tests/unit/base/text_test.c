/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How text is split into lines and fields. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <heddle/base/text.h>

static void assert_says(const struct hd_error *err, const char *expected)
{
	if (!strstr(err->text, expected))
		fail_msg("'%s' does not say '%s'", err->text, expected);
}

static struct hd_lines lines_of(const char *bytes)
{
	const struct hd_text text = {.bytes = bytes, .length = strlen(bytes), .name = "text"};

	return hd_lines_of(&text);
}

/* ---- lines ---- */

static void lines_lose_their_ends_and_trailing_blanks(void **state)
{
	static const char *const expected[] = {"a", "", " b\tc", "d"};
	struct hd_lines lines = lines_of("\xEF\xBB\xBF"
					 "a \t\r\n\n b\tc\r\nd");
	struct hd_error err = {""};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(hd_lines_next(&lines, &err), 1);
		assert_int_equal(lines.number, i + 1);
		assert_int_equal(lines.length, strlen(expected[i]));
		assert_memory_equal(lines.line, expected[i], lines.length);
		assert_int_equal(lines.cut, i == 3);
	}
	assert_int_equal(hd_lines_next(&lines, &err), 0);
}

static void a_line_that_is_too_long_is_refused_with_its_number(void **state)
{
	char *bytes = malloc(HD_LINE_LONGEST + 4);
	struct hd_error err = {""};

	(void)state;
	memset(bytes, 'x', HD_LINE_LONGEST + 3);
	bytes[0] = bytes[HD_LINE_LONGEST + 1] = '\n';
	bytes[HD_LINE_LONGEST + 3] = '\0';
	struct hd_lines lines = lines_of(bytes);
	for (int i = 0; i < 3; i++)
		assert_int_equal(hd_lines_next(&lines, &err), 1);
	bytes[HD_LINE_LONGEST + 1] = 'x';
	lines = lines_of(bytes);
	assert_int_equal(hd_lines_next(&lines, &err), 1);
	assert_int_equal(hd_lines_next(&lines, &err), -EINVAL);
	assert_says(&err, "text:2: the line has 65538 bytes, expected at most 65536");
	free(bytes);
}

static void errors_name_the_line_and_quote_it(void **state)
{
	struct hd_lines lines = lines_of("one\ntwo\x1b\tand");
	struct hd_error err = {""};

	(void)state;
	hd_lines_next(&lines, &err);
	assert_int_equal(hd_lines_error(&lines, &err, "expected %d", 1), -EINVAL);
	assert_string_equal(err.text, "text:1: expected 1: 'one'");
	hd_lines_next(&lines, &err);
	hd_lines_error(&lines, &err, "expected %d", 2);
	assert_string_equal(err.text,
			    "text:2: expected 2: 'two\\u001b and' (the file ends here without a "
			    "newline: cut off?)");
	assert_int_equal(hd_lines_error_at(&lines, 7, &err, "no %s", "host"), -EINVAL);
	assert_string_equal(err.text, "text:7: no host");
	assert_int_equal(hd_lines_error_prefix(&lines, -ENOENT, &err), -ENOENT);
	assert_string_equal(err.text, "text:2: text:7: no host");
}

/* ---- fields ---- */

static struct hd_cursor cursor_of(const char *text)
{
	return (struct hd_cursor){text, text + strlen(text)};
}

static void assert_left(const struct hd_cursor *cursor, const char *expected)
{
	if (!hd_cursor_is(cursor, expected))
		fail_msg("'%.*s' is left, not '%s'", (int)(cursor->end - cursor->at), cursor->at,
			 expected);
}

static void numbers_are_taken_if_they_fit(void **state)
{
	static const struct {
		const char *text;
		uint64_t decimal, hex; /* UINT64_MAX: not taken */
		const char *after_decimal, *after_hex;
	} cases[] = {
	    {"17 b", 17, 0x17, " b", " b"},
	    {"0x1F", 0, 0x1F, "x1F", ""},
	    {"4294967295", UINT32_MAX, 0x4294967295, "", ""},
	    {"4294967296", UINT64_MAX, 0x4294967296, "", ""},
	    {"0xFFFFFFFFFFFFFFFF", 0, UINT64_MAX, "xFFFFFFFFFFFFFFFF", ""},
	    {"0x12345678123456789", 0, 0, "x12345678123456789", NULL},
	    {"0xg", 0, 0, "xg", NULL},
	    {"-1", UINT64_MAX, 0, NULL, NULL},
	    {"", UINT64_MAX, 0, NULL, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hd_cursor decimal = cursor_of(cases[i].text), hex = decimal;
		uint32_t number = 0;
		uint64_t wide = 0;
		bool fits = cases[i].decimal != UINT64_MAX;
		assert_int_equal(hd_take_decimal(&decimal, &number), fits);
		if (fits)
			assert_int_equal(number, cases[i].decimal);
		assert_left(&decimal, fits ? cases[i].after_decimal : cases[i].text);
		assert_int_equal(hd_take_hex(&hex, &wide), cases[i].after_hex != NULL);
		assert_int_equal(wide, cases[i].hex);
		assert_left(&hex, cases[i].after_hex ? cases[i].after_hex : cases[i].text);
	}
}

static void words_and_stops_are_taken_or_left(void **state)
{
	struct hd_cursor line = cursor_of(" ab  c:=d:=e "), taken = {NULL, NULL};

	(void)state;
	assert_true(hd_take_word(&line, &taken));
	assert_left(&taken, "ab");
	assert_false(hd_take_text(&line, "c"));
	hd_take_blanks(&line);
	assert_int_equal(hd_cursor_peek(&line), 'c');
	assert_ptr_equal(hd_cursor_find_last(&line, ":="), line.at + 4);
	assert_null(hd_cursor_find(&line, "=:"));
	assert_true(hd_take_until(&line, ":=", &taken));
	assert_left(&taken, "c");
	assert_false(hd_take_until(&line, "::", &taken));
	assert_left(&taken, "c");
	assert_true(hd_take_text(&line, "d:="));
	hd_cursor_trim(&line);
	assert_left(&line, "e");
	assert_true(hd_take_word(&line, &taken));
	assert_false(hd_take_word(&line, &taken));
	assert_true(hd_cursor_done(&line));
	assert_int_equal(hd_cursor_peek(&line), '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_lose_their_ends_and_trailing_blanks),
	    cmocka_unit_test(a_line_that_is_too_long_is_refused_with_its_number),
	    cmocka_unit_test(errors_name_the_line_and_quote_it),
	    cmocka_unit_test(numbers_are_taken_if_they_fit),
	    cmocka_unit_test(words_and_stops_are_taken_or_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
